/** What becomes of a batch that is too large, that holds refused rows, or whose engine becomes unreachable half-way. */

import { expect } from 'chai'

import type { Erasures } from '../../delivery/facts-writer/erasures.ts'
import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import type { Batch, EventLog } from '../../ports/event-log/event-log.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { requestRecord } from '../contract/fact-samples.ts'
import { Stage, until } from '../../fixtures/delivery/harness.ts'
import { NO_BACKLOG, batchOf, MemoryFacts, requests } from './support/memory-facts.ts'

const MIB = 1024 * 1024

const unreadables = (values: readonly string[]): Batch => ({
  topic: 'requests',
  partition: 0,
  entries: values.map((value, offset) => ({ key: 'k', value, offset, appendedAtMs: 0 })),
})

/** How often other work of the event loop ran before `work` was done. */
const NONE_ERASED: Erasures = { refresh: () => Promise.resolve(), kept: (record) => record, haveErased: () => false }
const MARKS = createHourMarks('test', Date.now)
const TOOLS = { nowMs: Date.now, marks: MARKS, erasures: NONE_ERASED, backlog: NO_BACKLOG }

async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = (): void => {
    if (isDone) return
    turns += 1
    setImmediate(count)
  }
  setImmediate(count)
  await work()
  isDone = true
  return turns
}

describe('a batch of the facts-writer', () => {
  it('above the bound of its text is cut, and says how far it came', async () => {
    const memory = new MemoryFacts()
    memory.charsOf = () => 12 * MIB
    const report = await writeBatch(memory.facts, batchOf(requests(10)), TOOLS)
    expect(report.done).to.equal(3)
    expect(memory.statuses()).to.deep.equal([200, 201, 202])
  })

  it('above the bound of its text is cut in the same way if it holds a refused row', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 201
    const userAgent = 'a'.repeat(12 * MIB)
    const large = Array.from({ length: 4 }, (_, index) => requestRecord({ status: 200 + index, userAgent }))
    const report = await writeBatch(memory.facts, batchOf(large), TOOLS)
    expect(report.done).to.equal(2)
    expect(memory.statuses()).to.deep.equal([200])
    expect(memory.rows.get('poison_records')).to.have.length(1)
  })

  it('is cut where its text reaches the bound', async () => {
    const memory = new MemoryFacts()
    memory.charsOf = () => 16 * MIB
    expect((await writeBatch(memory.facts, batchOf(requests(4)), TOOLS)).done).to.equal(2)
  })

  it('with a refused entry may have as much text as the bound, and no more', async () => {
    const memory = new MemoryFacts()
    const batch = unreadables(Array.from({ length: 3 }, () => 'a'.repeat(16 * MIB)))
    expect((await writeBatch(memory.facts, batch, TOOLS)).done).to.equal(2)
  })

  it('lets other work run after each hundred entries, and only then', async () => {
    const { facts } = new MemoryFacts()
    expect(await turnsDuring(() => writeBatch(facts, batchOf(requests(100)), TOOLS))).to.equal(0)
    expect(await turnsDuring(() => writeBatch(facts, batchOf(requests(250)), TOOLS))).to.equal(2)
  })

  it('lets other work run after each hundred entries, and only then, if one of them is refused', async () => {
    const { facts } = new MemoryFacts()
    const none = Array.from({ length: 250 }, () => '')
    expect(await turnsDuring(() => writeBatch(facts, unreadables(none.slice(0, 100)), TOOLS))).to.equal(0)
    expect(await turnsDuring(() => writeBatch(facts, unreadables(none), TOOLS))).to.equal(2)
  })

  it('keeps the first 65,536 characters of an entry that is no record', async () => {
    const memory = new MemoryFacts()
    await writeBatch(memory.facts, unreadables([`${'a'.repeat(65_535)}bc`]), TOOLS)
    const [kept] = memory.rows.get('poison_records') ?? []
    expect(kept?.['value']).to.equal(`${'a'.repeat(65_535)}b`)
  })

  it('handles an entry above the bound by itself, even if it is refused', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 200
    const large = requestRecord({ status: 200, userAgent: 'a'.repeat(33 * MIB) })
    const { done } = await writeBatch(memory.facts, batchOf([large, ...requests(2)]), TOOLS)
    expect(done).to.equal(1)
    expect(memory.rows.get('poison_records')).to.have.length(1)
  })

  it('tells how many rows became facts and how many were kept apart, and of which table', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 201
    const batch = batchOf(requests(3))
    const unreadable = { key: 'k', value: 'no record', offset: 3, appendedAtMs: 0 }
    const { rows } = await writeBatch(memory.facts, { ...batch, entries: [...batch.entries, unreadable] }, TOOLS)
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
        await role.close()
        await stage.strike()
      }
    })
  }

  it('is read from no topic if the role could not join one of them', async () => {
    const refusal = new Error('no place in the group')
    const joined: string[] = []
    const left: string[] = []
    const eventLog = {
      consume: async (topic: string) => {
        if (joined.length === 2) throw refusal
        joined.push(topic)
        return { close: async () => void left.push(topic) }
      },
    } as unknown as EventLog
    const deps = { eventLog, facts: new MemoryFacts().facts, logger: SILENT_LOGGER, nowMs: Date.now }
    expect(await startFactsWriter(deps).catch((error: unknown) => error)).to.equal(refusal)
    expect(left).to.deep.equal(joined)
    expect(joined).to.have.length(2)
  })

  it('is given up, with nothing kept as poison, if the engine becomes unreachable while a refused row is searched for', async () => {
    const memory = new MemoryFacts()
    memory.refuses = (row) => row['status'] === 205
    // Looking for one row of eight takes seven inserts.
    for (let insert = 0; insert < 7; insert++) {
      memory.awayAt = insert
      const failure = await writeBatch(memory.facts, batchOf(requests(8)), TOOLS).catch((error: unknown) => error)
      expect(failure, `insert ${insert}`).to.be.instanceOf(FactsUnavailable)
      expect(memory.rows.get('poison_records') ?? []).to.deep.equal([])
    }
    await writeBatch(memory.facts, batchOf(requests(8)), TOOLS)
    expect(memory.rows.get('poison_records')).to.have.length(1)
  })
})
