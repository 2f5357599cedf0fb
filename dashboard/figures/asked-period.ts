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
  type NotCompared,
} from '../../domain/figures/periods.ts'
import { timeZone, type PeriodStep, type StepSize, type TimeStep, type TimeZone } from '../../domain/time-zones.ts'
import type { OrganizationFacts } from '../reads/scope.ts'
import { countedUntil } from './read-figures.ts'

/** What a call says about its period. */
export interface AskedOfFigures {
  readonly query: AskedPeriod & {
    readonly compare?: Comparison
    readonly bucket?: StepSize
    /** As in the address. */
    readonly filter?: readonly string[]
  }
  readonly nowMs: number
}

interface ComparedPeriod extends FiguresPeriod {
  readonly by: Exclude<Comparison, 'off'>
  readonly notCompared: NotCompared | null
}

export interface FiguresQuestion extends FiguresPeriod {
  /** Of a chart. */
  readonly step: StepSize
  /** Start of the first day of which everything is kept, Unix ms. */
  readonly keptSinceMs: number
  /** Null if nothing is to be compared. */
  readonly compared: ComparedPeriod | null
  /** The same if figures can be compared with it, else null. */
  readonly before: FiguresPeriod | null
}

interface QuestionScope {
  readonly zone: TimeZone
  readonly websites: readonly { readonly retentionDays: number }[]
  /** Of the first hour with figures, Unix ms; null if there is none. */
  readonly firstHourMs: number | null
}

/** The question of a call about these websites, in their organisation's time zone. */
export async function readQuestion(
  reads: OrganizationFacts,
  call: AskedOfFigures,
  zone = timeZone(reads.organization.timeZone),
): Promise<FiguresQuestion | Refusal> {
  const [first] = call.query.compare === 'off' ? [] : await reads.run('firstHour', {})
  const question = figuresQuestion(call, { zone, websites: reads.websites, firstHourMs: first?.hour_ms ?? null })
  if ('code' in question || question.compared === null || question.before === null) return question
  for (const period of [question.before, question]) {
    if (await areHoursCounted(reads, period, call.nowMs)) continue
    return { ...question, compared: { ...question.compared, notCompared: 'not_counted_yet' }, before: null }
  }
  return question
}

/** Whether each hour that figures do not read from the facts themselves has been counted, as it may not be while years are filled in. */
export async function areHoursCounted(
  reads: OrganizationFacts,
  { sinceMs, untilMs }: FiguresPeriod,
  nowMs: number,
): Promise<boolean> {
  const period = { since_ms: sinceMs, until_ms: Math.min(untilMs, countedUntil(nowMs)) }
  return (await reads.run('firstUncountedHour', period)).length === 0
}

/**
 * Decides what is read and compared.
 *
 * @internal
 */
export function figuresQuestion(
  { query, nowMs }: AskedOfFigures,
  { zone, websites, firstHourMs }: QuestionScope,
): FiguresQuestion | Refusal {
  const clock = { nowMs, zone }
  const period = periodOf(query, clock)
  if ('code' in period) return period
  const { compare: by = 'before', bucket: step = stepSizeOf(period, zone) } = query
  const refused = refuseSteps(step, period)
  if (refused !== null) return refused
  const keptSinceMs = firstKeptDay(websites, clock)
  const asked = { ...period, step, keptSinceMs }
  if (by === 'off') return { ...asked, compared: null, before: null }
  const before = comparedPeriod(query, period, { by, zone })
  const notCompared = reasonAgainst(before, { keptSinceMs, firstHourMs })
  return { ...asked, compared: { by, ...before, notCompared }, before: notCompared === null ? before : null }
}

interface DataReach {
  readonly keptSinceMs: number
  readonly firstHourMs: number | null
}

function reasonAgainst(before: FiguresPeriod, { keptSinceMs, firstHourMs }: DataReach): NotCompared | null {
  if (before.sinceMs < keptSinceMs) return 'not_kept'
  return firstHourMs === null || firstHourMs >= before.untilMs ? 'nothing_yet' : null
}

/** As every page of figures answers it. */
export function answeredPeriod({ sinceMs, untilMs, keptSinceMs, compared }: FiguresQuestion) {
  return {
    since: sinceMs,
    until: untilMs,
    keptSince: keptSinceMs,
    comparison:
      compared === null
        ? null
        : {
            by: compared.by,
            since: compared.sinceMs,
            until: compared.untilMs,
            notCompared: compared.notCompared,
          },
  }
}

/** A step of a chart as it is answered: whether the period has a part of it, and whether all of it is kept. */
export function keptStep({ at, until, isPart }: PeriodStep, { keptSinceMs }: FiguresQuestion) {
  return { at, until, isPart, isKept: at >= keptSinceMs }
}

export function spanOf({ sinceMs, untilMs }: FiguresPeriod): TimeStep {
  return { at: sinceMs, until: untilMs }
}
