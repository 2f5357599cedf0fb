/** What programs ask of figures and installs with a key: which numbers, of which time, by what, and of which installs. */

import { LAST_MOMENT_MS } from '../durations.ts'
import { refuseField, type Refusal } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { EVENT_TYPES, RESOLUTIONS } from '../model.ts'
import { stepsOf, type StepSize, type TimeStep, type TimeZone } from '../time-zones.ts'
import { keysOf, partialOf } from '../typed-keys.ts'
import { areFilters, readFilters, type FigureFilter } from './filters.ts'
import { INSTALL_KINDS } from './install-kinds.ts'
import { wholeDayFrom } from './periods.ts'
import { dateText, startOfDate, zonedTimeText } from './zone-dates.ts'

export const KEY_METRICS = ['installs', 'visits', 'copied', 'matched'] as const
export type KeyMetric = (typeof KEY_METRICS)[number]

/** Of the list of installs besides the dimensions of figures. */
export const LISTED_BY = {
  kind: INSTALL_KINDS,
  event_type: EVENT_TYPES,
  resolution: RESOLUTIONS,
} as const satisfies Readonly<Record<string, readonly string[]>>

/** The metrics of a list such as `installs,visits`, each once; installs alone if there is no list. */
export function askedMetrics(list: string | undefined): readonly KeyMetric[] | Refusal {
  const names = list === undefined ? ['installs'] : list.split(',')
  const known = names.flatMap((name) => KEY_METRICS.find((each) => each === name) ?? [])
  if (known.length === names.length) return [...new Set(known)]
  return refuseField('/metrics', `must be a list of ${KEY_METRICS.join(', ')}, with commas in between`)
}

/** Either end may be left open. Unix ms. */
interface OpenPeriod {
  readonly since?: number
  readonly until?: number
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** From the beginning of a day, or a moment, to the end of a day, or a moment. */
export function askedPeriod(
  { from, to }: { readonly from?: string; readonly to?: string },
  zone: TimeZone,
): OpenPeriod | Refusal {
  const since = from === undefined ? undefined : beginning(from, zone)
  const until = to === undefined ? undefined : ending(to, zone)
  if (since === null) return refuseTime('/from', zone)
  if (until === null) return refuseTime('/to', zone)
  if (since !== undefined && until !== undefined && since >= until) return refuseField('/from', 'must be before to')
  return { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) }
}

function beginning(text: string, zone: TimeZone): number | null {
  return withinTime(DATE.test(text) ? startOfDate(zone, text) : momentIn(text))
}

function ending(text: string, zone: TimeZone): number | null {
  if (!DATE.test(text)) return withinTime(momentIn(text))
  const start = startOfDate(zone, text)
  return withinTime(start === null ? null : zone.dayAfter(start))
}

function momentIn(text: string): number | null {
  const ms = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? null : ms
}

function withinTime(ms: number | null): number | null {
  return ms !== null && ms >= 0 && ms <= LAST_MOMENT_MS ? ms : null
}

function refuseTime(field: string, { name }: TimeZone): Refusal {
  return refuseField(
    field,
    `must be a day of the time zone ${name} such as 2026-11-28, or a moment such as 2026-11-28T09:00:00Z (a plus sign is written %2B)`,
  )
}

/** What the list of installs is filtered by: dimensions of figures, and words of its own. */
export interface KeyListFilters {
  readonly figures: readonly FigureFilter[]
  readonly own: { readonly [N in keyof typeof LISTED_BY]?: string }
}

const IS = ':is:'
const LIST_NAMES = keysOf(LISTED_BY)
const wordsOfList = (name: keyof typeof LISTED_BY): readonly string[] => LISTED_BY[name]

/** Filters such as `source:is:google`, and `kind:is:install`, which has one value. */
export function askedListFilters(texts: readonly string[] = []): KeyListFilters | Refusal {
  const found = new Map<keyof typeof LISTED_BY, string>()
  const others: string[] = []
  for (const text of texts) {
    const name = LIST_NAMES.find((each) => text.startsWith(`${each}:`))
    if (name === undefined) others.push(text)
    else if (found.has(name)) return refuseField('/filter', `names ${name} twice`)
    else found.set(name, text.slice(name.length))
  }
  for (const [name, text] of found)
    if (!wordsOfList(name).some((word) => text === IS + word))
      return refuseField('/filter', `must say ${name}${IS} and one of ${wordsOfList(name).join(', ')}`)
  const figures = readFilters(others)
  if (!areFilters(figures)) return figures
  return { figures, own: partialOf(LIST_NAMES, (name) => found.get(name)?.slice(IS.length)) }
}

/** The steps of time that rows are for; one without `bucket`. Refused if there are more than one answer may have. */
export function askedSteps(
  { bucket, isByValue }: { readonly bucket: StepSize | undefined; readonly isByValue: boolean },
  period: TimeStep,
  zone: TimeZone,
): readonly TimeStep[] | Refusal {
  if (bucket === undefined) return [period]
  const steps = stepsOf(zone, period, bucket)
  const most = isByValue ? LIMITS.keyBucketsByValue : LIMITS.keyBuckets
  if (steps.length <= most) return steps
  const what = isByValue ? 'with by, an answer has' : 'an answer has'
  return refuseField('/bucket', `${what} at most ${most} of them: ask for a shorter period, or for longer ones`)
}

/** How a row says which time it is for: an hour with its offset, a day, or the first day of a week that is in the period. */
export function bucketText(bucket: StepSize, { at }: TimeStep, zone: TimeZone): string {
  return bucket === 'hour' ? zonedTimeText(zone, at) : dateText(zone, at)
}

/** Of each website that is asked for: facts from this moment on are kept. */
interface KeptSince {
  readonly sinceMs: number
}

export interface NotKept {
  /** The first day of which every website keeps everything. */
  readonly before: string
  /** What ends until then is kept of no website. Unix ms. */
  readonly untilMs: number
}

/** What a period lacks, because it is older than the websites keep their data; null if it lacks nothing. */
export function notKeptOf(kept: readonly KeptSince[], { at }: TimeStep, zone: TimeZone): NotKept | null {
  const firstDays = kept.map(({ sinceMs }) => wholeDayFrom(sinceMs, zone))
  const all = Math.max(...firstDays)
  return all > at ? { before: dateText(zone, all), untilMs: Math.min(...firstDays) } : null
}
