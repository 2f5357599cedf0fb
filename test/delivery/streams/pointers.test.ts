/** A stream whose backlog holds pointers: rows of Logs that are not there yet, or not any more, and what the version before left. */

import { expect } from 'chai'

import { erasedName } from '../../../delivery/facts-writer/erasures.ts'
import type { RequestRecord } from '../../../domain/records.ts'
import { newProgress, readProgress, writtenProgress } from '../../../domain/streams/progress.ts'
import type { RowOf } from '../../../ports/facts/columns.ts'
import { requestRecord, store, unique } from '../../contract/fact-samples.ts'
import { Receiver } from './receiver.ts'
import { Stage, STREAM } from './stage.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const OFFSETS = 20

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
  const texts = (): string => `requests/0/${begunAtMs}/first`
  const point = (records: readonly RequestRecord[], from: number): Promise<void> => {
    const row: RowOf<'stream_pointers'> = {
      ...{ ...shared(), lane: `requests/0/p${begunAtMs}/first`, appended_at: begunAtMs, first_offset: from },
      ...{ last_offset: from + records.length - 1, ids: records.map((record) => record.request.id).join(',') },
      ...{ offsets: records.map((_, index) => index), sizes: records.map(() => 400), oldest_at: begunAtMs - HOUR_MS },
      times: records.map((record) => record.request.receivedAtMs - begunAtMs + HOUR_MS),
    }
    return stage.facts.insert('stream_pointers', [row])
  }
  /** As the version before stored a record. */
  const keepText = ({ request: { id, receivedAtMs: at } }: RequestRecord, offset: number): Promise<void> => {
    const record = `${JSON.stringify({ direction: 'inbound', id, at, bodies: [['body', 3]] })}\u001e"a"`
    const row = { ...shared(), lane: texts(), log_offset: offset, id, at, appended_at: begunAtMs, record }
    return stage.facts.insert('stream_backlog', [row])
  }
  const ids = (): readonly string[] => receiver.records.map(({ id }) => id)
  const begun = async () => {
    const actor = stage.actor({ organization, receiver })
    await stage.settle(actor)
    return actor
  }
  const stored = async (): Promise<string> => {
    const [row] = await stage.facts.run('streamProgress', { organization, stream: STREAM.id })
    return row?.progress ?? ''
  }

  it('waits for a record that a replica does not show yet, and passes over none', async () => {
    const actor = await begun()
    const [one, late, other] = [request(), request({ body: 'late' }), request()]
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
    const [kept, gone] = [request(), request({ body: `{"event_id":"${unique('event')}"}` })]
    await store(stage.facts, [kept, gone])
    const { event_id: eventId } = JSON.parse(gone.request.body) as { event_id: string }
    await stage.facts.erase([erasedName('acme', eventId)])
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

  it('sends what the version before stored as text, beside pointers, each once and in the order of its lane', async () => {
    const actor = await begun()
    const records = Array.from({ length: 6 }, () => request())
    const [first, second, third, fourth, fifth, sixth] = records as [RequestRecord, ...RequestRecord[]] &
      RequestRecord[]
    // Two writers took turns on one partition, as during an upgrade in steps.
    for (const [offset, record] of [first, second, fifth, sixth].entries())
      await keepText(record as RequestRecord, offset < 2 ? offset : offset + 2)
    await store(stage.facts, [third as RequestRecord, fourth as RequestRecord])
    await point([third as RequestRecord, fourth as RequestRecord], 2)
    await stage.settle(actor)
    expect(ids()).to.have.members(records.map((each) => each.request.id))
    expect(ids().filter((id) => [third, fourth].every((each) => each?.request.id !== id))).to.deep.equal(
      [first, second, fifth, sixth].map((each) => each?.request.id),
    )
    expect(receiver.records.find(({ id }) => id === first.request.id)).to.include({ body: '"a"' })
  })

  it('sends the batch that the version before had planned under the same ID', async () => {
    const record = request()
    await keepText(record, 1)
    const form = { websites: [], kinds: [], minStatus: 0, includeBodies: true, compress: false }
    const borders = [{ lane: texts(), after: -1, through: 1 }]
    const plan = {
      id: 'ab'.repeat(8),
      borders,
      gaps: [],
      records: 1,
      form,
      plannedAtMs: begunAtMs,
      oldestMs: begunAtMs,
    }
    const row: RowOf<'stream_progress'> = {
      ...{ organization, stream: STREAM.id, seen_at: begunAtMs, state: 'Delivering', behind: 1, oldest_at: null },
      ...{ delivered_at: null, failing_since: null, last_error: '', delivered: 0, dropped: 0, row_version: 1 },
      progress: JSON.stringify({ ...newProgress({}, begunAtMs), plan }),
    }
    await stage.facts.insert('stream_progress', [row])
    const actor = await begun()
    await stage.settle(actor)
    expect(receiver.ids).to.deep.equal([plan.id])
    expect(ids()).to.deep.equal([record.request.id])
  })

  it('stores a plan where the version before does not look, which would send it without its records', async () => {
    const actor = await begun()
    receiver.mood = 503
    const record = request()
    await store(stage.facts, [record])
    await point([record], 4)
    await stage.settle(actor)
    expect(JSON.parse(await stored())).to.include({ plan: null })
    const { plan, done } = readProgress(await stored())
    expect([plan?.records, Object.keys(done)]).to.deep.equal([1, []])
  })

  it('remembers the gaps of a plan that the version before made meanwhile', () => {
    const gap = { reason: 'overflow', dropped: 4, fromMs: 1, toMs: 2 } as const
    const form = { websites: [], kinds: [], minStatus: 0, includeBodies: true, compress: false }
    const plan = { id: 'a', borders: [], gaps: [], records: 1, form, plannedAtMs: 1, oldestMs: 1 }
    const own = JSON.parse(writtenProgress({ ...newProgress({}, 1), plan })) as object
    const read = readProgress(JSON.stringify({ ...own, plan: { ...plan, id: 'b', gaps: [gap] } }))
    expect([read.plan?.id, read.gaps]).to.deep.equal(['a', [gap]])
    expect(read).not.to.have.property('pointerPlan')
  })
})
