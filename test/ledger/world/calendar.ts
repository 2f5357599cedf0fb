/** Hours, days and weeks of a place whose clocks are always as far ahead of UTC, and the periods that people name there. */

import type { Period } from './book.ts'
import { DAY, HOUR } from './world.ts'

/** Its days and hours begin at half past, in UTC, all year. */
export const ZONE = 'Asia/Kolkata'
const AHEAD = 5.5 * HOUR
const WEEK = 7 * DAY
/** The first Monday that computers count was four days after their first day. */
const FIRST_MONDAY = 4 * DAY

export type StepName = 'hour' | 'day' | 'week'

const STEPS: Readonly<Record<StepName, { readonly long: number; readonly first: number }>> = {
  hour: { long: HOUR, first: 0 },
  day: { long: DAY, first: 0 },
  week: { long: WEEK, first: FIRST_MONDAY },
}

export function startOf(name: StepName, at: number): number {
  const { long, first } = STEPS[name]
  return Math.floor((at + AHEAD - first) / long) * long + first - AHEAD
}

/** Midnight in UTC, by which quotas go. */
export function startOfUtcDay(at: number): number {
  return Math.floor(at / DAY) * DAY
}

/** "2026-11-28". */
export function dateOf(at: number): string {
  return new Date(at + AHEAD).toISOString().slice(0, 10)
}

/** The date and time with what they are ahead by. */
export function hourOf(at: number): string {
  return `${new Date(at + AHEAD).toISOString().slice(0, 19)}+05:30`
}

/** What a chart has a column for unless somebody chooses: hours of up to two days, else days. */
export function stepNameOf({ since, until }: Period): StepName {
  return until - since <= 2 * DAY ? 'hour' : 'day'
}

export interface Step extends Period {
  readonly isPart: boolean
}

/** All of the period, the first and the last cut by it. */
export function stepsIn(name: StepName, { since, until }: Period): readonly Step[] {
  const steps: Step[] = []
  for (let at = since; at < until; at = startOf(name, at) + STEPS[name].long) {
    const end = Math.min(until, startOf(name, at) + STEPS[name].long)
    steps.push({ since: at, until: end, isPart: end - at < STEPS[name].long })
  }
  return steps
}

/** So many days, today with its present hour among them. */
export function lastDays(days: number, now: number): Period {
  return { since: startOf('day', now) - (days - 1) * DAY, until: startOf('hour', now) + HOUR }
}

/** As many days right before, the last of them up to the same hour. */
export function daysBefore({ since, until }: Period): Period {
  const days = Math.ceil((until - startOf('day', since)) / DAY)
  return { since: since - days * DAY, until: until - days * DAY }
}
