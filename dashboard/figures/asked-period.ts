/** The period that a page of figures asks for, what it is compared with, and how much of both is kept. */

import type { Refusal } from '../../domain/errors.ts'
import {
  comparedPeriod,
  firstKeptDay,
  periodOf,
  refuseSteps,
  stepSizeOf,
  type AskedPeriod,
  type Comparison,
  type FiguresPeriod,
} from '../../domain/figures/periods.ts'
import type { PeriodStep, StepSize, TimeStep, TimeZone } from '../../domain/time-zones.ts'

/** What a call says about its period. */
export interface AskedOfFigures {
  readonly query: AskedPeriod & { readonly compare?: Comparison; readonly bucket?: StepSize }
  readonly nowMs: number
}

interface ComparedPeriod extends FiguresPeriod {
  readonly by: Exclude<Comparison, 'off'>
}

export interface FiguresQuestion extends FiguresPeriod {
  /** Of a chart. */
  readonly step: StepSize
  /** Start of the first day of which everything is kept, Unix ms. */
  readonly keptSinceMs: number
  /** Null if nothing is to be compared. */
  readonly compared: ComparedPeriod | null
  /** The same if all of it is kept, else null: figures of a part would be compared with those of a whole. */
  readonly before: FiguresPeriod | null
}

interface FiguresOf {
  readonly zone: TimeZone
  readonly websites: readonly { readonly retentionDays: number }[]
}

export function figuresQuestion(
  { query, nowMs }: AskedOfFigures,
  { zone, websites }: FiguresOf,
): FiguresQuestion | Refusal {
  const clock = { nowMs, zone }
  const period = periodOf(query, clock)
  if ('code' in period) return period
  const { compare: by = 'before', bucket: step = stepSizeOf(period, zone) } = query
  const refused = refuseSteps(step, period)
  if (refused !== null) return refused
  const keptSinceMs = firstKeptDay(websites, clock)
  const compared = by === 'off' ? null : { by, ...comparedPeriod(query, period, { by, zone }) }
  const isKept = compared !== null && compared.sinceMs >= keptSinceMs
  return { ...period, step, keptSinceMs, compared, before: isKept ? compared : null }
}

/** As every page of figures answers it. */
export function answeredPeriod({ sinceMs, untilMs, keptSinceMs, compared, before }: FiguresQuestion) {
  return {
    since: sinceMs,
    until: untilMs,
    keptSince: keptSinceMs,
    comparison:
      compared === null
        ? null
        : { by: compared.by, since: compared.sinceMs, until: compared.untilMs, isKept: before !== null },
  }
}

/** A step of a chart as it is answered: whether the period has a part of it, and whether all of it is kept. */
export function keptStep({ at, until, isPart }: PeriodStep, { keptSinceMs }: FiguresQuestion) {
  return { at, until, isPart, isKept: at >= keptSinceMs }
}

export function spanOf({ sinceMs, untilMs }: FiguresPeriod): TimeStep {
  return { at: sinceMs, until: untilMs }
}
