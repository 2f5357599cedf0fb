/** A stream whose backlog points to rows of Logs that are not there yet, or not any more. */

import { expect } from 'chai'

import { erasedName } from '../../../delivery/facts-writer/erasures.ts'
import type { RequestRecord } from '../../../domain/records.ts'
import { LIMITS } from '../../../domain/limits.ts'
import { commandEntry, streamSubject } from '../../../domain/streams/commands.ts'
import type { RowOf } from '../../../ports/facts/columns.ts'
import { activityRecord, requestRecord, store, unique } from '../../contract/fact-samples.ts'
import { Receiver } from './receiver.ts'
import { Stage, STREAM } from './stage.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const OFFSETS = 20
const MOST_RECORDS = LIMITS.logStreamBacklogRecords

describe('a log stream over pointers', function () {
  this.timeout(120_000)
  let stage: Stage
  let receiver: Receiver
  let organization: string
  let begunAtMs: number

  before(async () => {
    stage = await Stage.open()
    // The facts-writer has committed these offsets; nobody's records lie there yet.
    await stage.write(
      'requests',
      Array.from({ length: OFFSETS }, () => requestRecord({ organization: 'nobody' })),
    )
  })
  after(() => stage.close())
  beforeEach(async () => {
    receiver = await Receiver.open()
    organization = unique('organization')
    stage.nowMs = Date.now()
    begunAtMs = stage.nowMs
  })
  afterEach(async () => {
    expect(receiver.faults).to.deep.equal([])
    await receiver.close()
  })

  const request = (changes = {}): RequestRecord =>
    requestRecord({ organization, website: 'acme', receivedAtMs: Date.now(), ...changes })
  const shared = () => ({ organization, website: 'acme', kind: 'request', status: 200, row_version: 0 })
  const point = (records: readonly RequestRecord[], from: number, changes = {}): Promise<void> => {
    const row: RowOf<'stream_pointers'> = {
      ...shared(),
      lane: `requests/0/${begunAtMs}/first`,
      appended_at: begunAtMs,
      first_offset: from,
      last_offset: from + records.length - 1,
      ids: records.map((record) => record.request.id).join(','),
      offsets: records.map((_, index) => index),
      sizes: records.map(() => 400),
      oldest_at: begunAtMs - HOUR_MS,
      times: records.map((record) => record.request.receivedAtMs - begunAtMs + HOUR_MS),
      ...changes,
    }
    return stage.facts.insert('stream_pointers', [row])
  }
  /** Records that only the backlog knows, in rows of 500, each a millisecond after the one before. */
  const heap = (
    count: number,
    from: number,
    { status, ageMs }: { readonly status: number; readonly ageMs: number },
  ) => {
    const rows = Array.from({ length: Math.ceil(count / 500) }, (_, row): RowOf<'stream_pointers'> => {
      const offsets = Array.from({ length: Math.min(500, count - 500 * row) }, (_each, index) => index)
      const first = from + 500 * row
      return {
        ...shared(),
        status,
        lane: `requests/0/${begunAtMs}/first`,
        appended_at: begunAtMs - ageMs,
        first_offset: first,
        last_offset: first + offsets.length - 1,
        oldest_at: begunAtMs - ageMs + 500 * row,
        offsets,
        times: offsets,
        sizes: offsets.map(() => 400),
        ids: offsets.map(String).join(','),
      }
    })
    return stage.facts.insert('stream_pointers', rows)
  }
  const paused = async (filter: object) => {
    const stream = { filter: { websites: [], kinds: [], minStatus: 0, ...filter } }
    const actor = stage.actor({ organization, receiver, stream })
    await stage.settle(actor)
    const { inForce } = actor
    actor.inForce = { ...inForce, stream: { ...inForce.stream, isPaused: true } }
    return actor
  }
  const state = async () =>
    (await stage.facts.run('streamStates', {})).find((each) => each.organization === organization)
  const ids = (): readonly string[] => receiver.records.map(({ id }) => id)
  const begun = async () => {
    const actor = stage.actor({ organization, receiver })
    await stage.settle(actor)
    return actor
  }
  it('waits for a record that a replica does not show yet, and passes over none', async () => {
    const actor = await begun()
    const one = request()
    const late = request({ body: 'late' })
    const other = request()
    await store(stage.facts, [one, other])
    await point([one, late, other], 3)
    await stage.settle(actor)
    actor.restart()
    stage.nowMs += 10 * MINUTE_MS
    await stage.settle(actor)
    expect(ids()).to.deep.equal([])
    await store(stage.facts, [late])
    await stage.settle(actor)
    expect(ids()).to.deep.equal([one, late, other].map((each) => each.request.id))
    expect(receiver.records[1]).to.include({ body: 'late' })
  })

  it('says after a quarter of an hour that a record cannot be read, and goes on', async () => {
    const actor = await begun()
    const kept = request()
    const gone = request({ body: `{"event_id":"${unique('event')}"}` })
    await store(stage.facts, [kept, gone])
    const { event_id: eventId } = JSON.parse(gone.request.body) as { event_id: string }
    await stage.facts.erase([erasedName({ organization, website: 'acme' }, eventId)])
    await point([gone, kept], 3)
    await stage.settle(actor)
    expect(ids()).to.deep.equal([])
    stage.nowMs += 16 * MINUTE_MS
    await stage.settle(actor)
    expect(receiver.records[0]).to.deep.equal({
      type: 'unreadable',
      id: gone.request.id,
      at: gone.request.receivedAtMs,
    })
    expect(ids()).to.deep.equal([gone, kept].map((each) => each.request.id))
    const later = request()
    await store(stage.facts, [later])
    await point([later], 9)
    await stage.settle(actor)
    expect(ids().at(-1)).to.equal(later.request.id)
  })

  it('counts its own records only: a million others drop none of them, and are not behind', async () => {
    const actor = await paused({ minStatus: 400 })
    const own = Array.from({ length: 5 }, () => request({ status: 404, receivedAtMs: begunAtMs - 2 * HOUR_MS }))
    await store(stage.facts, own)
    const agedMs = begunAtMs - 2 * HOUR_MS
    await point(own, 1, { status: 404, appended_at: agedMs, oldest_at: agedMs, times: own.map(() => 0) })
    await heap(MOST_RECORDS + 1_000, 100, { status: 200, ageMs: HOUR_MS })
    stage.nowMs += 2 * MINUTE_MS
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Paused', behind: 5, dropped: 0 })
    expect((await state())?.oldest_at_ms).to.equal(begunAtMs - 2 * HOUR_MS)
    expect(actor.told).to.deep.equal([])
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, isPaused: false } }
    await stage.settle(actor)
    expect(ids()).to.deep.equal(own.map((each) => each.request.id))
  })

  it('drops the oldest of its own records beyond 1,000,000, counts them, and reports the gap', async () => {
    const actor = await paused({ minStatus: 400 })
    await heap(MOST_RECORDS + 7, 1, { status: 404, ageMs: 2 * HOUR_MS })
    await heap(3_000, MOST_RECORDS + 10_000, { status: 200, ageMs: 3 * HOUR_MS })
    stage.nowMs += 2 * MINUTE_MS
    await stage.settle(actor)
    expect(await state()).to.include({ state: 'Paused', behind: MOST_RECORDS, dropped: 7 })
    expect(actor.told).to.deep.equal(['dropped overflow 7', 'stream_overflow 7'])
    const order = { id: unique('order'), atMs: stage.nowMs, ...commandEntry({ kind: 'skip' }, 'p_1') }
    await store(stage.facts, [activityRecord({ organization, subject: streamSubject(STREAM.id), ...order })])
    stage.nowMs += MINUTE_MS
    actor.inForce = { ...actor.inForce, stream: { ...actor.inForce.stream, isPaused: false } }
    await stage.settle(actor)
    expect(receiver.records.map(({ reason, dropped }) => [reason, dropped])).to.deep.equal([
      ['overflow', 7],
      ['skipped', MOST_RECORDS],
    ])
    const [overflow] = receiver.records
    expect(overflow).to.include({ from: new Date(begunAtMs - 2 * HOUR_MS).toISOString() })
    expect(overflow).to.include({ to: new Date(begunAtMs - 2 * HOUR_MS + 6).toISOString() })
  })
})
