/** Judges a day that is over, and the month's use of a quota. Everything that it is judged by comes in as numbers. */

import type { AlertedArrival, AlertMeasure, AlertSubject } from './alert.ts'
import type { AlertCounts } from './counts.ts'
import { sameWeekdays, type DayFigures } from './days.ts'

/** `not_judged`: there is too little to say either. */
export type AlertVerdict = { readonly kind: 'unusual' | 'usual'; readonly measure: AlertMeasure } | NotJudged
interface NotJudged {
  readonly kind: 'not_judged'
}

/** Of fewer, a day says nothing. */
const INSTALLS_LEAST = 20
const DECIDED_LEAST = 50
const DELIVERIES_LEAST = 20
/** Days of which a usual match rate is made, at least. */
const RATES_LEAST = 7
const NOT_JUDGED: NotJudged = { kind: 'not_judged' }

/** @throws Error for a quota, which no day decides */
export function judgeDay(
  { rule, of }: Omit<AlertSubject, 'website'>,
  figures: DayFigures,
  threshold: number,
): AlertVerdict {
  switch (rule) {
    case 'InstallsDown':
      return judgeInstalls(figures, threshold, (installs, bound) => installs < bound)
    case 'InstallsUp':
      return judgeInstalls(figures, threshold, (installs, bound) => installs > bound)
    case 'MatchRateDown':
      return judgeMatchRate(figures, threshold)
    case 'NothingArrives':
      return of === '' ? NOT_JUDGED : judgeArrival(figures, of)
    case 'DeliveriesFailing':
      return judgeDeliveries(figures.day, threshold)
    case 'QuotaNear':
      throw new Error('a quota is judged by its month')
  }
}

/** `allowed`: tracked events of a month that the plan allows. */
export function judgeQuota(used: number, allowed: number, threshold: number): AlertVerdict {
  if (!Number.isFinite(allowed) || allowed <= 0) return NOT_JUDGED
  return verdict(used * 100 >= allowed * threshold, { value: used, expected: allowed, threshold })
}

/** By the same weekday of four weeks. Each of them must be known: a website that is two weeks old has no usual Saturday. */
function judgeInstalls(
  { day, before }: DayFigures,
  threshold: number,
  isUnusual: (installs: number, bound: number) => boolean,
): AlertVerdict {
  const weekdays = sameWeekdays(before)
  const known = weekdays.flatMap((counts) => counts?.installs ?? [])
  const usual = medianOf(known)
  if (known.length < weekdays.length || usual === null || usual < INSTALLS_LEAST) return NOT_JUDGED
  const measure = { value: day.installs, expected: Math.round(usual), threshold }
  return verdict(isUnusual(day.installs, (usual * threshold) / 100), measure)
}

/** By the days of four weeks that had enough installs. */
function judgeMatchRate({ day, before }: DayFigures, threshold: number): AlertVerdict {
  const rate = matchRateOf(day)
  const rates = before.flatMap((counts) => (counts === null ? [] : (matchRateOf(counts) ?? [])))
  const usual = medianOf(rates)
  if (rate === null || usual === null || rates.length < RATES_LEAST) return NOT_JUDGED
  const measure = { value: Math.round(rate), expected: Math.round(usual), threshold }
  return verdict(rate < usual - threshold, measure)
}

/** In per cent; null if too few installs were decided. */
function matchRateOf({ matched, unmatched }: AlertCounts): number | null {
  const decided = matched + unmatched
  return decided < DECIDED_LEAST ? null : (matched / decided) * 100
}

function judgeArrival({ last24Hours, before }: DayFigures, of: AlertedArrival): AlertVerdict {
  const daily = before.flatMap((counts) => counts?.[of] ?? [])
  const usual = Math.round(medianOf(daily) ?? 0)
  const measure = { value: last24Hours[of], expected: usual, threshold: 0 }
  if (last24Hours[of] > 0) return verdict(false, measure)
  const isDaily = daily.length === before.length && daily.every((count) => count > 0)
  return isDaily ? verdict(true, measure) : NOT_JUDGED
}

function judgeDeliveries({ delivered, failed }: AlertCounts, threshold: number): AlertVerdict {
  const ended = delivered + failed
  if (ended < DELIVERIES_LEAST) return NOT_JUDGED
  return verdict(failed * 100 >= ended * threshold, { value: failed, expected: ended, threshold })
}

function verdict(isUnusual: boolean, measure: AlertMeasure): AlertVerdict {
  return { kind: isUnusual ? 'unusual' : 'usual', measure }
}

/** Null for no numbers. Of an even count the middle between the two in the middle. */
function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const low = sorted[Math.ceil(middle) - 1]
  const high = sorted[Math.floor(middle)]
  return low === undefined || high === undefined ? null : (low + high) / 2
}
