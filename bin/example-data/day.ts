/** A day of made-up traffic: what every part of it is written with. Always the same for the same day and seed. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import type { RequestLog } from '../../domain/records.ts'

export interface MadeUpDay extends OwnedWebsite {
  readonly seed: number
  /** Key ID in the IDs of visits, so that ranges of time find them. */
  readonly keyId: number
  /** Unix ms at which the UTC day begins. */
  readonly dayMs: number
  /** Nothing happens from this moment on, Unix ms; a midnight. */
  readonly untilMs: number
}

/** Pseudo-random numbers from 0 to 1. */
type Random = () => number

/** What the day is written with. */
export interface Pen {
  readonly day: MadeUpDay
  readonly random: Random
  /** No other record of the day has this number. */
  readonly nextNumber: () => number
}

export function penOf(day: MadeUpDay): Pen {
  let count = 0
  return { day, random: seededNumbers(`${day.seed} ${day.dayMs}`), nextNumber: () => (count += 1) }
}

/** Each of these days has six hours with traffic, and each one before a single one: an hour takes long to count, however little happened in it. */
const RECENT_DAYS = 28
const RECENT_HOURS = [12, 13, 14, 15, 16, 17] as const
const OLDER_HOURS = [15] as const
/** Nothing begins later in an hour, so that most visits end in the hour in which they begin. */
const BEGINS_WITHIN_MS = 45 * MINUTE_MS

/** A moment of this day, or of one so many days later, at which people are at work. */
export function momentOn({ day, random }: Pen, daysLater = 0): number {
  const dayMs = day.dayMs + daysLater * DAY_MS
  const hours = dayMs >= day.untilMs - RECENT_DAYS * DAY_MS ? RECENT_HOURS : OLDER_HOURS
  const hour = hours[Math.floor(((random() + random()) / 2) * hours.length)] ?? OLDER_HOURS[0]
  return dayMs + hour * HOUR_MS + Math.floor(random() * BEGINS_WITHIN_MS)
}

/** As soon as it is stored, a line of Logs that is older than this has expired. */
const LOGGED_MS = (LIMITS.logRetentionDays.fallback + 2) * DAY_MS
const NUMBERS_A_DAY = 65_536

/**
 * The line of Logs of a request. Lines that have expired all lie on one day: nobody can see them, and the engine would write a file for every day that
 * it gets lines of, which takes longer than all the rest.
 */
export function requestAt({ day, nextNumber }: Pen, path: string, atMs: number): RequestLog {
  const { website, organization, seed, dayMs, untilMs } = day
  const body = JSON.stringify({ project: website, note: 'made up' })
  const receivedAtMs = Math.max(atMs, untilMs - LOGGED_MS)
  const time = receivedAtMs.toString(16).padStart(12, '0')
  const number = (seed * NUMBERS_A_DAY + dayMs / DAY_MS) * NUMBERS_A_DAY + nextNumber()
  return {
    id: time + number.toString(16).padStart(16, '0'),
    receivedAtMs,
    durationMs: 1,
    website,
    organization,
    method: 'POST',
    path,
    status: 200,
    code: '',
    origin: path === '/v1/events' ? '' : EXAMPLE_DATA.origin,
    userAgent: 'made up',
    addressHash: '',
    body,
    bodyForm: 'text',
    bodyBytes: body.length,
    isRedacted: false,
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  }
}

/** Of every record: what the website keeps less of, pages do not show. */
export const MADE_UP = { v: 1, retentionDays: LIMITS.retentionDays.max } as const

/** A choice of several, by weight. */
export type Weighted<T> = readonly (readonly [weight: number, value: T])[]

export function pickWeighted<T>(choices: Weighted<T>, random: Random): T {
  let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0)
  const found = choices.find(([weight]) => (left -= weight) < 0) ?? choices[0]
  if (found === undefined) throw new Error('there is nothing to choose from')
  return found[1]
}

/** A whole number of the range, both ends included. */
export function wholeBetween(least: number, most: number, random: Random): number {
  return least + Math.floor(random() * (most - least + 1))
}

/** Seeded by a text (xorshift32); good enough for charts, and for nothing else. */
function seededNumbers(text: string): Random {
  let state = [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619), 2_166_136_261) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4_294_967_296
  }
}
