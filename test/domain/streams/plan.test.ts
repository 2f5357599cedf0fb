/** Batches of a log stream: what was sent and what was dropped is what was written, in the order of each lane. */

import { expect } from 'chai'
import * as fc from 'fast-check'

import { sha256Hex } from '../../../common/digest.ts'
import { laneName, readLane } from '../../../domain/streams/lane.ts'
import { bordersOfDrop, isStreamed, planBatch, type OpenRecord, type Watermark } from '../../../domain/streams/plan.ts'
import {
  adoptedBy,
  delivered,
  doneWithPlan,
  isOfAnotherObject,
  streamFailed,
  newProgress,
  passedOver,
  planGivenUp,
  planTakenBack,
  readProgress,
  sentAgain,
  writtenProgress,
  type StreamForm,
  type StreamProgress,
} from '../../../domain/streams/progress.ts'

const NOW_MS = 1_795_000_000_000
const ALL: StreamForm = { websites: [], kinds: [], minStatus: 0, includeBodies: true, compress: false }
const lane = (topic: string, begunAtMs = NOW_MS, cause: 'first' | 'renewed' = 'first'): string =>
  laneName({ topic, partition: 0, begunAtMs, cause })
const VISITS = lane('visits')
const INSTALLS = lane('installs')

const record = (of: string, offset: number, changes: Partial<OpenRecord> = {}): OpenRecord => ({
  lane: of,
  offset,
  atMs: NOW_MS + offset,
  appendedAtMs: NOW_MS,
  website: 'acme',
  kind: 'visit',
  status: 200,
  bytes: 40,
  ...changes,
})

const upTo = (committed: number) => ({ committed, end: committed })

const plan = (rows: readonly OpenRecord[], more: Partial<Parameters<typeof planBatch>[0]> = {}): StreamProgress =>
  planBatch(
    {
      progress: newProgress({}, NOW_MS - 1),
      rows,
      form: ALL,
      nowMs: NOW_MS,
      watermarks: new Map([
        ['visits/0', upTo(1_000)],
        ['installs/0', upTo(1_000)],
      ]),
      bounds: { records: 500, bytes: 1_000_000 },
      ...more,
    },
    { stream: 'acme default/logs', sha256Hex },
  )

describe('the next batch of a log stream', () => {
  it('holds what is complete, and nothing at or above the committed offset', () => {
    const watermarks = new Map([['visits/0', { committed: 2, end: 3 }]])
    const { plan: made } = plan([record(VISITS, 0), record(VISITS, 1), record(VISITS, 2)], { watermarks })
    expect(made).to.include({ records: 2 })
    expect(made?.borders).to.deep.equal([{ lane: VISITS, after: -1, through: 1 }])
    expect(plan([record(INSTALLS, 0)], { watermarks }).plan).to.equal(null)
  })

  it('contains the whole of a lane that another one has followed, whatever the committed offset says now', () => {
    const next = lane('visits', NOW_MS + 1, 'renewed')
    const watermarks = new Map([['visits/0', { committed: 1, end: 2 }]])
    const { plan: made } = plan([record(VISITS, 900), record(next, 0), record(next, 1)], { watermarks })
    expect(made?.borders.map(({ through }) => through)).to.deep.equal([900, 0])
  })

  it('contains records beyond the end of a log that has lost them, unless they are just being appended', () => {
    const watermarks = new Map([['visits/0', { committed: 3, end: 4 }]])
    const rows = [record(VISITS, 900)]
    expect(plan(rows, { watermarks }).plan).to.equal(null)
    expect(plan(rows, { watermarks, nowMs: NOW_MS + 600_000 }).plan?.records).to.equal(1)
    const ahead = new Map([['visits/0', { committed: 900, end: 3 }]])
    expect(plan([record(VISITS, 2)], { watermarks: ahead }).plan).to.equal(null)
  })

  it('reports once that the log has begun again, and not to a stream that came later', () => {
    const next = lane('visits', NOW_MS, 'renewed')
    const first = plan([record(next, 5)])
    expect(first.plan?.gaps).to.deep.equal([{ reason: 'log_renewed', dropped: null, fromMs: null, toMs: NOW_MS }])
    const second = plan([record(next, 6)], { progress: delivered(first, NOW_MS) })
    expect(second.plan?.gaps).to.deep.equal([])
    expect(plan([record(next, 5)], { progress: newProgress({}, NOW_MS + 1) }).plan?.gaps).to.deep.equal([])
  })

  it('keeps to its bounds, and sends what is larger alone', () => {
    const rows = [0, 1, 2, 3].map((offset) => record(VISITS, offset))
    const bytes = rows[0]?.bytes ?? 0
    expect(plan(rows, { bounds: { records: 3, bytes: 1_000_000 } }).plan?.records).to.equal(3)
    expect(plan(rows, { bounds: { records: 500, bytes: 2 * bytes } }).plan?.records).to.equal(2)
    expect(plan(rows, { bounds: { records: 500, bytes: 1 } }).plan?.records).to.equal(1)
  })

  it('skips what the filter leaves out, without a batch if nothing is left', () => {
    const rows = [record(VISITS, 0), record(VISITS, 1, { status: 404 }), record(VISITS, 2)]
    const form = { ...ALL, minStatus: 400 }
    expect(plan(rows, { form }).plan).to.deep.include({
      records: 1,
      borders: [{ lane: VISITS, after: -1, through: 2 }],
    })
    const none = plan(rows, { form: { ...ALL, websites: ['other'] } })
    expect(none).to.deep.include({ plan: null, done: { [VISITS]: 2 } })
    expect(isStreamed(record(VISITS, 0), { ...ALL, kinds: ['install'] })).to.equal(false)
  })

  it('has an ID that depends on its borders, and another one after records were requested again', () => {
    const rows = [record(VISITS, 0)]
    const id = plan(rows).plan?.id
    expect(id).to.match(/^[0-9a-f]{16}$/)
    expect(plan(rows, { nowMs: NOW_MS + 5 }).plan?.id).to.equal(id)
    expect(plan([record(VISITS, 1)]).plan?.id).not.to.equal(id)
    const again = sentAgain(delivered(plan(rows), NOW_MS), { [VISITS]: 0 })
    expect(plan(rows, { progress: again }).plan?.id).not.to.equal(id)
  })

  it('says how large it is, without the record that it leaves for the next', () => {
    const rows = [0, 1, 2].map((offset) => ({ ...record(VISITS, offset), bytes: 40 }))
    const bounds = { records: 10, bytes: 100 }
    expect(plan(rows, { bounds }).plan).to.include({ records: 2, bytes: 80 })
    expect(plan(rows.slice(0, 1), { bounds: { records: 10, bytes: 10 } }).plan).to.include({ records: 1, bytes: 40 })
  })

  it('has another ID if the stream was made again, though it begins with the same records', () => {
    const ids = ['', 'one', 'two'].map((uid) => {
      return plan([record(VISITS, 0)], { progress: newProgress({}, NOW_MS - 1, uid) }).plan?.id
    })
    expect(new Set(ids).size).to.equal(3)
    expect(ids[0], 'of an object without a UID').to.equal(plan([record(VISITS, 0)]).plan?.id)
  })

  it('belongs to the object whose progress it is in, as far as their UIDs are known', () => {
    const unknown = newProgress({}, NOW_MS)
    const one = newProgress({}, NOW_MS, 'one')
    expect(['one', 'two', ''].map((uid) => isOfAnotherObject(one, uid))).to.deep.equal([false, true, false])
    expect(['one', ''].map((uid) => isOfAnotherObject(unknown, uid))).to.deep.equal([false, false])
    expect(adoptedBy(unknown, 'one')).to.deep.equal(one)
    expect([adoptedBy(one, 'two'), adoptedBy(one, '')]).to.deep.equal([one, one])
    expect(readProgress(writtenProgress(one))).to.deep.equal(one)
  })

  it('does not drop a young record because of an old one after it, nor what is not complete yet', () => {
    const kept = { lane: VISITS, last: 9, kept: 4, keptFrom: 5 }
    const progress = newProgress({ [VISITS]: 2 }, NOW_MS)
    const watermarks = new Map([['visits/0', { committed: 8, end: 10 }]])
    expect(bordersOfDrop([kept], progress.done, watermarks)).to.deep.equal([{ lane: VISITS, after: 2, through: 4 }])
    const all = { ...kept, kept: 0, keptFrom: 0 }
    expect(bordersOfDrop([all], progress.done, watermarks)).to.deep.equal([{ lane: VISITS, after: 2, through: 7 }])
    expect(bordersOfDrop([{ ...kept, keptFrom: 3 }], progress.done, watermarks)).to.deep.equal([])
  })

  it('forgets lanes of an earlier generation of the log once none of their records can be left', () => {
    const old = lane('visits', NOW_MS - 20 * 86_400_000)
    const next = lane('visits', NOW_MS - 10 * 86_400_000)
    const progress = { ...newProgress({ [old]: 7, [next]: 3 }, NOW_MS), plan: plan([record(INSTALLS, 0)]).plan }
    expect(delivered(progress, NOW_MS).done).to.deep.equal({ [next]: 3, [INSTALLS]: 0 })
  })
})

/** The steps of the property test. */
type Step =
  | { readonly kind: 'write'; readonly lane: string; readonly ageMs: number }
  | { readonly kind: 'commit' | 'send' | 'fail' | 'crash' | 'skip' | 'renew' }
  | { readonly kind: 'drop'; readonly youngestMs: number }

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      lane: fc.constantFrom('visits', 'installs'),
      ageMs: fc.nat(1_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(...(['commit', 'send', 'fail', 'crash'] as const)).map((kind) => ({ kind })),
  },
  { weight: 1, arbitrary: fc.constantFrom(...(['skip', 'renew'] as const)).map((kind) => ({ kind })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), youngestMs: fc.nat(1_000) }) },
)

/** A log, its backlog, a stream and a receiver that accepts everything. */
class World {
  readonly rows: OpenRecord[] = []
  readonly received: string[] = []
  readonly told: number[] = []
  /** As it is stored: what a crash goes back to. */
  progress = newProgress({}, NOW_MS - 1)
  #watermarks = new Map<string, Watermark>()
  readonly #lanes = new Map([
    ['visits', VISITS],
    ['installs', INSTALLS],
  ])
  #lives = 0

  take(step: Step): void {
    if (step.kind === 'write') this.#write(step.lane, step.ageMs)
    else if (step.kind === 'commit') this.commit()
    else if (step.kind === 'renew') this.#renew()
    else if (step.kind === 'drop') this.#drop(NOW_MS + step.youngestMs)
    else if (step.kind === 'skip') this.#drop(Infinity)
    else if (step.kind === 'crash') this.#sendPlan()
    else if (step.kind === 'fail') this.#plan('failed')
    else this.#plan('delivered')
  }

  commit(): void {
    for (const name of this.#lanes.values()) {
      const read = readLane(name)
      if (read !== null) this.#watermarks.set(`${read.topic}/0`, upTo(this.#end(name)))
    }
  }

  sendAll(): void {
    this.commit()
    for (let round = 0; round < 200 && !this.#isIdle(); round += 1) this.take({ kind: 'send' })
  }

  #isIdle(): boolean {
    const { plan: open, gaps } = this.progress
    return open === null && gaps.length === 0 && this.open().length === 0
  }

  open(): readonly OpenRecord[] {
    const done = doneWithPlan(this.progress)
    return this.rows.filter((row) => row.offset > (done[row.lane] ?? -1))
  }

  #end(name: string): number {
    return Math.max(-1, ...this.rows.filter((row) => row.lane === name).map(({ offset }) => offset)) + 1
  }

  #write(topic: string, ageMs: number): void {
    const name = this.#lanes.get(topic) ?? ''
    // Other organisations have records in between.
    const offset = this.#end(name) + (ageMs % 3)
    this.rows.push(record(name, offset, { atMs: NOW_MS + ageMs }))
  }

  #renew(): void {
    this.#lives += 1
    this.commit()
    this.#lanes.set('visits', lane('visits', NOW_MS + this.#lives, 'renewed'))
    this.#watermarks.set('visits/0', upTo(0))
  }

  #planned(): StreamProgress {
    if (this.progress.plan !== null) return this.progress
    const open = this.open().toSorted((a, b) => (a.lane === b.lane ? a.offset - b.offset : a.lane < b.lane ? -1 : 1))
    const bounds = { records: 3, bytes: 1_000_000 }
    // An hour later, so that nothing is just being appended.
    return plan(open, { progress: this.progress, watermarks: this.#watermarks, bounds, nowMs: NOW_MS + 3_600_000 })
  }

  /** The batch arrives, and the process is killed before it stores that. */
  #sendPlan(): readonly string[] {
    this.progress = this.#planned()
    const borders = this.progress.plan?.borders ?? []
    const sent = borders.flatMap(({ lane: name, after, through }) =>
      this.rows.filter((row) => row.lane === name && row.offset > after && row.offset <= through),
    )
    const ids = sent.map((row) => `${row.lane} ${row.offset}`)
    this.received.push(...ids)
    return ids
  }

  #plan(outcome: 'delivered' | 'failed'): void {
    if (outcome === 'failed') {
      this.progress = streamFailed(this.#planned(), { error: 'http_503', retryAtMs: 0, target: '' }, NOW_MS)
      return
    }
    this.#sendPlan()
    this.told.push(...(this.progress.plan?.gaps ?? []).map(({ dropped }) => dropped ?? 0))
    this.progress = delivered(this.progress, NOW_MS)
  }

  #drop(youngestMs: number): void {
    const base = youngestMs === Infinity ? planGivenUp(this.progress, 'skipped') : planTakenBack(this.progress)
    const lanes = Object.values(Object.groupBy(this.rows, (row) => row.lane)).flatMap((rows = []) => {
      const open = rows.filter((row) => row.offset > (base.done[row.lane] ?? -1))
      const kept = open.filter((row) => row.atMs >= youngestMs).map(({ offset }) => offset)
      const last = Math.max(...open.map(({ offset }) => offset))
      const name = open[0]?.lane ?? ''
      return open.length === 0 ? [] : [{ lane: name, last, kept: kept.length, keptFrom: Math.min(...kept) }]
    })
    const borders = bordersOfDrop(lanes, base.done, this.#watermarks)
    const dropped = this.rows.filter((row) =>
      borders.some(
        ({ lane: name, after, through }) => row.lane === name && row.offset > after && row.offset <= through,
      ),
    ).length
    const gap = { reason: 'overflow', dropped, fromMs: null, toMs: null } as const
    this.progress = dropped === 0 ? base : passedOver(base, borders, gap)
  }
}

describe('a log stream through any sequence of events', () => {
  const story = fc.array(STEP, { maxLength: 60 })

  it('counts every record as delivered or dropped once, and reports in the stream how many it dropped', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const world = new World()
        for (const step of steps) world.take(step)
        world.sendAll()
        expect(world.open()).to.deep.equal([])
        expect(world.progress.delivered + world.progress.dropped).to.equal(world.rows.length)
        expect(world.told.reduce((sum, each) => sum + each, 0)).to.equal(world.progress.dropped)
      }),
      { numRuns: 300 },
    )
  })

  it('gives a receiver that tells records by their IDs each lane in its order', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const world = new World()
        for (const step of steps) world.take(step)
        world.sendAll()
        const told = [...new Set(world.received)]
        for (const name of new Set(world.rows.map((row) => row.lane))) {
          const offsets = told.flatMap((id) => (id.startsWith(`${name} `) ? [Number(id.slice(name.length + 1))] : []))
          expect(offsets).to.deep.equal(offsets.toSorted((a, b) => a - b))
        }
        expect(told.length).to.be.at.least(world.progress.delivered)
      }),
      { numRuns: 300 },
    )
  })
})
