/** Decides which address the claims of an identity provider prove. */

import { mailAddress } from '../schema/mail-address.ts'

export interface ClaimRules {
  /** Domains whose addresses count even if the provider does not say whether they are verified. */
  readonly trustedDomains: readonly string[]
  /** Name of the claim that lists groups; null: groups are not read. */
  readonly groupsClaim: string | null
}

interface ProvenClaims {
  readonly email: string
  readonly groups: readonly string[]
}

/** What the provider says of a person, in an ID token or in userinfo. */
export type Claims = Readonly<Record<string, unknown>>

const GROUPS_MAX = 500

/**
 * Null if the address is not proven. `email_verified` may be true or "true"; if it is absent, the domain must be trusted.
 * An address that the provider calls unverified is never accepted.
 */
export function readClaims(claims: Claims, rules: ClaimRules): ProvenClaims | null {
  const { email_verified: verified } = claims
  const address = claimedAddress(claims)
  if (address === null) return null
  const isProven = verified === undefined ? isTrusted(address, rules) : verified === true || verified === 'true'
  return isProven ? { email: address, groups: groupsOf(claims, rules) } : null
}

/**
 * Whether these claims decide which groups the person has, if they are not all that the provider knows: it may put some only into
 * the ID token and others only into userinfo.
 */
export function saysGroups(claims: Claims, rules: ClaimRules): boolean {
  const { groupsClaim } = rules
  return saysAddress(claims, rules) && (groupsClaim === null || claims[groupsClaim] !== undefined)
}

/** Whether groups are wanted and these claims, which are all that the provider says, do not name them. */
export function lacksGroups(claims: Claims, { groupsClaim }: ClaimRules): boolean {
  return groupsClaim !== null && (claims[groupsClaim] ?? null) === null
}

/** Whether the claims decide that the address is proven, or that it is not. */
export function saysAddress(claims: Claims, rules: ClaimRules): boolean {
  const { email, email_verified: verified } = claims
  const address = claimedAddress(claims)
  return typeof email === 'string' && (verified !== undefined || (address !== null && isTrusted(address, rules)))
}

function claimedAddress({ email }: Claims): string | null {
  return typeof email === 'string' ? mailAddress(email) : null
}

function isTrusted(address: string, { trustedDomains }: ClaimRules): boolean {
  return trustedDomains.includes(address.slice(address.lastIndexOf('@') + 1))
}

function groupsOf(claims: Claims, { groupsClaim }: ClaimRules): readonly string[] {
  const value = groupsClaim === null ? undefined : claims[groupsClaim]
  // Some providers write the only group as a text.
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value]
  return listed.filter((group): group is string => typeof group === 'string').slice(0, GROUPS_MAX)
}
