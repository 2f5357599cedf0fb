/** Asks the identity provider again for the groups of a person: from userinfo, or with a refresh token. */

import * as client from 'openid-client'

import { readClaims, type ClaimRules } from '../../domain/people/oidc-claims.ts'
import type { GroupGrant, GroupReading, ReadGroups } from '../sessions/group-memory.ts'
import type { Discovery } from './discovery.ts'

interface ReadGroupsParts {
  /** Null: there is no identity provider. */
  readonly discovery: Discovery | null
  readonly rules: ClaimRules
  readonly nowMs: () => number
}

type TokenResponse = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers

export function createReadGroups({ discovery, rules, nowMs }: ReadGroupsParts): ReadGroups {
  return async (grant) => {
    const config = discovery?.current() ?? null
    if (config === null) return AWAY
    const parts = { config, rules, nowMs }
    const isLive = grant.accessEndsAtMs === null || grant.accessEndsAtMs > nowMs()
    const first = isLive ? await byUserInfo(grant, parts) : null
    if (first !== null && (first.kind !== 'over' || grant.refreshToken === null)) return first
    return grant.refreshToken === null ? AWAY : byRefresh(grant, grant.refreshToken, parts)
  }
}

const AWAY: GroupReading = { kind: 'away' }
const OVER: GroupReading = { kind: 'over' }

interface Asking extends Pick<ReadGroupsParts, 'rules' | 'nowMs'> {
  readonly config: client.Configuration
}

/** Null if the provider has no userinfo. */
async function byUserInfo(grant: GroupGrant, { config, rules }: Asking): Promise<GroupReading | null> {
  if (config.serverMetadata().userinfo_endpoint === undefined) return null
  try {
    return readingOf(await client.fetchUserInfo(config, grant.accessToken, grant.subject), grant, rules)
  } catch (error) {
    return isPersonRefused(error) ? OVER : AWAY
  }
}

async function byRefresh(grant: GroupGrant, refreshToken: string, parts: Asking): Promise<GroupReading> {
  try {
    const tokens = await client.refreshTokenGrant(parts.config, refreshToken)
    const claims = tokens.claims()
    if (claims !== undefined && claims.sub !== grant.subject) return OVER
    const next = groupGrantOf(tokens, grant.subject, parts.nowMs())
    const renewed = { ...next, refreshToken: next.refreshToken ?? refreshToken }
    return (await byUserInfo(renewed, parts)) ?? readingOf(claims ?? {}, renewed, parts.rules)
  } catch (error) {
    return isPersonRefused(error) ? OVER : AWAY
  }
}

/** The part that is kept for asking again. */
export function groupGrantOf(tokens: TokenResponse, subject: string, nowMs: number): GroupGrant {
  const { access_token: accessToken, refresh_token: refreshToken = null } = tokens
  const endsInS = tokens.expiresIn()
  return { subject, accessToken, refreshToken, accessEndsAtMs: endsInS === undefined ? null : nowMs + endsInS * 1_000 }
}

/** If the address is no longer verified, neither are the groups. */
function readingOf(claims: object, grant: GroupGrant, rules: ClaimRules): GroupReading {
  const proven = readClaims({ ...claims }, rules)
  return proven === null ? OVER : { kind: 'read', groups: proven.groups, grant }
}

const UNAUTHORIZED = 401
const FORBIDDEN = 403

/** The provider answered and refuses this person; all other failures may be temporary. */
function isPersonRefused(error: unknown): boolean {
  const { error: code, status } = error as { readonly error?: unknown; readonly status?: unknown }
  return code === 'invalid_grant' || status === UNAUTHORIZED || status === FORBIDDEN
}
