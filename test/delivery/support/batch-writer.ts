/** Writes records as the facts-writer does: as batches of entries of the log, with marks of their hours. */

import { expect } from 'chai'

import { createHourMarks } from '../../../delivery/counting/hour-marks.ts'
import { createErasures } from '../../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../../delivery/facts-writer/fact-batch.ts'
import type { LogRecord } from '../../../domain/records.ts'
import type { Facts } from '../../../ports/facts/facts.ts'
import { NO_BACKLOG } from './memory-facts.ts'

/** `writer` names its marks, and must be no other's. */
export function createBatchWriter(writer: string) {
  const marks = createHourMarks(writer, Date.now)
  let offset = 0
  return async (facts: Facts, records: readonly LogRecord[]): Promise<void> => {
    const entries = records.map((record) => ({ offset: offset++, value: JSON.stringify(record), appendedAtMs: 0 }))
    const batch = { topic: 'visits', partition: 0, entries } as never
    const tools = { nowMs: Date.now, marks, erasures: createErasures(facts), backlog: NO_BACKLOG }
    const { done } = await writeBatch(facts, batch, tools)
    expect(done).to.equal(records.length)
  }
}
