/** Counts by value: the cells of an hour's figures, and sums of them. */

import { recordOf } from '../typed-keys.ts'
import { ORIGIN_DIMENSIONS } from './installs.ts'

/** In the order of a row's columns. `installed`: it is the visit of an install; `converted`: of one within seven days. */
export const VISIT_STEPS = ['visits', 'activated', 'copied', 'started', 'installed', 'first_run', 'converted'] as const
/** What only some visits reach. */
export type LaterStep = Exclude<(typeof VISIT_STEPS)[number], 'visits'>

/**
 * Dimensions of visits: a visit counts in the hour in which it began, with every step that it ever reached. By page it counts once for each that it
 * saw; the total of these is `pages_seen`.
 */
export const VISIT_DIMENSIONS = ['visits', 'pages_seen', ...ORIGIN_DIMENSIONS, 'source_campaign'] as const
/** What a quota counts, page views by who looked (empty: people), and what became of the deliveries of the install events that were received in an hour. */
const EVENT_DIMENSIONS = ['page_views', 'visitor_kind', 'events', 'delivery'] as const

export const DIMENSIONS = [...VISIT_DIMENSIONS, ...EVENT_DIMENSIONS] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** A value and its counts: those of `VISIT_STEPS`, or a number of events in the place of the first. */
export type Cell = readonly [value: string, ...counts: Counts]
export type Counts = readonly [number, number, number, number, number, number, number]

/** The most values kept of one dimension in one hour; the rest is the total less these. */
export const MAX_CELLS = 500

/** Lower bounds of the 40 buckets of the time from a visit to its install, in seconds. The last bucket has no upper bound. */
export const INSTALL_TIME_BUCKETS_S: readonly number[] = [
  0,
  1,
  2,
  3,
  5,
  7,
  10,
  15,
  20,
  30,
  45,
  ...[1, 1.5, 2, 3, 5, 7.5, 10, 15, 20, 30, 45].map((minutes) => minutes * 60),
  ...[1, 1.5, 2, 3, 4, 6, 8, 12, 18].map((hours) => hours * 3_600),
  ...[1, 1.5, 2, 3, 5, 7, 10, 14, 21].map((days) => days * 86_400),
]

/** Counts that are in the order of these names. */
export function namedCounts<Name extends string>(
  names: readonly Name[],
  counts: readonly number[],
): Readonly<Record<Name, number>> {
  return recordOf(names, (name) => counts[names.indexOf(name)] ?? 0)
}

/** One for each of `Counts`. */
function countsOf(at: (place: number) => number): Counts {
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6)]
}

/** A value with its counts, as read. */
export function cellOf({ value, counts }: { readonly value: string; readonly counts: readonly number[] }): Cell {
  return [value, ...countsOf((place) => counts[place] ?? 0)]
}

/** Adds up the cells of each value; sorted by the first count, greatest first, then by value. */
export function sumCells(cells: Iterable<Cell>): readonly Cell[] {
  const sums = new Map<string, number[]>()
  for (const [value, ...counts] of cells) {
    const sum = sums.get(value) ?? [0, 0, 0, 0, 0, 0, 0]
    sums.set(value, sum)
    for (const [place, count] of counts.entries()) sum[place] = (sum[place] ?? 0) + count
  }
  return [...sums].map(([value, counts]) => cellOf({ value, counts })).sort(byFirstCount)
}

function byFirstCount(a: Cell, b: Cell): number {
  return b[1] - a[1] || (a[0] < b[0] ? -1 : 1)
}

/** The total less the listed values. */
export function restOf(total: Counts, listed: readonly Cell[]): Counts {
  return countsOf((place) => listed.reduce((left, [, ...counts]) => left - (counts[place] ?? 0), total[place] ?? 0))
}
