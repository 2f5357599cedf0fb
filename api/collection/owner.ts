/**
 * Finds the website a request belongs to, even if the request is faulty: people should find refused requests in their
 * own Logs.
 */

import type { Website } from '../../domain/catalog.ts'
import { websiteByOrigin } from '../../domain/collection/catalog-index.ts'
import { LIMITS } from '../../domain/limits.ts'
import { normaliseOrigin } from '../../domain/origin.ts'
import type { CatalogInForce } from '../deps.ts'
import type { Exchange, RequestContent } from './exchange.ts'

/**
 * Finds the ID in bodies that are no JSON, are truncated or were sent as another type. Blanks are bounded, so it takes
 * linear time.
 */
const PROJECT = new RegExp(`"project"\\s{0,16}:\\s{0,16}"([a-z0-9-]{1,${LIMITS.websiteIdChars}})"`)

/** The website of this ID. */
export function findWebsite(id: unknown, deps: CatalogInForce): Website | null {
  return (typeof id === 'string' ? deps.catalog().websites.get(id) : undefined) ?? null
}

/**
 * The website that the request names: in its path (`id`), otherwise in the part of its body that arrived; otherwise the
 * one that registered its Origin. Null if there is none, or if several registered it.
 */
export function ownerOf(exchange: Exchange, deps: CatalogInForce): Website | null {
  return findWebsite(exchange.namedWebsite ?? namedIn(exchange.content), deps) ?? registrantOf(exchange.origin, deps)
}

function namedIn({ body, text, bytes }: RequestContent): unknown {
  if (body !== null) return body['project']
  return bytes.length === 0 ? undefined : PROJECT.exec(text ?? bytes.toString('latin1'))?.[1]
}

function registrantOf(origin: string | null, deps: CatalogInForce): Website | null {
  if (origin === null) return null
  const registered = websiteByOrigin(deps.catalog())
  return registered.get(origin) ?? registered.get(normaliseOrigin(origin) ?? '') ?? null
}
