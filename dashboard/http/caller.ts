/** Who sends a request, and what they may do in its organisation. */

import type { IncomingMessage } from 'node:http'

import { sha256Hex } from '../../common/digest.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { presentedKey, type ApiKey } from '../../domain/people/api-key.ts'
import { hashOfPass, passInForce, type Pass } from '../../domain/people/pass.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { presentedToken, type ShareLink } from '../../domain/people/share-link.ts'
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

/** Who sends a request: somebody who is signed in, or whoever shows a key or a link that is in force. A route of these two knows no sessions. */
export interface Caller {
  readonly session: Session | null
  readonly key: ApiKey | null
  readonly link: ShareLink | null
}

interface AskedRoute {
  readonly route: { readonly row: RouteAccess }
  readonly params: Readonly<Record<string, string>>
}

export async function readCaller(
  { headers }: IncomingMessage,
  { route: { row }, params }: AskedRoute,
  parts: CallerParts,
): Promise<Caller> {
  const { apiKeys, shareLinks } = parts.directory.passes()
  const nowMs = parts.stamps.nowMs()
  switch (row.needs) {
    case 'Key':
      return { ...NOBODY, key: shownPass(presentedKey(headers.authorization), apiKeys, nowMs) }
    case 'Link':
      return { ...NOBODY, link: shownPass(presentedToken(params['token']), shareLinks, nowMs) }
    default:
      return { ...NOBODY, session: await readSession(headers.cookie, parts) }
  }
}

const NOBODY: Caller = { session: null, key: null, link: null }

/** What is in force of what is shown. */
function shownPass<P extends Pass>(text: string | null, passes: ReadonlyMap<string, P>, nowMs: number): P | null {
  return text === null ? null : passInForce(passes, hashOfPass(text, sha256Hex), nowMs)
}

async function readSession(cookies: string | undefined, parts: CallerParts): Promise<Session | null> {
  const cookie = parts.site.cookies.read(cookies, 'session')
  return cookie === null ? null : parts.sessions.read(cookie)
}

interface CallerOfPath extends Caller {
  readonly params: AskedRoute['params']
}

/** An organisation that the person does not belong to is answered as one that does not exist. */
export function findScope(
  { needs, keyScope }: RouteAccess,
  { params, session, key, link }: CallerOfPath,
  directory: Directory,
): OrganizationScope | Refusal | null {
  if (needs === null) return null
  if (needs === 'Key') return findKeyScope(key, keyScope, directory)
  if (needs === 'Link') return passScope('link', link, directory) ?? refuse('not_found')
  if (session === null) return refuse('unauthenticated')
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
  const scope = passScope('key', key, directory)
  if (key === null || scope === null) return refuse('unauthenticated')
  return wanted === undefined || !key.scopes.includes(wanted) ? refuse('not_found') : scope
}

function passScope(what: 'key' | 'link', pass: Pass | null, directory: Directory): OrganizationScope | null {
  const organization = pass === null ? undefined : directory.organizations().get(pass.organization)
  if (pass === null || organization === undefined) return null
  return { organization, role: 'Viewer', reader: `${what} ${pass.namespace}/${pass.name}` }
}
