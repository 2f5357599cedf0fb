/**
 * Divides the hours that are to be counted into parts that are counted together, since a statement costs much the same for one small hour as for a hundred.
 * A part is some hours of some websites. An hour of a website with more facts than a part may have is a part by itself.
 */

import { HOUR_MS } from '../../domain/durations.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { ownerKey } from '../../domain/records.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { RawPeriod } from '../../ports/facts/pages/ranges.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { ownersOf, type OwnerKeys } from '../../ports/facts/query-parts.ts'

export type DirtyHour = QueryRow<'dirtyHours'>
export type HourFacts = QueryRow<'hourFacts'>

/** At least one hour of one website. A statement reads all hours of all its websites from the first to the last. */
export interface HoursToCount {
  /** In order of time. */
  readonly hours: readonly DirtyHour[]
  /** What there is of each hour, by `hourKey`; others have nothing. */
  readonly known: ReadonlyMap<string, HourFacts>
  readonly hasFacts: boolean
  readonly hasSittings: boolean
}

/** Bounds the memory of one statement, and its rows: a visit has some ten cells. */
export const FACTS_AT_ONCE = 5_000

export function hourKey(hour: OwnedWebsite & { readonly hour_ms: number }): string {
  return `${ownerKey(hour)} ${hour.hour_ms}`
}

/**
 * The oldest first: when a visit began is known from the hour before. Those of a part have at most `factsAtOnce` page views and install events, if they are
 * not one hour of one website. Rejects like `Facts`.
 */
export async function* partsToCount(
  facts: FactsReader,
  dirty: readonly DirtyHour[],
  factsAtOnce: number,
): AsyncGenerator<HoursToCount> {
  if (dirty.length === 0) return
  const inOrder = dirty.toSorted((one, other) => one.hour_ms - other.hour_ms)
  const period = hoursPeriod(inOrder)
  const hours = { ...period, ...ownersOf(inOrder), hours: inOrder.map((hour) => hour.hour_ms) }
  const known = new Map((await facts.run('hourFacts', hours)).map((row) => [hourKey(row), row]))
  const counted = await facts.run('countedFacts', period)
  for (const part of withFewFacts(inOrder, { known, counted, factsAtOnce })) yield partOf(part, known)
}

/** Both are to be counted one after the other. Null: it is one hour of one website. */
export function halvesOf({ hours, known }: HoursToCount): readonly [HoursToCount, HoursToCount] | null {
  const middle = Math.ceil(hours.length / 2)
  return hours.length < 2 ? null : [partOf(hours.slice(0, middle), known), partOf(hours.slice(middle), known)]
}

/** The page views of a part: also of no key, if there is none. */
export function viewsOf({
  hours,
  known,
}: HoursToCount): RawPeriod & OwnerKeys & { readonly key_ids: readonly number[] } {
  const keyIds = new Set(hours.flatMap((hour) => known.get(hourKey(hour))?.key_ids ?? []))
  return { ...hoursPeriod(hours), key_ids: [...keyIds] }
}

function partOf(hours: readonly DirtyHour[], known: ReadonlyMap<string, HourFacts>): HoursToCount {
  const own = hours.flatMap((hour) => known.get(hourKey(hour)) ?? [])
  return { hours, known, hasFacts: own.length > 0, hasSittings: own.some(({ sittings }) => sittings > 0) }
}

function hoursPeriod(hours: readonly DirtyHour[]): RawPeriod & OwnerKeys {
  const owners = new Map(hours.map((hour) => [ownerKey(hour), hour]))
  const since = hours[0]?.hour_ms ?? 0
  return { ...ownersOf([...owners.values()]), since_ms: since, until_ms: (hours.at(-1)?.hour_ms ?? since) + HOUR_MS }
}

interface HourSizes {
  readonly known: ReadonlyMap<string, HourFacts>
  /** Hours that have figures, in order of time, with the facts that were counted then. */
  readonly counted: readonly { readonly hour_ms: number; readonly facts: number }[]
  readonly factsAtOnce: number
}

/** Whole hours of all websites, as many as may be counted together with what lies between them, which is read all the same. */
function withFewFacts(
  inOrder: readonly DirtyHour[],
  { known, counted, factsAtOnce }: HourSizes,
): readonly (readonly DirtyHour[])[] {
  const byHour = Map.groupBy(inOrder, (hour) => hour.hour_ms)
  const others = counted.filter((hour) => !byHour.has(hour.hour_ms)).values()
  const parts: DirtyHour[][] = []
  let left = NO_ROOM
  let other = others.next()
  for (const [hourMs, hours] of byHour) {
    const own = hours.reduce((sum, hour) => sum + sizeOf(hour, known), 0)
    let between = 0
    for (; other.done !== true && other.value.hour_ms < hourMs; other = others.next()) between += other.value.facts
    if (own + between <= left) {
      parts.at(-1)?.push(...hours)
      left -= own + between
    } else {
      const apart = websitesApart(hours, known, factsAtOnce)
      parts.push(...apart)
      left = apart.length > 1 ? NO_ROOM : factsAtOnce - own
    }
  }
  return parts
}

/** Less than an hour without facts needs. */
const NO_ROOM = -1

function sizeOf(hour: DirtyHour, known: ReadonlyMap<string, HourFacts>): number {
  return known.get(hourKey(hour))?.facts ?? 0
}

/** Websites of one hour: those that have few facts together, one that has more alone. */
function websitesApart(
  hours: readonly DirtyHour[],
  known: ReadonlyMap<string, HourFacts>,
  factsAtOnce: number,
): DirtyHour[][] {
  const parts: DirtyHour[][] = []
  let left = NO_ROOM
  for (const hour of hours) {
    const own = sizeOf(hour, known)
    if (own <= left) {
      parts.at(-1)?.push(hour)
      left -= own
    } else {
      parts.push([hour])
      left = factsAtOnce - own
    }
  }
  return parts
}
