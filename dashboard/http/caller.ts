/** Who sends a request, and what they may do in its organisation. */

import type { IncomingMessage } from 'node:http'

import { sha256Hex } from '../../common/digest.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { hashOfKey, keyInForce, presentedKey, type ApiKey } from '../../domain/people/api-key.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { roleIn } from '../../domain/people/standing.ts'
import type { RouteAccess } from '../api/route.ts'
import type { Directory } from '../resources/directory.ts'
import type { Session, Sessions } from '../sessions/sessions.ts'
import type { OrganizationScope } from './call.ts'
import type { CookieRules } from './cookies.ts'

interface CallerParts {
  readonly site: { readonly cookies: CookieRules }
  readonly sessions: Sessions
  readonly directory: Directory
  readonly stamps: { readonly nowMs: () => number }
}

/** Who sends a request: somebody who is signed in, or a program with a key that is in force. A route of programs knows no sessions. */
export interface Caller {
  readonly session: Session | null
  readonly key: ApiKey | null
}

export async function readCaller({ headers }: IncomingMessage, row: RouteAccess, parts: CallerParts): Promise<Caller> {
  if (row.needs !== 'Key') return { session: await readSession(headers.cookie, parts), key: null }
  return { session: null, key: shownKey(headers.authorization, parts.directory, parts.stamps.nowMs()) }
}

export function shownKey(authorization: string | undefined, directory: Directory, nowMs: number): ApiKey | null {
  const key = presentedKey(authorization)
  return key === null ? null : keyInForce(directory.apiKeys(), hashOfKey(key, sha256Hex), nowMs)
}

export async function readSession(cookies: string | undefined, parts: CallerParts): Promise<Session | null> {
  const cookie = parts.site.cookies.read(cookies, 'session')
  return cookie === null ? null : parts.sessions.read(cookie)
}

/** An organisation that the person does not belong to is answered as one that does not exist. */
export function findScope(
  { needs, keyScope }: RouteAccess,
  { params, session, key = null }: { readonly params: Readonly<Record<string, string>> } & Partial<Caller>,
  directory: Directory,
): OrganizationScope | Refusal | null {
  if (needs === null) return null
  if (needs === 'Key') return findKeyScope(key, keyScope, directory)
  if (session === undefined || session === null) return refuse('unauthenticated')
  if (needs === 'Person') return null
  const id = params['organization'] ?? ''
  const role = roleIn(id, session, directory.members())
  const organization = directory.organizations().get(id)
  if (role === null || organization === undefined) return refuse('not_found')
  return isAtLeast(role, needs) ? { organization, role, reader: session.person } : refuse('forbidden')
}

function findKeyScope(
  key: ApiKey | null,
  wanted: RouteAccess['keyScope'],
  directory: Directory,
): OrganizationScope | Refusal {
  const organization = key === null ? undefined : directory.organizations().get(key.organization)
  if (key === null || organization === undefined) return refuse('unauthenticated')
  if (wanted === undefined || !key.scopes.includes(wanted)) return refuse('not_found')
  return { organization, role: 'Viewer', reader: `key ${key.namespace}/${key.name}` }
}
