/** Redeems what the identity provider sends a browser back with, for a proven address, its account and its groups. */

import * as client from 'openid-client'

import { memberOf } from '../../domain/strict-json.ts'
import { lacksGroups, readClaims, type ClaimRules } from '../../domain/people/oidc-claims.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { GroupGrant } from '../sessions/group-memory.ts'
import type { Discovery } from './discovery.ts'
import { accountOf, type Account } from './pins.ts'
import { groupGrantOf } from './read-groups.ts'

interface ProviderParts {
  /** Null: the installation has no identity provider. */
  readonly discovery: Discovery | null
  readonly rules: ClaimRules
  readonly nowMs: () => number
  readonly logger: Logger
  readonly countGroupsMissing: () => void
}

export interface AttemptSecrets {
  readonly nonce: string
  readonly verifier: string
}

interface Redemption extends AttemptSecrets {
  readonly state: string
}

interface ProvenPerson {
  readonly email: string
  readonly groups: readonly string[]
  readonly grant: GroupGrant
  readonly account: Account
}

export interface IdentityProvider {
  /** Null: the installation has no identity provider. */
  readonly discovery: Discovery | null
  /** Null if the answer proves nobody, which is logged. */
  readonly redeem: (config: client.Configuration, url: URL, attempt: Redemption) => Promise<ProvenPerson | null>
}

export function createIdentityProvider(parts: ProviderParts): IdentityProvider {
  return { discovery: parts.discovery, redeem: (config, url, attempt) => redeem(parts, config, url, attempt) }
}

async function redeem(
  parts: ProviderParts,
  config: client.Configuration,
  url: URL,
  attempt: Redemption,
): Promise<ProvenPerson | null> {
  const { rules, nowMs, logger } = parts
  try {
    const tokens = await client.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: attempt.verifier,
      expectedNonce: attempt.nonce,
      expectedState: attempt.state,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) return null
    const { userinfo_endpoint: endpoint } = config.serverMetadata()
    // Some providers give the address there alone.
    const more = endpoint === undefined ? {} : await client.fetchUserInfo(config, tokens.access_token, claims.sub)
    const said = { ...claims, ...more }
    const proven = readClaims(said, rules)
    if (lacksGroups(said, rules)) noteGroupsMissing(parts)
    if (proven === null) logger.warn({}, 'the identity provider gave no proven address')
    if (proven === null) return null
    const grant = groupGrantOf(tokens, claims.sub, nowMs())
    return { ...proven, grant, account: accountOf(claims.iss, claims.sub) }
  } catch (error) {
    const fault = { code: memberOf(error, 'code'), reason: memberOf(error, 'error') }
    logger.warn(fault, 'the answer of the identity provider was refused')
    return null
  }
}

/** Whoever set a claim for groups expects people to be members by them: without the claim they sign in and see nothing. */
function noteGroupsMissing({ rules, discovery, logger, countGroupsMissing }: ProviderParts): void {
  countGroupsMissing()
  logger.warn(
    { claim: rules.groupsClaim, scopes: discovery?.scopes },
    'the identity provider names no groups: some do so only with a scope of its own (--oidc-scopes) or a setting of theirs',
  )
}
