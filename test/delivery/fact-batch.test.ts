/** What becomes of a batch that is too large, that holds refused rows, or whose engine goes away half way. */

import { expect } from 'chai'

import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { encodeRecord, type LogRecord } from '../../domain/records.ts'
import type { Batch, EventLog } from '../../ports/event-log/event-log.ts'
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

  it('is cut where its text reaches the bound', async () => {
    const memory = new MemoryFacts()
    memory.charsOf = () => 16 * MIB
    expect((await writeBatch(memory.facts, batchOf(requests(4)), Date.now)).done).to.equal(2)
  })

  it('takes an entry that is above the bound by itself, also if it is refused', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 200
    const large = requestRecord({ status: 200, userAgent: 'a'.repeat(33 * MIB) })
    const { done } = await writeBatch(memory.facts, batchOf([large, ...requests(2)]), Date.now)
    expect(done).to.equal(1)
    expect(memory.rows.get('poison_records')).to.have.length(1)
  })

  it('tells how many rows became facts and how many were kept apart, and of which table', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 201
    const batch = batchOf(requests(3))
    const unreadable = { key: 'k', value: 'no record', offset: 3, appendedAtMs: 0 }
    const { rows } = await writeBatch(memory.facts, { ...batch, entries: [...batch.entries, unreadable] }, Date.now)
    expect([...rows]).to.have.deep.members([
      ['request_logs', 2],
      ['poison_records', 2],
    ])
    const kept = (memory.rows.get('poison_records') ?? []).map(({ fact_table: table, reason }) => [table, reason])
    expect(kept).to.have.deep.members([
      ['request_logs', 'OUT_OF_RANGE'],
      ['', 'UNDECODABLE'],
    ])
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

  it('is taken from no topic where the role could not join one of them', async () => {
    const refusal = new Error('no place in the group')
    const joined: string[] = []
    const left: string[] = []
    const eventLog = {
      consume: async (topic: string) => {
        if (joined.length === 2) throw refusal
        joined.push(topic)
        return { stop: async () => void left.push(topic) }
      },
    } as unknown as EventLog
    const deps = { eventLog, facts: new MemoryFacts().facts, logger: SILENT_LOGGER, nowMs: Date.now }
    expect(await startFactsWriter(deps).catch((error: unknown) => error)).to.equal(refusal)
    expect(left).to.deep.equal(joined)
    expect(joined).to.have.length(2)
  })

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
