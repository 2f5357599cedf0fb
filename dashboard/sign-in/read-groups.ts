/** Asks the identity provider again for the groups of a person: from userinfo, and with a refresh token if that does not say all. */

import * as client from 'openid-client'

import { memberOf } from '../../domain/strict-json.ts'
import { readClaims, saysAddress, saysGroups, type ClaimRules, type Claims } from '../../domain/people/oidc-claims.ts'
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
    if (config === null) return { kind: 'away', grant }
    const info = await userInfo(grant, { config, rules, nowMs })
    if (info.kind === 'away') return { kind: 'away', grant }
    if (saysGroups(info.claims, rules)) return readingOf(info.claims, grant, rules)
    if (grant.refreshToken !== null) return byRefresh(grant, grant.refreshToken, { config, rules, nowMs, info })
    return info.kind === 'refused' ? OVER : { kind: 'unsaid', grant }
  }
}

const OVER: GroupReading = { kind: 'over' }

interface Asking {
  readonly config: client.Configuration
  readonly rules: ClaimRules
  readonly nowMs: () => number
}

interface UserInfo {
  /** `unasked`: the provider has none, or the access token has expired. */
  readonly kind: 'said' | 'unasked' | 'refused' | 'away'
  readonly claims: Claims
}

async function userInfo(grant: GroupGrant, { config, nowMs }: Asking): Promise<UserInfo> {
  const { subject, accessToken, accessEndsAtMs } = grant
  const isOver = accessEndsAtMs !== null && accessEndsAtMs <= nowMs()
  if (isOver || config.serverMetadata().userinfo_endpoint === undefined) return { kind: 'unasked', claims: {} }
  try {
    return { kind: 'said', claims: await client.fetchUserInfo(config, accessToken, subject) }
  } catch (error) {
    return { kind: isPersonRefused(error) ? 'refused' : 'away', claims: {} }
  }
}

interface AskingMore extends Asking {
  /** What it said before. */
  readonly info: UserInfo
}

async function byRefresh(grant: GroupGrant, refreshToken: string, parts: AskingMore): Promise<GroupReading> {
  try {
    const tokens = await client.refreshTokenGrant(parts.config, refreshToken)
    const token: Claims = tokens.claims() ?? { sub: grant.subject }
    if (token['sub'] !== grant.subject) return OVER
    const next = groupGrantOf(tokens, grant.subject, parts.nowMs())
    return await readWithToken(token, { ...next, refreshToken: next.refreshToken ?? refreshToken }, parts)
  } catch (error) {
    return isPersonRefused(error) ? OVER : { kind: 'away', grant }
  }
}

/** As at the sign-in: what the ID token says may be missing in userinfo, and the other way round. */
async function readWithToken(token: Claims, grant: GroupGrant, parts: AskingMore): Promise<GroupReading> {
  const { rules } = parts
  const info = parts.info.kind === 'said' ? parts.info : await userInfo(grant, parts)
  if (info.kind === 'refused') return OVER
  if (info.kind === 'away') return { kind: 'away', grant }
  const claims = { ...token, ...info.claims }
  // Some providers leave the claim out for a person without groups, others put no more into a refreshed token than they must.
  const saysNone = token['email'] !== undefined && saysAddress(claims, rules)
  return saysNone || saysGroups(claims, rules) ? readingOf(claims, grant, rules) : { kind: 'unsaid', grant }
}

/** The part that is kept for asking again. */
export function groupGrantOf(tokens: TokenResponse, subject: string, nowMs: number): GroupGrant {
  const { access_token: accessToken, refresh_token: refreshToken = null } = tokens
  const endsInS = tokens.expiresIn()
  return { subject, accessToken, refreshToken, accessEndsAtMs: endsInS === undefined ? null : nowMs + endsInS * 1_000 }
}

/** If the address is no longer verified, neither are the groups. */
function readingOf(claims: Claims, grant: GroupGrant, rules: ClaimRules): GroupReading {
  const proven = readClaims(claims, rules)
  return proven === null ? OVER : { kind: 'read', groups: proven.groups, grant }
}

const UNAUTHORIZED = 401
const FORBIDDEN = 403

/** The provider answered and refuses this person; all other failures may be temporary. */
function isPersonRefused(error: unknown): boolean {
  const status = memberOf(error, 'status')
  return memberOf(error, 'error') === 'invalid_grant' || status === UNAUTHORIZED || status === FORBIDDEN
}
