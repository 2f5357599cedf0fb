/** The EventLog contract with a spool in front, and what the spool adds. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'

import type { Topic } from '../../domain/records.ts'
import type { Entry, EventLog } from '../../ports/event-log/event-log.ts'
import { IN_HAND_MS, LogUnavailable } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { SPOOL_LOG_OPTIONS, spooledEventLog } from '../../ports/event-log/spool/spooled.ts'
import type { SpoolOptions, SpooledEventLog } from '../../ports/event-log/spool/spooled.ts'
import type { EventLogBounds, EventLogHarness } from './event-log.contract.ts'
import { eventLogContract } from './event-log.contract.ts'
import { deleteFolder, holdWriteLock, openTestEnvironment, temporaryFolder, testClock } from './lmdb-harness.ts'
import { until } from '../../fixtures/until.ts'

const QUICK = { retryMs: { first: 1, most: 20 }, recheckMs: 5 } as const
const ROOM: SpoolOptions = { maxBytes: 64 * 1024 * 1024 }

eventLogContract(
  'a spool in front of LMDB',
  async ({ inHandMs = IN_HAND_MS, ...bounds }: EventLogBounds = {}): Promise<EventLogHarness> => {
    const folders = await Promise.all([temporaryFolder(), temporaryFolder()])
    const clock = testClock()
    // A bounded queue refuses at once only if the spool behind it has no room either.
    const isBounded = Object.keys(bounds).length > 0
    let opened: { readonly log: SpooledEventLog; close(): Promise<void> }
    const open = async (): Promise<void> => {
      const environments = await Promise.all(folders.map((folder) => openTestEnvironment(folder, clock.nowMs)))
      const [log, spool] = await Promise.all(
        environments.map((environment, index) =>
          lmdbEventLog(environment, {
            ...(index === 1 ? {} : { bounds }),
            pace: index === 1 ? QUICK : { ...QUICK, inHandMs },
            keeping: { ...(index === 1 ? SPOOL_LOG_OPTIONS.keeping : {}), trimEveryMs: Infinity },
          }),
        ),
      )
      if (log === undefined || spool === undefined) throw new Error('two folders, two logs')
      const spooled = await spooledEventLog(log, spool, {
        ...ROOM,
        maxBytes: isBounded ? 0 : ROOM.maxBytes,
        nowMs: clock.nowMs,
      })
      const close = async (): Promise<void> => {
        await spooled.close()
        for (const environment of environments) await environment.close()
      }
      opened = { log: spooled, close }
    }
    await open()
    return {
      get log() {
        return opened.log
      },
      nowMs: clock.nowMs,
      advance: async (ms) => clock.set(clock.nowMs() + ms),
      reopen: () => opened.close().then(open),
      stall: async () => {
        const releases = await Promise.all(folders.map(holdWriteLock))
        return async () => void (await Promise.all(releases.map((release) => release())))
      },
      close: () => opened.close().then(async () => void (await Promise.all(folders.map(deleteFolder)))),
    }
  },
)

/** A log that a test switches off and on; what it took is in `stored`. */
function switchedLog(): EventLog & { isAway: boolean; readonly stored: { topic: Topic; entry: Entry }[] } {
  const stored: { topic: Topic; entry: Entry }[] = []
  return {
    isAway: false,
    stored,
    async append(topic, entries) {
      if (this.isAway) throw new LogUnavailable('away')
      for (const entry of entries) stored.push({ topic, entry })
    },
    consume: () => Promise.reject(new Error('nobody consumes here')),
    read: async () => [],
    async *readLast() {},
    lag: async () => [],
    progress: async () => ({ done: [7], ends: [9] }),
    health() {
      const idle = { queuedBytes: 0, maxQueuedBytes: 1, lastAppendAtMs: null, lastFetchAtMs: null }
      return { isAccepting: !this.isAway, refuses: this.isAway ? ('failing' as const) : null, ...idle }
    },
    close: async () => undefined,
  }
}

describe('a spool', () => {
  let folder: string
  let close: () => Promise<void> = async () => undefined

  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(async () => {
    await close()
    await deleteFolder(folder)
  })

  const open = async (log: EventLog, options: Partial<SpoolOptions> = {}): Promise<SpooledEventLog> => {
    const environment = await openTestEnvironment(folder, Date.now)
    const spool = await lmdbEventLog(environment, {
      pace: QUICK,
      keeping: { ...SPOOL_LOG_OPTIONS.keeping, trimEveryMs: 20 },
    })
    const spooled = await spooledEventLog(log, spool, { ...ROOM, closing: { drainMs: 0 }, ...options })
    close = async () => {
      close = async () => undefined
      await spooled.close()
      await environment.close()
    }
    return spooled
  }

  it('stays empty while the log takes everything', async () => {
    const log = switchedLog()
    const spooled = await open(log)
    await spooled.append('visits', [entry(1)])
    expect(spooled.spool()).to.deep.include({ entries: 0, bytes: 0, oldestAgeMs: null })
    expect(valuesOf(log, 'visits')).to.deep.equal(['1'])
  })

  it('keeps the order when the log comes back while appends go on', async () => {
    const log = switchedLog()
    const told: boolean[] = []
    const spooled = await open(log, { onSpooling: (isSpooling) => told.push(isSpooling) })
    for (let number = 0; number < 300; number++) {
      if (number === 20) log.isAway = true
      if (number === 150) log.isAway = false
      await spooled.append('visits', [entry(number)])
    }
    await until(() => spooled.spool().entries === 0)
    await spooled.append('visits', [entry(300)])
    expect(valuesOf(log, 'visits')).to.deep.equal(numbers(301).map(String))
    expect(told).to.deep.equal([true, false])
  })

  it('holds back the topic that waits and no other', async () => {
    const log = switchedLog()
    log.isAway = true
    const spooled = await open(log)
    await spooled.append('visits', [entry(1)])
    expect(spooled.spool().entries).to.equal(1)
    expect(spooled.health().isAccepting).to.equal(true)
    log.isAway = false
    await until(() => valuesOf(log, 'visits').length === 1)
    await spooled.append('installs', [entry(2)])
    await until(() => valuesOf(log, 'installs').length === 1)
  })

  it('lets no group have passed what it holds', async () => {
    const log = switchedLog()
    const spooled = await open(log)
    expect(await spooled.progress('activations', 'facts-writer')).to.deep.equal({ done: [7], ends: [9] })
    log.isAway = true
    await spooled.append('activations', [entry(1)])
    expect(await spooled.progress('activations', 'facts-writer')).to.deep.equal({ done: [null], ends: [null] })
    expect(await spooled.progress('visits', 'facts-writer')).to.deep.equal({ done: [7], ends: [9] })
  })

  describe('holds an install behind what it may rest on', () => {
    /** Where the log refuses some topics only, as one does whose brokers lead some partitions. */
    const partlyAway = (...away: readonly Topic[]): ReturnType<typeof switchedLog> & { away: readonly Topic[] } => {
      const log = switchedLog()
      const append = log.append.bind(log)
      return Object.assign(log, {
        away,
        async append(topic: Topic, entries: readonly Entry[]) {
          if (this.away.includes(topic)) throw new LogUnavailable('away')
          return append(topic, entries)
        },
      })
    }

    for (const topic of ['visits', 'activations'] as const) {
      it(`${topic} that wait, although the log would take the install`, async () => {
        const log = partlyAway(topic)
        const spooled = await open(log)
        await spooled.append('installs', [entry(0)])
        await spooled.append(topic, [entry(1)])
        // For a moment after a refusal everything goes to the spool.
        await until(async () => {
          await spooled.append('requests', [entry(9)])
          return valuesOf(log, 'requests').length > 0 && spooled.spool().entries === 1
        })
        await spooled.append('installs', [entry(2)])
        expect(spooled.spool().entries).to.equal(2)
        log.away = []
        await until(() => spooled.spool().entries === 0)
        const ofBoth = log.stored.filter((one) => one.topic !== 'requests')
        const told = ofBoth.map(({ topic: of, entry: { value } }) => `${of} ${value}`)
        expect(told).to.deep.equal(['installs 0', `${topic} 1`, 'installs 2'])
      })
    }

    it('also after a restart', async () => {
      const first = partlyAway('activations', 'installs')
      const spooled = await open(first)
      await spooled.append('activations', [entry(1)])
      await spooled.append('installs', [entry(2)])
      await close()
      const log = partlyAway('activations')
      const again = await open(log)
      await again.append('requests', [entry(3)])
      expect(valuesOf(log, 'installs')).to.deep.equal([])
      log.away = []
      await until(() => again.spool().entries === 0)
      expect(valuesOf(log, 'activations')).to.deep.equal(['1'])
      expect(log.stored.findIndex(({ topic }) => topic === 'activations')).to.be.below(
        log.stored.findIndex(({ topic }) => topic === 'installs'),
      )
    })

    it('and lets one go that is older than all of that', async () => {
      const log = partlyAway('activations', 'installs')
      const spooled = await open(log)
      await spooled.append('installs', [entry(1)])
      await wait(5)
      await spooled.append('activations', [entry(2)])
      log.away = ['activations']
      await until(() => valuesOf(log, 'installs').length === 1)
      expect(spooled.spool().entries).to.equal(1)
    })
  })

  it('refuses when it is full, keeps what it took, and takes more when it has room', async () => {
    const log = switchedLog()
    log.isAway = true
    const spooled = await open(log, { maxBytes: 5_000 })
    const outcomes = await Promise.all(
      numbers(20).map((number) => rejection(spooled.append('visits', [entry(number, 1_000)]))),
    )
    const refused = outcomes.filter((outcome) => outcome !== null)
    expect(refused).to.have.length(16)
    expect(refused.every((outcome) => outcome instanceof LogUnavailable)).to.equal(true)
    expect(spooled.spool().bytes).to.be.at.most(5_000)
    log.isAway = false
    await until(() => spooled.spool().entries === 0)
    await spooled.append('visits', [entry(20)])
    await until(() => log.stored.length === 5)
  })

  it('refuses an entry that the log would never take, and is not blocked by it', async () => {
    const log = switchedLog()
    log.isAway = true
    const spooled = await open(log, { maxEntryBytes: 1_000 })
    expect(await rejection(spooled.append('visits', [entry(1, 2_000)]))).to.be.instanceOf(RangeError)
    await spooled.append('visits', [entry(2)])
    log.isAway = false
    await until(() => log.stored.length === 1)
  })

  it('continues after a restart at its position, and knows what it holds', async () => {
    const log = switchedLog()
    log.isAway = true
    let spooled = await open(log)
    for (const topic of ['visits', 'installs'] as const) {
      for (const number of numbers(50)) await spooled.append(topic, [entry(number)])
    }
    const { bytes } = spooled.spool()
    await close()
    spooled = await open(log)
    expect(spooled.spool()).to.deep.include({ entries: 100, bytes })
    expect(spooled.spool().oldestAgeMs).to.be.a('number')
    log.isAway = false
    await spooled.append('visits', [entry(50)])
    await until(() => spooled.spool().entries === 0)
    expect(valuesOf(log, 'visits')).to.deep.equal(numbers(51).map(String))
    expect(valuesOf(log, 'installs')).to.deep.equal(numbers(50).map(String))
  })

  it('counts only what is left if it had copied the first half of what was appended at once', async () => {
    const log = switchedLog()
    log.isAway = true
    let spooled = await open(log)
    await spooled.append(
      'visits',
      numbers(3_000).map((number) => entry(number)),
    )
    const append = log.append.bind(log)
    log.append = async (topic, entries) => {
      await append(topic, entries)
      log.isAway = true
    }
    log.isAway = false
    await until(() => log.stored.length > 0)
    const copied = log.stored.length
    await close()
    spooled = await open(log)
    expect(copied).to.be.within(1, 2_999)
    expect(spooled.spool().entries).to.equal(3_000 - copied)
    log.append = append
    log.isAway = false
    await until(() => spooled.spool().entries === 0)
    expect(valuesOf(log, 'visits')).to.deep.equal(numbers(3_000).map(String))
  })

  it('is brought to the log when it is closed, as far as the log takes it in time', async () => {
    const log = switchedLog()
    log.isAway = true
    const spooled = await open(log, { closing: { drainMs: 30_000, stalledMs: 30_000 } })
    for (const number of numbers(10)) await spooled.append('visits', [entry(number)])
    log.isAway = false
    await close()
    expect(valuesOf(log, 'visits')).to.deep.equal(numbers(10).map(String))
  })

  it('is left alone when it is closed while the log stays away', async () => {
    const log = switchedLog()
    log.isAway = true
    const spooled = await open(log, { closing: { drainMs: 30_000, stalledMs: 30 } })
    await spooled.append('visits', [entry(1)])
    await close()
    expect((await open(log)).spool().entries).to.equal(1)
  })

  it('counts an entry whose time is over only as long as it may still be stored', async () => {
    const log = switchedLog()
    log.isAway = true
    const spooled = await open(log)
    const release = await holdWriteLock(folder)
    try {
      // The first is being written when the second comes, which waits for its turn and is never stored.
      const first = rejection(spooled.append('visits', [entry(1)], { deadlineMs: 400 }))
      await wait(100)
      expect(await rejection(spooled.append('visits', [entry(2)], { deadlineMs: 100 }))).to.be.instanceOf(
        LogUnavailable,
      )
      expect(await first).to.be.instanceOf(LogUnavailable)
      // Longer than the pause between two looks at topics without appends.
      await wait(1_200)
      expect(spooled.spool().entries).to.equal(1)
    } finally {
      await release()
    }
    log.isAway = false
    await until(() => log.stored.length === 1)
    await until(() => spooled.spool().entries === 0)
    expect(valuesOf(log, 'visits')).to.deep.equal(['1'])
  })

  it('gives its room on the disk free', async () => {
    const log = switchedLog()
    const spooled = await open(log)
    for (let round = 0; round < 2; round++) {
      log.isAway = true
      for (const number of numbers(40)) await spooled.append('visits', [entry(number, 50_000)])
      log.isAway = false
      await until(() => spooled.spool().entries === 0)
    }
    await close()
    expect((await open(log)).spool().bytes).to.be.lessThan(1_000_000)
  })
})

function entry(number: number, length = 0): Entry {
  return { key: 'acme:same', value: `${number}`.padEnd(length) }
}

function valuesOf(log: { readonly stored: readonly { topic: Topic; entry: Entry }[] }, topic: Topic): string[] {
  return log.stored.filter((one) => one.topic === topic).map(({ entry: { value } }) => value.trim())
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return null
}
