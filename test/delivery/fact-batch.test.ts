/** What becomes of a batch that is too large, that holds refused rows, or whose engine goes away half way. */

import { expect } from 'chai'

import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { encodeRecord, type LogRecord } from '../../domain/records.ts'
import type { Batch } from '../../ports/event-log/event-log.ts'
import { type FactTable } from '../../ports/facts/columns.ts'
import { FactsUnavailable, RowsRefused, type FactRow, type Facts } from '../../ports/facts/facts.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { requestRecord } from '../contract/fact-samples.ts'
import { Stage, until } from './support/harness.ts'

const MIB = 1024 * 1024

/** Keeps rows in memory. `refuses` says which rows the engine would not take; `charsOf` how long a row's text is. */
class MemoryFacts {
  readonly rows = new Map<FactTable, FactRow[]>()
  /** Sizes of the inserts that were made, whole batches apart. */
  readonly inserts: number[] = []
  refuses: (row: FactRow) => boolean = () => false
  charsOf: (row: FactRow) => number = () => 100
  /** The insert of a single table that finds the engine away, counted from 0; those behind it succeed again. */
  awayAt = -1

  readonly facts = {
    startBatch: () => {
      const added: { table: FactTable; row: FactRow }[] = []
      const state = { chars: 0 }
      return {
        get chars() {
          return state.chars
        },
        add: (table: FactTable, row: FactRow) => {
          added.push({ table, row })
          state.chars += this.charsOf(row)
        },
        insert: async () => {
          if (added.some(({ row }) => this.refuses(row))) throw new RowsRefused('OUT_OF_RANGE')
          for (const { table, row } of added) this.#keep(table, [row])
        },
      }
    },
    insert: async (table: FactTable, rows: readonly FactRow[]) => {
      if (this.awayAt-- === 0) throw new FactsUnavailable('away')
      this.inserts.push(rows.length)
      if (rows.some((row) => this.refuses(row))) throw new RowsRefused('OUT_OF_RANGE')
      this.#keep(table, rows)
    },
  } as unknown as Facts

  statuses(): readonly unknown[] {
    return (this.rows.get('request_logs') ?? []).map((row) => row['status'])
  }

  #keep(table: FactTable, rows: readonly FactRow[]): void {
    this.rows.set(table, [...(this.rows.get(table) ?? []), ...rows])
  }
}

const batchOf = (records: readonly LogRecord[]): Batch => ({
  topic: 'requests',
  partition: 0,
  entries: records.map((record, offset) => ({ key: 'k', value: encodeRecord(record), offset, appendedAtMs: 0 })),
})
const requests = (count: number): LogRecord[] =>
  Array.from({ length: count }, (_, index) => requestRecord({ status: 200 + index }))

describe('a batch of the facts-writer', () => {
  it('above the bound of its text is cut, and says how far it came', async () => {
    const memory = new MemoryFacts()
    memory.charsOf = () => 12 * MIB
    const report = await writeBatch(memory.facts, batchOf(requests(10)), Date.now)
    expect(report.done).to.equal(3)
    expect(memory.statuses()).to.deep.equal([200, 201, 202])
  })

  it('above the bound of its text is cut in the same way if it holds a refused row', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 201
    const userAgent = 'a'.repeat(12 * MIB)
    const large = Array.from({ length: 4 }, (_, index) => requestRecord({ status: 200 + index, userAgent }))
    const report = await writeBatch(memory.facts, batchOf(large), Date.now)
    expect(report.done).to.equal(2)
    expect(memory.statuses()).to.deep.equal([200])
    expect(memory.rows.get('poison_records')).to.have.length(1)
  })

  for (const refused of [[], [2]] as const) {
    it(`above the bound of its text arrives whole, in parts, ${refused.length === 0 ? '' : 'one row apart'}`, async () => {
      const stage = await Stage.set()
      const memory = new MemoryFacts()
      memory.charsOf = () => 12 * MIB
      memory.refuses = (row) => refused.some((index) => row['status'] === 200 + index)
      const entries = batchOf(requests(8)).entries.map(({ key, value }) => ({ key, value }))
      await stage.store.log.append('requests', entries)
      const options = { lingerMs: 1, politeness: 0 }
      const { log } = stage.store
      const deps = { eventLog: log, facts: memory.facts, logger: SILENT_LOGGER, nowMs: stage.clock.nowMs, options }
      const role = await startFactsWriter(deps)
      try {
        await until(async () => (await log.lag()).every((lag) => lag.topic !== 'requests' || lag.entries === 0))
        const expected = [0, 1, 2, 3, 4, 5, 6, 7].filter((index) => !refused.some((each) => each === index))
        expect(memory.statuses()).to.have.members(expected.map((index) => 200 + index))
      } finally {
        await role.stop()
        await stage.strike()
      }
    })
  }

  it('is given up, with nothing kept as poison, if the engine goes away while a refused row is looked for', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 205
    // Looking for one row of eight takes seven inserts.
    for (let insert = 0; insert < 7; insert++) {
      memory.awayAt = insert
      const failure = await writeBatch(memory.facts, batchOf(requests(8)), Date.now).catch((error: unknown) => error)
      expect(failure, `insert ${insert}`).to.be.instanceOf(FactsUnavailable)
      expect(memory.rows.get('poison_records') ?? []).to.deep.equal([])
    }
    await writeBatch(memory.facts, batchOf(requests(8)), Date.now)
    expect(memory.rows.get('poison_records')).to.have.length(1)
  })
})
