/** Stores imported ad spend of a stage as facts, as the facts-writer does. */

import { every } from '../../../common/every.ts'
import { createHourMarks } from '../../../delivery/counting/hour-marks.ts'
import { createErasures } from '../../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../../delivery/facts-writer/fact-batch.ts'
import { NO_BACKLOG } from '../../delivery/support/memory-facts.ts'
import type { TestFacts } from '../../support/facts.ts'
import type { PagesStage } from './stage.ts'

export function startSpendWriter(stage: PagesStage, facts: TestFacts): { readonly close: () => Promise<void> } {
  let written = 0
  const write = async (): Promise<void> => {
    const entries = await stage.eventLog.read('spend', written, 100)
    if (entries.length === 0) return
    written += entries.length
    const tools = {
      nowMs: Date.now,
      marks: createHourMarks('test', Date.now),
      erasures: createErasures(facts),
      backlog: NO_BACKLOG,
    }
    await writeBatch(facts, { topic: 'spend', partition: 0, entries }, tools)
  }
  return every(50, write, { firstMs: 0, onFailure: () => undefined })
}
