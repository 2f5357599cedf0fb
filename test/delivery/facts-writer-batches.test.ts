/** What the facts-writer answers, logs and measures of the batches that it is handed, without a log or an engine. */

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import type { Batch, BatchHandler, BatchOutcome, EventLog } from '../../ports/event-log/event-log.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { batchOf, MemoryFacts, requests } from './support/memory-facts.ts'

const NOW_MS = 1_800_000_000_000
/** So long that no run takes as much. */
const LONG_MS = 1_000_000_000
const OPTIONS = { politeness: 0, gatherMs: LONG_MS, busyGatherMs: LONG_MS }

type Line = readonly [level: string, fields: object, message: string]

interface Writer {
  readonly memory: MemoryFacts
  readonly registry: Registry
  readonly lines: readonly Line[]
  readonly handle: (batch: Batch) => Promise<BatchOutcome | void>
  readonly stop: () => Promise<void>
}

/** The role on a log that hands over what the test gives it. */
async function startWriter(): Promise<Writer> {
  const handlers: BatchHandler[] = []
  const eventLog = {
    consume: async (_topic: string, _group: string, handler: BatchHandler) => {
      handlers.push(handler)
      return { close: async () => undefined }
    },
  } as unknown as EventLog
  const memory = new MemoryFacts()
  const registry = new Registry()
  const lines = [] as Line[]
  const keep =
    (level: string) =>
    (fields: object | string, message = ''): void =>
      void lines.push([level, typeof fields === 'string' ? {} : fields, message])
  const logger = { ...SILENT_LOGGER, info: keep('info'), warn: keep('warn'), error: keep('error') }
  const shared = { eventLog, facts: memory.facts, logger, nowMs: () => NOW_MS, registry, options: OPTIONS }
  const role = await startFactsWriter(shared)
  const handle: BatchHandler = async (batch) => handlers[0]?.(batch)
  return { memory, registry, lines, handle, stop: () => role.close() }
}

const batch = (count: number, appendedAtMs: readonly number[] = []): Batch => {
  const made = batchOf(requests(count))
  const entries = made.entries.map((entry, index) => ({ ...entry, appendedAtMs: appendedAtMs[index] ?? NOW_MS }))
  return { ...made, entries }
}

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

describe('the facts-writer between batches', () => {
  let writer: Writer
  beforeEach(async () => {
    writer = await startWriter()
  })
  afterEach(() => writer.stop())

  it('takes the next at once after a small one, and logs nothing', async () => {
    expect(await writer.handle(batch(1))).to.deep.equal({ done: 1 })
    expect(writer.lines).to.deep.equal([])
  })

  it('rests after the first one of a partition as long as entries may gather', async () => {
    for (const partition of [0, 1]) {
      const outcome = await writer.handle({ ...batch(100), partition })
      expect(outcome, `partition ${partition}`).to.deep.equal({ done: 100, resumeAtMs: NOW_MS + LONG_MS })
    }
  })

  it('rests after the second one only until about enough entries are there', async () => {
    await writer.handle(batch(100))
    const outcome = await writer.handle(batch(100))
    expect(outcome?.resumeAtMs).to.be.within(NOW_MS + 1, NOW_MS + LONG_MS - 1)
  })

  it('waits longer after each failure, up to a bound, and from the start after a success', async () => {
    writer.memory.refuses = () => {
      throw new FactsUnavailable('away')
    }
    const pauses: unknown[] = []
    for (let failure = 0; failure < 8; failure++) {
      const outcome = await writer.handle(batch(1))
      expect(outcome?.done).to.equal(0)
      pauses.push((outcome?.resumeAtMs ?? 0) - NOW_MS)
    }
    expect(pauses).to.deep.equal([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    writer.memory.refuses = () => false
    await writer.handle(batch(1))
    await writer.handle(batch(1))
    expect(writer.lines).to.deep.equal([
      ['warn', { topic: 'requests', reason: 'away', pauseMs: 250 }, 'facts are not writable, retrying'],
      ['info', { failures: 8 }, 'facts are writable again'],
    ])
  })

  it('logs how many rows of which topic could not become facts', async () => {
    writer.memory.refuses = (row) => row['status'] === 201
    await writer.handle(batch(3))
    const fields = { topic: 'requests', rows: 1 }
    expect(writer.lines).to.deep.equal([['error', fields, 'entries could not become facts']])
  })

  it('leaves no timer behind when it stops', async () => {
    await writer.handle(batch(1))
    const before = timers()
    await writer.stop()
    expect(timers()).to.equal(before)
  })
})

describe('metrics of the facts-writer', () => {
  /** What they say after one batch of entries that were appended at these times. */
  async function metricsAfter(appendedAtMs: readonly number[]): Promise<readonly string[]> {
    const { handle, stop, registry } = await startWriter()
    await handle(batch(appendedAtMs.length, appendedAtMs))
    await stop()
    return (await registry.metrics()).split('\n')
  }

  it('tell the age of the oldest entry of the last batch', async () => {
    const lines = await metricsAfter([NOW_MS - 4_000, NOW_MS - 1_000])
    expect(lines).to.include('whence_facts_lag_seconds 4')
  })

  it('tell an age of 0 if the clock of the machine that appended it is ahead, or if there is no entry', async () => {
    expect(await metricsAfter([NOW_MS + 4_000])).to.include('whence_facts_lag_seconds 0')
    expect(await metricsAfter([])).to.include('whence_facts_lag_seconds 0')
  })

  it('count batches by their duration, from 10 ms to 10 s', async () => {
    const lines = await metricsAfter([NOW_MS])
    const buckets = lines.flatMap((line) => /^whence_facts_batch_seconds_bucket\{le="(.*)"\}/.exec(line)?.[1] ?? [])
    expect(buckets).to.deep.equal(['0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '+Inf'])
    expect(lines).to.include('whence_facts_batch_seconds_count 1')
  })

  it('add up the time that batches take, in seconds', async () => {
    const startedAt = performance.now()
    const lines = await metricsAfter([NOW_MS])
    const most = (performance.now() - startedAt) / 1000
    const [sum] = lines.flatMap((line) => /^whence_facts_batch_seconds_sum (.*)$/.exec(line)?.[1] ?? [])
    expect(Number(sum)).to.be.greaterThan(0).and.at.most(most)
  })
})
