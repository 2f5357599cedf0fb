/**
 * A record of a later release holds only its own partition, is reported once, and stays for a process that can read it.
 */

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { consumeReadable, HOLD_MS } from '../../delivery/version-guard.ts'
import type { Batch, BatchHandler, EventLog } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'
import { until } from '../../fixtures/until.ts'

const OPTIONS = { maxEntries: 100 }

describe('a reader in front of a record of a later release', () => {
  let folder: string
  let now: number
  let environment: LmdbEnvironment
  let eventLog: EventLog
  let registry: Registry
  const errors: object[] = []

  beforeEach(async () => {
    folder = await temporaryFolder()
    now = Date.now()
    environment = await openTestEnvironment(folder, () => now)
    eventLog = await lmdbEventLog(environment, { pace: { recheckMs: 5 }, keeping: { trimEveryMs: Infinity } })
    registry = new Registry()
    errors.length = 0
  })
  afterEach(async () => {
    await eventLog.close()
    await environment.close()
    await deleteFolder(folder)
  })

  const consume = (): EventLog['consume'] => {
    const logger = { error: (fields: object): void => void errors.push(fields) } as never
    return consumeReadable({ eventLog, telemetry: { logger, registry }, nowMs: () => now })
  }
  const append = (topic: 'visits' | 'installs', ...versions: readonly number[]): Promise<void> =>
    eventLog.append(
      topic,
      versions.map((v, index) => ({ key: `${v}/${index}`, value: `{"v":${v},"kind":"visit"}` })),
    )
  const seen: number[] = []
  const remember: BatchHandler = async ({ entries }: Batch) => void seen.push(...entries.map(({ offset }) => offset))
  const lagOf = async (topic: string): Promise<number> =>
    (await eventLog.lag()).filter((row) => row.topic === topic).reduce((sum, { entries }) => sum + entries, 0)
  const heldIn = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('whence_held_partitions{'))

  it('gets what lies before it and nothing behind it, while other topics go on', async () => {
    seen.length = 0
    await append('visits', 1, 1, 2, 1)
    await append('installs', 1)
    await consume()('visits', 'reader', remember, OPTIONS)
    const others: number[] = []
    await consume()('installs', 'reader', async ({ entries }) => void others.push(entries.length), OPTIONS)
    await until(async () => errors.length === 1)
    await append('installs', 1, 1)
    await until(async () => (await lagOf('installs')) === 0)
    expect({ seen, others: others.reduce((sum, count) => sum + count, 0) }).to.deep.equal({ seen: [0, 1], others: 3 })
    expect(await lagOf('visits')).to.equal(2)
    expect(errors).to.deep.equal([{ topic: 'visits', partition: 0, role: 'reader', offset: 2, version: 2 }])
    expect(await heldIn()).to.deep.equal(['whence_held_partitions{topic="visits",role="reader"} 1'])
  })

  it('is reported once, however often it looks again', async () => {
    let looks = 0
    const counting = { consume: counted(() => looks++) }
    const logger = { error: (fields: object): void => void errors.push(fields) } as never
    await append('visits', 2)
    await consumeReadable({ eventLog: counting, telemetry: { logger }, nowMs: () => now })(
      'visits',
      'reader',
      remember,
      OPTIONS,
    )
    await until(async () => looks === 1)
    for (let look = 2; look < 5; look++) {
      now += HOLD_MS
      await until(async () => looks === look)
    }
    expect(errors.length).to.equal(1)
  })

  it('leaves it to a reader that knows it, from its position', async () => {
    seen.length = 0
    await append('visits', 1, 2, 1)
    const old = await consume()('visits', 'reader', remember, OPTIONS)
    await until(async () => errors.length === 1)
    await old.close()
    // The hold belongs to the old process; after its time no metric shows it any more.
    now += 3 * HOLD_MS
    expect(await heldIn()).to.deep.equal([])
    await eventLog.consume('visits', 'reader', remember, OPTIONS)
    await until(async () => (await lagOf('visits')) === 0)
    expect(seen).to.deep.equal([0, 1, 2])
  })

  it('passes on what the handler says of the front part', async () => {
    seen.length = 0
    await append('visits', 1, 1, 2)
    let calls = 0
    const oneByOne: BatchHandler = async (batch) => {
      calls++
      await remember({ ...batch, entries: batch.entries.slice(0, 1) })
      return { done: 1 }
    }
    await consume()('visits', 'reader', oneByOne, OPTIONS)
    await until(async () => errors.length === 1)
    expect({ seen, calls }).to.deep.equal({ seen: [0, 1], calls: 2 })
  })

  function counted(onLook: () => void): EventLog['consume'] {
    return (topic, group, handler, options) => {
      const counting: BatchHandler = (batch) => {
        onLook()
        return handler(batch)
      }
      return eventLog.consume(topic, group, counting, options)
    }
  }
})
