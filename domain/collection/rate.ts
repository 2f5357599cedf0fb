/** The rate windows that a request is counted in. Keys contain keyed hashes and website IDs, never an address. */

import { LIMITS, PATH_RULES, RATE_RULES, type RateRuleName } from '../limits.ts'
import type { VisitId, WebsiteId } from '../model.ts'
import { DAY_S, HOUR_S } from '../durations.ts'

export interface RateHit {
  readonly rule: RateRuleName
  readonly key: string
  readonly limit: number
  readonly windowS: number
}

export function addressHit(addressHash: string): RateHit {
  return hit('collection', addressHash)
}

/** Counted for a request whose address does not exist, and in no other window. */
export function unknownPathHit(addressHash: string): Omit<RateHit, 'rule'> {
  const { limit, windowS } = PATH_RULES.unknown_paths
  return { key: `unknown_paths:${addressHash}`, limit, windowS }
}

/** Counted once per window: whether the organisation was notified about this address's limit. */
export function toldHit(organization: string, addressHash: string): RateHit {
  return { ...hit('collection', `told:${organization}:${addressHash}`), limit: 1 }
}

export function visitHits(website: WebsiteId): readonly RateHit[] {
  return [hit('visits', website)]
}

/** Narrow windows before wide ones: one address must not use up a website's window. */
export function eventHits(website: WebsiteId, addressHash: string): readonly RateHit[] {
  const both = `${website}:${addressHash}`
  return [hit('events_per_address_minute', both), hit('events_per_address_day', both), hit('events', website)]
}

/** Counts activity entries about an origin that the website has not registered. */
export function unregisteredOriginHits(website: WebsiteId, origin: string): readonly Omit<RateHit, 'rule'>[] {
  return [
    { key: `unregistered:${website}:${origin}`, limit: 1, windowS: HOUR_S },
    { key: `unregistered:${website}`, limit: LIMITS.unregisteredOriginsPerHour, windowS: HOUR_S },
  ]
}

/** A visit, and an installation that was matched to it. */
interface VisitMatch {
  readonly website: WebsiteId
  readonly visitId: VisitId
  readonly installationId: string
}

/**
 * Counts the installations of a visit in a UTC day: the second count is their number. The first hit makes an installation count
 * once even if several of its events come at the same time. It may be forgotten soon: by then the hot state knows what the
 * installation was matched to, so later events are not counted.
 */
export function matchHits({ website, visitId, installationId }: VisitMatch): readonly Omit<RateHit, 'rule'>[] {
  return [
    { key: `match:${website}:${visitId}:${installationId}`, limit: 1, windowS: HOUR_S },
    { key: `matches:${website}:${visitId}`, limit: Number.MAX_SAFE_INTEGER, windowS: DAY_S },
  ]
}

function hit(rule: RateRuleName, subject: string): RateHit {
  const { limit, windowS } = RATE_RULES[rule]
  return { rule, key: `${rule}:${subject}`, limit, windowS }
}

/** UTC calendar month of a moment, `2026-11`: the unit of the quota. Built from numbers, as `toISOString` is slow. */
export function monthOf(nowMs: number): string {
  const date = new Date(nowMs)
  const month = date.getUTCMonth() + 1
  return `${date.getUTCFullYear()}-${month < 10 ? '0' : ''}${month}`
}
