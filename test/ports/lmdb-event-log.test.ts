/** What the LMDB log does beyond the contract: retention, shedding, rest. */

import { expect } from 'chai'

import type { Topic } from '../../domain/records.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import type { StoredEntry } from '../../ports/event-log/event-log.ts'
import type { LmdbEventLog, LmdbEventLogOptions } from '../../ports/event-log/lmdb/lmdb.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder, testClock } from '../contract/lmdb-harness.ts'

const DAY_MS = 86_400_000

describe('LMDB event log', () => {
  const clock = testClock()
  let folder: string
  let environment: LmdbEnvironment
  let log: LmdbEventLog

  const open = async (keeping: LmdbEventLogOptions['keeping'] = {}): Promise<void> => {
    environment = await openTestEnvironment(folder, clock.nowMs)
    log = await lmdbEventLog(environment, { keeping: { trimEveryMs: Infinity, ...keeping } })
  }
  const close = async (): Promise<void> => {
    await log.close()
    await environment.close()
  }
  beforeEach(async () => {
    folder = await temporaryFolder()
    await open()
  })
  afterEach(async () => {
    await close()
    await deleteFolder(folder)
  })

  const append = (topic: Topic, ...values: string[]): Promise<void> =>
    log.append(
      topic,
      values.map((value) => ({ key: 'acme:1', value })),
    )
  const pass = async (topic: Topic, group: string, count: number): Promise<void> => {
    let seen = 0
    const enough = Promise.withResolvers<void>()
    const consumer = await log.consume(
      topic,
      group,
      async ({ entries }) => {
        const done = Math.min(entries.length, count - seen)
        seen += done
        if (seen === count) enough.resolve()
        return { done, resumeAtMs: seen === count ? Number.MAX_SAFE_INTEGER : 0 }
      },
      { maxEntries: 1 },
    )
    await enough.promise
    await consumer.close()
  }
  const valuesOf = async (topic: Topic): Promise<string[]> => (await log.read(topic, 0, 1_000)).map(valueOf)

  describe('retention', () => {
    it('deletes what is a week old and passed by every group, and nothing else', async () => {
      await append('visits', 'old')
      clock.set(clock.nowMs() + DAY_MS)
      await append('visits', 'younger')
      await pass('visits', 'fast', 2)
      await pass('visits', 'slow', 1)
      clock.set(clock.nowMs() + 6 * DAY_MS)
      expect(await log.trim()).to.equal(0)
      clock.set(clock.nowMs() + 1)
      expect(await log.trim()).to.equal(1)
      expect(await valuesOf('visits')).to.deep.equal(['younger'])
      clock.set(clock.nowMs() + 90 * DAY_MS)
      expect(await log.trim()).to.equal(0)
      expect(await log.lag()).to.have.deep.members([
        { topic: 'visits', group: 'fast', entries: 0 },
        { topic: 'visits', group: 'slow', entries: 1 },
      ])
    })

    it('keeps dead letters for 30 days', async () => {
      await append('dead-letters', 'failed')
      clock.set(clock.nowMs() + 30 * DAY_MS)
      expect(await log.trim()).to.equal(0)
      clock.set(clock.nowMs() + 1)
      expect(await log.trim()).to.equal(1)
      expect(await valuesOf('dead-letters')).to.deep.equal([])
    })

    it('keeps counting where an emptied topic stopped, so that no group misses what follows', async () => {
      await append('visits', 'a', 'b', 'c')
      await pass('visits', 'g', 3)
      clock.set(clock.nowMs() + 8 * DAY_MS)
      await log.trim()
      await close()
      await open()
      await append('visits', 'd')
      expect((await log.read('visits', 0, 10)).map(({ offset, value }) => ({ offset, value }))).to.deep.equal([
        { offset: 3, value: 'd' },
      ])
      await pass('visits', 'g', 1)
    })

    it('keeps what has just been stored, before the log has learnt that', async () => {
      await close()
      environment = await openTestEnvironment(folder, clock.nowMs)
      const trims: Promise<number>[] = []
      // Of the stores in a transaction, the first learns first that it is on disk.
      environment.committer.contribute(() => () => {
        clock.set(clock.nowMs() + 1)
        trims.push(log.trim())
      })
      log = await lmdbEventLog(environment, { keeping: { trimEveryMs: Infinity, keepMs: () => 0 } })
      const held = async () => ({ done: 0, resumeAtMs: Number.MAX_SAFE_INTEGER })
      const consumer = await log.consume('visits', 'drain', held, { maxEntries: 1 })
      const before = trims.length
      await append('visits', 'first')
      expect(trims.length).to.be.greaterThan(before)
      expect(await Promise.all(trims)).to.deep.equal(trims.map(() => 0))
      await append('visits', 'second')
      expect(await valuesOf('visits')).to.deep.equal(['first', 'second'])
      await consumer.close()
    })

    it('keeps what no group follows if that is wanted, until a group has passed it', async () => {
      await close()
      await open({ keepMs: () => 0, keepsUnfollowed: true })
      await append('visits', 'kept')
      clock.set(clock.nowMs() + 1)
      expect(await log.trim()).to.equal(0)
      await pass('visits', 'drain', 1)
      expect(await log.trim()).to.equal(1)
    })

    it('deletes many transactions worth of entries, and no other topic', async () => {
      for (let round = 0; round < 450; round++) await Promise.all([append('visits', 'x'), append('installs', 'y')])
      await pass('installs', 'g', 1)
      clock.set(clock.nowMs() + 8 * DAY_MS)
      await log.trim()
      expect(await valuesOf('visits')).to.deep.equal([])
      expect((await valuesOf('installs')).length).to.be.within(440, 449)
    })
  })

  it('shares one transaction between an append and the state that goes with it', async () => {
    const state = await lmdbHotState(environment, { sweepEveryMs: Infinity })
    const before = environment.committer.count
    const receipt = { organization: 'acme', website: 'acme', visitId: '0'.repeat(32), issuedAtMs: clock.nowMs() }
    const known = state.learn({ ...receipt, previous: null }, 'active')
    await Promise.all([known, append('activations', 'with its state')])
    await state.close()
    expect(environment.committer.count - before).to.equal(1)
  })

  it('gathers appends of one event turn into one transaction', async () => {
    const before = environment.committer.count
    await Promise.all(Array.from({ length: 500 }, (_, index) => append('visits', `${index}`)))
    expect(environment.committer.count - before).to.equal(1)
  })

  it('refuses entries and takes none if the disk has too little room', async () => {
    await close()
    const minFreeBytes = 2 ** 60
    environment = await openLmdb(folder, { nowMs: clock.nowMs, onFatal: () => undefined, minFreeBytes })
    log = await lmdbEventLog(environment, { keeping: { trimEveryMs: Infinity } })
    const error: unknown = await append('visits', 'no room').catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(LogUnavailable)
    expect(log.health().isAccepting).to.equal(false)
    expect(await valuesOf('visits')).to.deep.equal([])
  })

  it('fails, once and for all, if its folder is gone, and leaves nobody waiting', async () => {
    await close()
    const failures: string[] = []
    const onFatal = ({ message }: Error): void => void failures.push(message)
    environment = await openLmdb(folder, { nowMs: clock.nowMs, onFatal, minFreeBytes: 0 })
    log = await lmdbEventLog(environment, { keeping: { trimEveryMs: Infinity } })
    await append('visits', 'kept')
    await deleteFolder(folder)
    const refused = (value: string): Promise<unknown> => append('visits', value).catch((reason: unknown) => reason)
    for (const error of await Promise.all([refused('lost'), refused('lost, too')])) {
      expect(error).to.be.instanceOf(LogUnavailable)
    }
    expect(await refused('too late')).to.be.instanceOf(LogUnavailable)
    expect(failures).to.deep.equal(['the data folder cannot be read'])
    expect(log.health().isAccepting).to.equal(false)
  })

  it('sets no timer while there is nothing to do', async () => {
    // lmdb ends its read transactions by short timers; what is left in the end is the one of this test itself.
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const consumer = await log.consume('visits', 'idle', async () => undefined, { maxEntries: 10, lingerMs: 1_000 })
    await append('visits', ...Array.from({ length: 10 }, String))
    const isBusy = async (): Promise<boolean> => (await log.lag()).some(({ entries }) => entries > 0) || timers() > 1
    while (await isBusy()) await new Promise((resolve) => setImmediate(resolve))
    expect(await log.lag()).to.deep.equal([{ topic: 'visits', group: 'idle', entries: 0 }])
    await consumer.close()
  })

  it('bounds a batch in bytes, whatever its count', async () => {
    const megabyte = 'x'.repeat(1024 * 1024)
    for (let round = 0; round < 3; round++) await append('visits', ...Array.from({ length: 8 }, () => megabyte))
    const read = await log.read('visits', 0, 1_000)
    expect(read.length).to.be.within(16, 20)
    expect((await log.read('visits', read.length, 1_000)).length).to.equal(24 - read.length)
  })

  it('gives the same entries from memory and from disk', async () => {
    const seen: StoredEntry[] = []
    const consumer = await log.consume('visits', 'g', async ({ entries }) => void seen.push(...entries), {
      maxEntries: 7,
    })
    const words = Array.from({ length: 300 }, (_, index) => `${'größer 😀'.repeat(index)}${index}`)
    await Promise.all(words.map((word) => append('visits', word)))
    while (seen.length < words.length) await new Promise((resolve) => setImmediate(resolve))
    await consumer.close()
    await close()
    await open()
    expect(await log.read('visits', 0, 1_000)).to.deep.equal(seen)
    expect(seen.map(valueOf)).to.deep.equal(words)
  })

  it('refuses a key that does not fit', async () => {
    const error: unknown = await log
      .append('visits', [{ key: 'k'.repeat(70_000), value: '' }])
      .catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(RangeError)
  })
})

function valueOf({ value }: StoredEntry): string {
  return value
}
