/** What every EventLog adapter promises, as tests that any adapter joins with an `open` of its own. */

import { expect } from 'chai'

import type { Offsets } from '../../domain/collection/facts-lag.ts'
import type { Topic } from '../../domain/records.ts'
import type {
  Batch,
  BatchOutcome,
  Consumer,
  Entry,
  EventLog,
  Newest,
  StoredEntry,
} from '../../ports/event-log/event-log.ts'
import { LogUnavailable, MAX_OPEN_ENTRIES } from '../../ports/event-log/event-log.ts'
import { until } from '../../fixtures/until.ts'

export interface EventLogHarness {
  /** The log under test; another object after `reopen`. */
  readonly log: EventLog
  /** Time as the log's consumers see it, Unix ms. */
  nowMs(): number
  /** Lets that much of this time pass. */
  advance(ms: number): Promise<void>
  /** Closes the log and opens it again on the same data. */
  reopen(): Promise<void>
  /** Keeps the store from finishing writes until the returned function is called. */
  stall(): Promise<() => Promise<void>>
  /** Closes and deletes everything. */
  close(): Promise<void>
}

export interface EventLogBounds {
  readonly maxEntries?: number
  readonly maxBytes?: number
  readonly inHandMs?: number
}

const TOPIC: Topic = 'visits'
const OTHER_TOPIC: Topic = 'installs'

export function eventLogContract(name: string, open: (bounds?: EventLogBounds) => Promise<EventLogHarness>): void {
  describe(`EventLog contract: ${name}`, () => {
    let harness: EventLogHarness

    beforeEach(async () => {
      harness = await open()
    })
    afterEach(async () => {
      await harness.close()
    })

    const append = (...values: string[]): Promise<void> => harness.log.append(TOPIC, values.map(entry))
    const collect = (group: string, maxEntries = 100): Promise<Collector> =>
      collector(harness.log, { topic: TOPIC, group, maxEntries })

    describe('append', () => {
      it('hands key and value back exactly as they were', async () => {
        const entries = [
          { key: 'acme:1', value: '' },
          { key: 'schlüssel:日本', value: 'ein Wert 😀 with \u0000 and "quotes"' },
          { key: 'acme:2', value: 'x'.repeat(100_000) },
        ]
        await harness.log.append(TOPIC, entries)
        const { entries: seen } = await collect('g').then((all) => all.until(3))
        expect(seen.map(({ key, value }) => ({ key, value }))).to.have.deep.members(entries)
      })

      it('stores 20 concurrent appends at 20 distinct places', async () => {
        await Promise.all(numbers(20).map((number) => append(`value ${number}`)))
        const { places, values } = await collect('g').then((all) => all.until(20))
        expect(new Set(places).size).to.equal(20)
        expect(new Set(values).size).to.equal(20)
      })

      it('stores 5,000 concurrent appends once each', async () => {
        const patience = { deadlineMs: 30_000 }
        const appends = numbers(5_000).map((number) => harness.log.append(TOPIC, [entry(`value ${number}`)], patience))
        await Promise.all(appends)
        const { values, places } = await collect('g', 700).then((all) => all.until(5_000))
        expect(new Set(values).size).to.equal(5_000)
        expect(new Set(places).size).to.equal(5_000)
      })

      it('keeps the entries of one call in order', async () => {
        const values = numbers(50).map((number) => `value ${number}`)
        await harness.log.append(
          TOPIC,
          values.map((value) => ({ key: 'acme:same', value })),
        )
        expect((await collect('g', 7).then((all) => all.until(50))).values).to.deep.equal(values)
      })

      it('keeps appends with the same key in the order of the calls', async () => {
        const calls = numbers(200).map((number) =>
          harness.log.append(TOPIC, [{ key: `acme:${number % 3}`, value: `${number % 3}:${number}` }]),
        )
        await Promise.all(calls)
        const { values } = await collect('g', 13).then((all) => all.until(200))
        for (const key of ['0', '1', '2']) {
          const order = values.filter((value) => value.startsWith(`${key}:`)).map((value) => Number(value.slice(2)))
          expect(order).to.deep.equal(order.toSorted((left, right) => left - right))
        }
      })

      it('takes an empty list without storing anything', async () => {
        await harness.log.append(TOPIC, [])
        await append('real')
        expect((await collect('g').then((all) => all.until(1))).values).to.deep.equal(['real'])
      })

      it('keeps what it acknowledged across a reopen', async () => {
        await Promise.all(numbers(100).map((number) => append(`value ${number}`)))
        await harness.reopen()
        await append('after')
        const { values, places } = await collect('g').then((all) => all.until(101))
        expect(new Set(values).size).to.equal(101)
        expect(new Set(places).size).to.equal(101)
      })

      it('refuses with LogUnavailable once the deadline has passed', async () => {
        const release = await harness.stall()
        const refusal = await rejection(harness.log.append(TOPIC, [entry('late')], { deadlineMs: 50 }))
        await release()
        expect(refusal).to.be.instanceOf(LogUnavailable)
      })

      it('ends every append of a stalled store, and takes new ones when it moves again', async () => {
        const release = await harness.stall()
        const refusals = await Promise.all(
          numbers(30).map((number) => rejection(harness.log.append(TOPIC, [entry(`${number}`)], { deadlineMs: 50 }))),
        )
        await release()
        expect(refusals.every((refusal) => refusal instanceof LogUnavailable)).to.equal(true)
        await eventually(() => append('moves again'))
        expect(harness.log.health().isAccepting).to.equal(true)
      })
    })

    describe('a full queue', () => {
      for (const [what, bounds] of [
        ['entries', { maxEntries: 10 }],
        ['bytes', { maxBytes: 10_000 }],
      ] as const) {
        it(`refuses at once by ${what}, and takes entries again when it has room`, async () => {
          await harness.close()
          harness = await open(bounds)
          await append('first')
          const release = await harness.stall()
          const waiting = numbers(10).map((number) =>
            harness.log.append(TOPIC, [entry(`${number}`.padEnd(900))], { deadlineMs: 10_000 }),
          )
          const refusal = await rejection(
            harness.log.append(TOPIC, [entry('one too many'.padEnd(2_000))], { deadlineMs: 60_000 }),
          )
          expect(refusal).to.be.instanceOf(LogUnavailable)
          expect(harness.log.health().queuedBytes).to.be.greaterThan(9_000)
          await release()
          await Promise.all(waiting)
          await append('fits again')
          const { values } = await collect('g').then((all) => all.until(12))
          expect(values).to.not.include('one too many'.padEnd(2_000))
          expect(harness.log.health().queuedBytes).to.equal(0)
        })
      }
    })

    describe('consume', () => {
      it('hands over entries that arrive later', async () => {
        const all = await collect('g')
        await append('later')
        expect((await all.until(1)).values).to.deep.equal(['later'])
      })

      it('never hands over more than maxEntries nor an empty batch', async () => {
        await harness.log.append(TOPIC, numbers(25).map(String).map(entry))
        const all = await collect('g', 10)
        await all.until(25)
        for (const batch of all.batches) expect(batch.entries.length).to.be.within(1, 10)
      })

      it('says topic, partition, ascending offsets and the time of the append', async () => {
        const beforeMs = harness.nowMs()
        await harness.log.append(TOPIC, numbers(5).map(String).map(entry))
        const all = await collect('g')
        const { entries } = await all.until(5)
        for (const batch of all.batches) {
          expect(batch.topic).to.equal(TOPIC)
          const offsets = batch.entries.map(({ offset }) => offset)
          expect(offsets).to.deep.equal(offsets.toSorted((left, right) => left - right))
        }
        for (const { appendedAtMs } of entries) expect(appendedAtMs).to.be.within(beforeMs, harness.nowMs() + 5_000)
      })

      it('hands a batch over again until its handler resolves, and nothing behind it before', async () => {
        await harness.log.append(
          TOPIC,
          numbers(4).map((number) => ({ key: 'acme:same', value: `${number}` })),
        )
        const seen: string[] = []
        let failuresLeft = 3
        const consumer = await harness.log.consume(
          TOPIC,
          'g',
          async ({ entries }) => {
            seen.push(entries.map(({ value }) => value).join())
            if (failuresLeft-- > 0) throw new Error('not yet')
          },
          { maxEntries: 2 },
        )
        await until(() => seen.length >= 5)
        await consumer.close()
        expect(seen).to.deep.equal(['0,1', '0,1', '0,1', '0,1', '2,3'])
      })

      it('hands over again what a handler did not finish', async () => {
        await harness.log.append(
          TOPIC,
          numbers(5).map((number) => ({ key: 'acme:same', value: `${number}` })),
        )
        const seen: string[] = []
        const consumer = await harness.log.consume(
          TOPIC,
          'g',
          async ({ entries }) => {
            seen.push(entries.map(({ value }) => value).join(''))
            return { done: 2 }
          },
          { maxEntries: 5 },
        )
        await until(() => seen.length >= 3)
        await consumer.close()
        expect(seen).to.deep.equal(['01234', '234', '4'])
      })

      describe('of which a handler has taken over batches', () => {
        const inOrder = (count: number): Promise<void> =>
          harness.log.append(
            TOPIC,
            numbers(count).map((number) => ({ key: 'acme:same', value: `${number}` })),
          )
        /** Takes over every entry by itself; `release` finishes one, `fail` does not. */
        const takeOver = async () => {
          const seen: string[] = []
          const open = new Map<string, PromiseWithResolvers<void>>()
          const consumer = await harness.log.consume(
            TOPIC,
            'g',
            async ({ entries }) => {
              const value = entries.map((each) => each.value).join('')
              seen.push(value)
              const taken = Promise.withResolvers<void>()
              open.set(value, taken)
              return { done: entries.length, until: taken.promise }
            },
            { maxEntries: 1 },
          )
          return { seen, consumer, release: (value: string) => open.get(value)?.resolve(), open }
        }
        const done = async (): Promise<number> => {
          const offsets = (await harness.log.progress(TOPIC, 'g')).done
          return offsets.reduce<number>((sum, offset) => sum + (offset ?? 0), 0)
        }

        it('hands over the next ones at once, and commits up to the lowest that is not finished', async () => {
          await inOrder(4)
          const { seen, consumer, release } = await takeOver()
          const before = await done()
          await until(() => seen.length === 4)
          release('1')
          release('3')
          await turn()
          expect(await done()).to.equal(before)
          release('0')
          await until(async () => (await done()) === before + 2)
          release('2')
          await until(async () => (await done()) === before + 4)
          await consumer.close()
          expect(seen).to.deep.equal(['0', '1', '2', '3'])
        })

        it('waits for them when it stops, and hands over again what was not finished in time', async () => {
          await harness.close()
          harness = await open({ inHandMs: 50 })
          await inOrder(3)
          const { seen, consumer, release } = await takeOver()
          await until(() => seen.length === 3)
          release('0')
          release('2')
          await consumer.close()
          const next = await collect('g')
          await next.until(2)
          expect(next.seen().values).to.deep.equal(['1', '2'])
        })

        it('hands over again everything from one on that failed', async () => {
          await inOrder(3)
          const { seen, consumer, release, open: taken } = await takeOver()
          await until(() => seen.length === 3)
          release('0')
          release('2')
          taken.get('1')?.reject(new Error('not recorded'))
          await until(() => seen.length === 5)
          release('1')
          release('2')
          await consumer.close()
          expect(seen).to.deep.equal(['0', '1', '2', '1', '2'])
          await append('next')
          expect((await collect('g').then((all) => all.until(1))).values).to.deep.equal(['next'])
        })

        it('hands over no more than a bounded number beyond the lowest', async () => {
          const more = 3
          await inOrder(MAX_OPEN_ENTRIES + more)
          const held = Promise.withResolvers<void>()
          let taken = 0
          const consumer = await harness.log.consume(
            TOPIC,
            'g',
            async ({ entries }) => {
              taken += entries.length
              return { done: entries.length, until: held.promise }
            },
            { maxEntries: 500 },
          )
          await until(() => taken >= MAX_OPEN_ENTRIES)
          await turn()
          expect(taken).to.be.below(MAX_OPEN_ENTRIES + 500)
          const before = taken
          held.resolve()
          if (before < MAX_OPEN_ENTRIES + more) await until(() => taken === MAX_OPEN_ENTRIES + more)
          await consumer.close()
        })
      })

      it('holds a partition until resumeAtMs without holding other topics or groups', async () => {
        await harness.log.append(
          TOPIC,
          numbers(3).map((number) => ({ key: 'acme:same', value: `${number}` })),
        )
        const held: string[] = []
        const resumeAtMs = harness.nowMs() + 400
        const consumer = await harness.log.consume(
          TOPIC,
          'held',
          async ({ entries }): Promise<BatchOutcome | void> => {
            held.push(entries.map(({ value }) => value).join(''))
            if (held.length === 1) return { done: 1, resumeAtMs }
          },
          { maxEntries: 3 },
        )
        await until(() => held.length === 1)
        const others = await collect('not-held')
        await append('wakes nobody')
        await harness.log.append(OTHER_TOPIC, [entry('elsewhere')])
        const elsewhere = await collector(harness.log, { topic: OTHER_TOPIC, group: 'held', maxEntries: 1 })
        await Promise.all([others.until(4), elsewhere.until(1)])
        if (harness.nowMs() < resumeAtMs) expect(held).to.deep.equal(['012'])
        await harness.advance(400)
        await until(() => held.join('').includes('wakes nobody'))
        await consumer.close()
        expect(held.slice(1).join('')).to.equal('12wakes nobody')
      })

      it('waits for company until the oldest entry has lingered', async () => {
        const all = await collector(harness.log, { topic: TOPIC, group: 'g', maxEntries: 3, lingerMs: 500 })
        await append('lonely')
        await append('second')
        await append('third fills the batch')
        await all.until(3)
        expect(all.batches.map(({ entries }) => entries.length)).to.deep.equal([3])
        await append('lonely again')
        await harness.advance(500)
        expect((await all.until(4)).values.at(-1)).to.equal('lonely again')
      })

      it('shows two groups everything each', async () => {
        const [left, right] = await Promise.all([collect('left', 3), collect('right', 4)])
        await harness.log.append(TOPIC, numbers(10).map(String).map(entry))
        const [seenLeft, seenRight] = await Promise.all([left.until(10), right.until(10)])
        expect(new Set(seenLeft.values).size).to.equal(10)
        expect(new Set(seenRight.values).size).to.equal(10)
      })

      it('hands no entry to two consumers of one group', async () => {
        const [left, right] = await Promise.all([collect('g', 5), collect('g', 5)])
        await Promise.all(numbers(300).map((number) => append(`${number}`)))
        await until(() => left.count() + right.count() >= 300)
        await Promise.all([left.consumer.close(), right.consumer.close()])
        const places = [...left.seen().places, ...right.seen().places]
        expect(places.length).to.equal(300)
        expect(new Set(places).size).to.equal(300)
      })

      it('lets the other consumer of a group take over when one stops', async () => {
        const [left, right] = await Promise.all([collect('g'), collect('g')])
        await left.consumer.close()
        const before = left.count()
        await append('for the one that stays')
        expect((await right.until(1)).values).to.deep.equal(['for the one that stays'])
        expect(left.count()).to.equal(before)
      })

      it('begins a new group at the oldest entry, or at the newest on request', async () => {
        await append('early')
        const newest: string[] = []
        const consumer = await harness.log.consume(
          TOPIC,
          'newest',
          async ({ entries }) => void newest.push(...entries.map(({ value }) => value)),
          { maxEntries: 10, from: 'newest' },
        )
        await append('late')
        const { values } = await collect('oldest').then((all) => all.until(2))
        await until(() => newest.length > 0)
        await consumer.close()
        expect(new Set(values)).to.deep.equal(new Set(['early', 'late']))
        expect(newest).to.deep.equal(['late'])
      })

      it('stops after the batch in hand and commits what it did', async () => {
        const started = Promise.withResolvers<void>()
        const finish = Promise.withResolvers<void>()
        const handler = (): Promise<void> => {
          started.resolve()
          return finish.promise
        }
        const consumer = await harness.log.consume(TOPIC, 'g', handler, { maxEntries: 1 })
        await append('in hand')
        await started.promise
        await append('behind')
        let isStopped = false
        const stopping = consumer.close().then(() => (isStopped = true))
        await turn()
        expect(isStopped).to.equal(false)
        finish.resolve()
        await stopping
        await harness.reopen()
        expect((await collect('g').then((all) => all.until(1))).values).to.deep.equal(['behind'])
      })

      it('gives up a batch whose handler hangs and redelivers it; its late end is ignored', async () => {
        await harness.close()
        harness = await open({ inHandMs: 50 })
        const started = Promise.withResolvers<void>()
        const hanging = Promise.withResolvers<void>()
        const handler = (): Promise<void> => {
          started.resolve()
          return hanging.promise
        }
        const consumer = await harness.log.consume(TOPIC, 'g', handler, { maxEntries: 1 })
        await append('in hand')
        await started.promise
        await consumer.close()
        hanging.resolve()
        await turn()
        await harness.reopen()
        expect((await collect('g').then((all) => all.until(1))).values).to.deep.equal(['in hand'])
      })

      it("continues after a reopen at the group's position", async () => {
        await harness.log.append(
          TOPIC,
          numbers(5).map((number) => ({ key: 'acme:same', value: `${number}` })),
        )
        const first = await collect('g', 5)
        await first.until(5)
        await harness.reopen()
        await append('next')
        expect((await collect('g').then((all) => all.until(1))).values).to.deep.equal(['next'])
      })

      it('hands over again after a reopen what no handler finished', async () => {
        await append('stubborn')
        let attempts = 0
        await harness.log.consume(
          TOPIC,
          'g',
          async () => {
            attempts++
            throw new Error('never')
          },
          { maxEntries: 1 },
        )
        await until(() => attempts > 0)
        await harness.reopen()
        expect((await collect('g').then((all) => all.until(1))).values).to.deep.equal(['stubborn'])
      })
    })

    describe('rewind', () => {
      const appendInOrder = (first: number, count: number): Promise<void> =>
        harness.log.append(
          TOPIC,
          numbers(count).map((number) => ({ key: 'acme:same', value: `${first + number}` })),
        )

      it('hands over again what was appended since then, in order, and continues from there', async () => {
        await appendInOrder(0, 3)
        await harness.advance(20)
        const sinceMs = harness.nowMs()
        await appendInOrder(3, 3)
        const all = await collect('g', 2)
        await all.until(6)
        await all.consumer.rewind(sinceMs)
        await all.until(9)
        await appendInOrder(6, 1)
        const { values } = await all.until(10)
        expect(values.join('')).to.equal('0123453456')
        await all.consumer.close()
        expect((await harness.log.lag()).map(({ entries }) => entries)).to.deep.equal([0])
      })

      it('waits for the batch in hand, and survives a reopen', async () => {
        const sinceMs = harness.nowMs() - 1
        await appendInOrder(0, 4)
        const started = Promise.withResolvers<void>()
        const finish = Promise.withResolvers<void>()
        let isOver = false
        const consumer = await harness.log.consume(
          TOPIC,
          'g',
          async ({ entries }): Promise<BatchOutcome> => {
            if (isOver) return { done: 0, resumeAtMs: harness.nowMs() + 600_000 }
            if (entries[0]?.value !== '2') return { done: entries.length }
            started.resolve()
            await finish.promise
            isOver = true
            return { done: entries.length }
          },
          { maxEntries: 2 },
        )
        await started.promise
        let isBack = false
        const rewound = consumer.rewind(sinceMs).then(() => (isBack = true))
        await turn()
        expect(isBack).to.equal(false)
        finish.resolve()
        await rewound
        await consumer.close()
        await harness.reopen()
        expect((await collect('g', 4).then((all) => all.until(4))).values.join('')).to.equal('0123')
      })

      it('goes back even if this consumer was handed nothing so far, because the group had done everything', async () => {
        const sinceMs = harness.nowMs() - 1
        await appendInOrder(0, 3)
        const before = await collect('g', 3)
        await before.until(3)
        await before.consumer.close()
        const after = await collect('g', 3)
        await after.consumer.rewind(sinceMs)
        expect((await after.until(3)).values.join('')).to.equal('012')
        await after.consumer.close()
      })

      it('never goes forward', async () => {
        await appendInOrder(0, 2)
        let failuresLeft = 1
        const seen: string[] = []
        const consumer = await harness.log.consume(
          TOPIC,
          'g',
          async ({ entries }) => {
            seen.push(...entries.map(({ value }) => value))
            if (failuresLeft-- > 0) throw new Error('not yet')
          },
          { maxEntries: 2 },
        )
        await until(() => seen.length >= 2)
        await consumer.rewind(harness.nowMs() + 60_000)
        await until(() => seen.length >= 4)
        await consumer.close()
        expect(seen.join('')).to.equal('0101')
      })
    })

    describe('read', () => {
      it('reads from an offset on without moving any group', async () => {
        const seen = await collect('g')
        await harness.log.append(
          TOPIC,
          numbers(10).map((number) => ({ key: 'acme:same', value: `${number}` })),
        )
        await seen.until(10)
        await seen.consumer.close()
        const offsets = seen.seen().entries.map(({ offset }) => offset)
        const read = await harness.log.read(TOPIC, offsets[4] ?? -1, 3)
        expect(read.map(({ value }) => value)).to.deep.equal(['4', '5', '6'])
        expect(read.map(({ offset }) => offset)).to.deep.equal(offsets.slice(4, 7))
        expect((await harness.log.lag()).map(({ entries }) => entries)).to.deep.equal([0])
      })

      it('reads nothing from an empty topic or behind the end', async () => {
        await append('only')
        expect(await harness.log.read(TOPIC, 1_000, 10)).to.deep.equal([])
        expect(await harness.log.read(OTHER_TOPIC, 0, 10)).to.deep.equal([])
      })
    })

    describe('readLast', () => {
      const last = async (newest: Newest, topic = TOPIC): Promise<string[]> => {
        const values: string[] = []
        for await (const page of harness.log.readLast(topic, newest)) values.push(...page.map(({ value }) => value))
        return values
      }
      const appendInOrder = (first: number, count: number): Promise<void> =>
        harness.log.append(
          TOPIC,
          numbers(count).map((number) => ({ key: 'acme:same', value: `${first + number}` })),
        )

      it('gives the last entries in order, and all if there are fewer', async () => {
        await appendInOrder(0, 2_500)
        await appendInOrder(2_500, 1)
        expect(await last({ entries: 2_100 })).to.deep.equal(numbers(2_100).map((number) => `${number + 401}`))
        expect(await last({ entries: 1 })).to.deep.equal(['2500'])
        expect(await last({ entries: 1_000_000 })).to.have.length(2_501)
      })

      it('gives what was appended within a time before the newest entry, however long ago that is', async () => {
        await appendInOrder(0, 3)
        await harness.advance(3_000)
        await appendInOrder(3, 2)
        await harness.advance(100)
        await appendInOrder(5, 2)
        await harness.advance(2_000)
        expect(await last({ windowMs: 1_500 })).to.deep.equal(['3', '4', '5', '6'])
        expect(await last({ windowMs: 1_000_000 })).to.deep.equal(numbers(7).map(String))
      })

      it('gives all from an offset on, up to the end, and nothing behind it', async () => {
        await appendInOrder(0, 2_500)
        const { ends } = await harness.log.progress(TOPIC, 'g')
        expect(await last({ from: [2_000] })).to.deep.equal(numbers(500).map((number) => `${number + 2_000}`))
        expect(await last({ from: ends })).to.deep.equal([])
        expect(await last({ from: [] })).to.have.length(2_500)
        await appendInOrder(2_500, 3)
        expect(await last({ from: ends })).to.deep.equal(['2500', '2501', '2502'])
        expect(await last({ from: [0] }, OTHER_TOPIC)).to.deep.equal([])
      })

      it('gives nothing of an empty topic, and moves no group', async () => {
        await append('only')
        expect(await last({ entries: 10 }, OTHER_TOPIC)).to.deep.equal([])
        expect(await last({ windowMs: 1_000 }, OTHER_TOPIC)).to.deep.equal([])
        expect(await last({ entries: 10 })).to.deep.equal(['only'])
        expect((await collect('g').then((all) => all.until(1))).values).to.deep.equal(['only'])
      })

      it('gives the same after a reopen', async () => {
        await appendInOrder(0, 5)
        await harness.reopen()
        expect(await last({ entries: 2 })).to.deep.equal(['3', '4'])
      })
    })

    describe('lag', () => {
      it('counts what each group has not finished', async () => {
        const all = await collect('g')
        await harness.log.append(TOPIC, numbers(3).map(String).map(entry))
        await all.until(3)
        await all.consumer.close()
        await harness.log.append(TOPIC, numbers(4).map(String).map(entry))
        expect(await harness.log.lag()).to.deep.include({ topic: TOPIC, group: 'g', entries: 4 })
      })
    })

    describe('progress', () => {
      /** Of offsets that are all known. */
      const sum = (offsets: Offsets): number =>
        offsets.reduce<number>((total, offset) => total + (offset ?? Number.NaN), 0)

      it('shows by partition how far a group has come, and where the topic ends', async () => {
        const all = await collect('g')
        await harness.log.append(TOPIC, numbers(3).map(String).map(entry))
        await all.until(3)
        await all.consumer.close()
        const caughtUp = await harness.log.progress(TOPIC, 'g')
        expect(caughtUp.done).to.deep.equal(caughtUp.ends)
        expect(sum(caughtUp.ends)).to.equal(3)
        await harness.log.append(TOPIC, numbers(4).map(String).map(entry))
        const behind = await harness.log.progress(TOPIC, 'g')
        expect(behind.done).to.deep.equal(caughtUp.done)
        expect(sum(behind.ends)).to.equal(7)
      })

      it('knows of an append as soon as it has resolved', async () => {
        for (const number of numbers(20)) {
          await append(String(number))
          expect(sum((await harness.log.progress(TOPIC, 'g')).ends)).to.equal(number + 1)
        }
      })

      it('counts a group that has not begun as having done nothing', async () => {
        await append('one')
        expect(sum((await harness.log.progress(TOPIC, 'nobody')).done)).to.equal(0)
        expect(sum((await harness.log.progress(OTHER_TOPIC, 'nobody')).ends)).to.equal(0)
      })
    })

    describe('health and close', () => {
      it('says when it last stored something', async () => {
        const idle = { queuedBytes: 0, lastAppendAtMs: null, lastFetchAtMs: null }
        expect(harness.log.health()).to.deep.include({ isAccepting: true, ...idle })
        expect(harness.log.health().maxQueuedBytes).to.be.greaterThan(0)
        await append('one')
        const { lastAppendAtMs } = harness.log.health()
        expect(lastAppendAtMs).to.be.a('number')
      })

      it('says when a consumer last heard from the store', async () => {
        await append('one')
        await collect('g').then((all) => all.until(1))
        expect(harness.log.health().lastFetchAtMs).to.be.a('number')
      })

      it('refuses appends after close', async () => {
        await harness.log.close()
        expect(harness.log.health().isAccepting).to.equal(false)
        expect(await rejection(append('too late'))).to.be.instanceOf(LogUnavailable)
      })

      it('finishes what it took before close', async () => {
        const taken = numbers(20).map((number) => append(`${number}`))
        const closing = harness.log.close()
        await Promise.all([...taken, closing])
        await harness.reopen()
        expect((await collect('g').then((all) => all.until(20))).entries.length).to.equal(20)
      })
    })
  })
}

interface Seen {
  readonly entries: readonly StoredEntry[]
  readonly values: readonly string[]
  readonly places: readonly string[]
}

interface Collector {
  readonly consumer: Consumer
  readonly batches: readonly Batch[]
  count(): number
  seen(): Seen
  until(count: number): Promise<Seen>
}

async function collector(
  log: EventLog,
  { topic, group, ...options }: { topic: Topic; group: string; maxEntries: number; lingerMs?: number },
): Promise<Collector> {
  const batches: Batch[] = []
  const handler = async (batch: Batch): Promise<void> => void batches.push(batch)
  const consumer = await log.consume(topic, group, handler, options)
  const count = (): number => batches.reduce((sum, batch) => sum + batch.entries.length, 0)
  const seen = (): Seen => {
    const entries = batches.flatMap((batch) => batch.entries)
    const places = batches.flatMap((batch) => batch.entries.map(({ offset }) => `${batch.partition}/${offset}`))
    return { entries, places, values: entries.map(({ value }) => value) }
  }
  return {
    consumer,
    batches,
    count,
    seen,
    async until(wanted) {
      await until(() => count() >= wanted)
      return seen()
    },
  }
}

let nextKey = 0

function entry(value: string): Entry {
  return { key: `acme:${nextKey++}`, value }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function eventually(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error
      await turn()
    }
  }
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return null
}
