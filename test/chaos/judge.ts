/**
 * Compares what clients were answered with what is stored and what reached the providers: not only that every record
 * exists once, but that every decision is right. A finding is a violation unless `tolerances.ts` allows it.
 */

import { judgeAnswers } from './judge-answers.ts'
import { judgeDecisions } from './judge-decisions.ts'
import { judgeDeliveries } from './judge-deliveries.ts'
import { judgeRecords } from './judge-records.ts'
import type { History, Violation } from './history.ts'
import { toleranceOf } from './tolerances.ts'

export interface Verdict {
  readonly violations: readonly Violation[]
  /** How often each tolerance was needed, by its name. */
  readonly tolerated: ReadonlyMap<string, number>
}

export function judge(history: History): Verdict {
  const found = [
    ...judgeRecords(history),
    ...judgeDecisions(history),
    ...judgeAnswers(history),
    ...judgeDeliveries(history),
  ]
  const violations: Violation[] = []
  const tolerated = new Map<string, number>()
  for (const violation of found) {
    const tolerance = toleranceOf(violation, history)
    if (tolerance === null) violations.push(violation)
    else tolerated.set(tolerance, (tolerated.get(tolerance) ?? 0) + 1)
  }
  return { violations, tolerated }
}
