/** What every Facts adapter shows of the backlog of log streams: what is open, lane by lane, and how far a stream is. */

import { expect } from 'chai'

import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { attempt, deliveryRecord, requestRecord, SAMPLE_MS, store, unique } from './fact-samples.ts'

const DAY_MS = 86_400_000
const MILLISECONDS = { from_ms: SAMPLE_MS, until_ms: SAMPLE_MS + 1_000, step_ms: 1 }
type PointerRow = RowOf<'stream_pointers'>
/** One record of the backlog; rows hold several. */
interface Place {
  readonly organization: string
  readonly lane: string
  readonly offset: number
  readonly id: string
  readonly at: number
  readonly appendedAt: number
  readonly website: string
  readonly kind: string
  readonly status: number
}

export function streamsContract(facts: () => Facts): void {
  backlogContract(facts)
  logsContract(facts)
}

const BYTES = 7
const place = (lane: string, offset: number, changes: Partial<Place>): Place => ({
  organization: '',
  lane,
  offset,
  id: `${lane}-${offset}`,
  at: SAMPLE_MS + offset,
  appendedAt: SAMPLE_MS + offset,
  website: 'acme',
  kind: 'visit',
  status: 200,
  ...changes,
})
/** One row of several records that are alike. */
const pointerRow = (places: readonly Place[]): PointerRow => {
  const first = places[0]
  const last = places.at(-1)
  if (first === undefined || last === undefined) throw new Error('a row of no record')
  const { organization, lane, website, kind, status } = first
  const oldest = Math.min(...places.map(({ at }) => at))
  return {
    organization,
    lane,
    website,
    kind,
    status,
    appended_at: last.appendedAt,
    last_offset: last.offset,
    first_offset: first.offset,
    ids: places.map(({ id }) => id).join(','),
    offsets: places.map(({ offset }) => offset - first.offset),
    oldest_at: oldest,
    times: places.map(({ at }) => at - oldest),
    sizes: places.map(() => BYTES),
    row_version: 0,
  }
}

function backlogContract(facts: () => Facts): void {
  const VISITS = 'visits/0/1795000000000/first'
  const INSTALLS = 'installs/2/1795000000000/first'
  let organization: string
  beforeEach(() => {
    organization = unique('organization')
  })
  const row = (lane: string, offset: number, changes: Partial<Place> = {}) =>
    place(lane, offset, { organization, ...changes })
  /** Two records of a lane share a row, as far as they go. */
  const write = async (...rows: readonly Place[]): Promise<void> => {
    const lanes = Map.groupBy(rows, ({ organization: whose, lane, website, kind, status }) =>
      [whose, lane, website, kind, status].join(),
    )
    const pairs = [...lanes.values()].flatMap((own) => {
      const sorted = own.toSorted((a, b) => a.offset - b.offset)
      return sorted.flatMap((_, index) => (index % 2 === 0 ? [sorted.slice(index, index + 2)] : []))
    })
    return facts().insert('stream_pointers', pairs.map(pointerRow))
  }
  const open = (done: Readonly<Record<string, number>> = {}) =>
    facts().run('openLanes', { organization, ...doneParams(done) })

  it('is what lies beyond what is done, each record once, and nothing of other organisations', async () => {
    const rows = [row(VISITS, 4), row(VISITS, 7), row(VISITS, 9), row(INSTALLS, 2)]
    await write(...rows)
    await write(...rows, { ...row(VISITS, 5), organization: unique('organization') })
    expect(await open()).to.deep.equal([
      { lane: INSTALLS, first: 2, last: 2, records: 1, oldest_ms: SAMPLE_MS + 2 },
      { lane: VISITS, first: 4, last: 9, records: 3, oldest_ms: SAMPLE_MS + 4 },
    ])
    expect(await open({ [VISITS]: 7, [INSTALLS]: 2 })).to.deep.equal([
      { lane: VISITS, first: 9, last: 9, records: 1, oldest_ms: SAMPLE_MS + 9 },
    ])
    expect(await open({ [VISITS]: 9, [INSTALLS]: 2 })).to.deep.equal([])
  })

  it('finds a record that came late by its offset, however old it is', async () => {
    await write(row(VISITS, 10), row(VISITS, 11, { at: SAMPLE_MS - 2 * 3_600_000 }))
    const [lane] = await open({ [VISITS]: 10 })
    expect(lane).to.deep.include({ first: 11, records: 1 })
  })

  it('hands over rows between borders in the order of each lane, some of each', async () => {
    await write(row(VISITS, 3), row(VISITS, 1), row(VISITS, 2), row(VISITS, 4), row(INSTALLS, 0))
    const borders = { lanes: 2, lane_0: VISITS, after_0: 1, through_0: 4, lane_1: INSTALLS, after_1: -1, through_1: 0 }
    const read = async (most: number) =>
      (await facts().run('backlogBetween', { organization, ...borders, per_lane: most })).map(
        ({ lane, log_offset: offset, id }) => [lane, offset, id],
      )
    expect(await read(100)).to.deep.equal([
      [INSTALLS, 0, `${INSTALLS}-0`],
      ...[2, 3, 4].map((offset) => [VISITS, offset, `${VISITS}-${offset}`]),
    ])
    const planned = await facts().run('openBetween', { organization, ...borders, per_lane: 1 })
    expect(planned.map(({ lane, log_offset: offset, bytes }) => [lane, offset, bytes])).to.deep.equal([
      [INSTALLS, 0, BYTES],
      [VISITS, 2, BYTES],
    ])
    expect(await read(2)).to.have.lengthOf(3)
    expect(await facts().run('backlogBetween', { organization, lanes: 0, per_lane: 5 })).to.deep.equal([])
  })

  it('tells what must go if there is too much, without passing over what is young', async () => {
    // The second is old and came late: what lies before it in its lane is not given up for it.
    await write(row(VISITS, 1), row(VISITS, 2, { at: SAMPLE_MS - DAY_MS }), row(VISITS, 3), row(INSTALLS, 0))
    const done = { organization, ...doneParams({}) }
    const spans = (stepMs: number, fromMs: number, untilMs: number) =>
      facts().run('openByTime', { ...done, from_ms: fromMs, until_ms: untilMs, step_ms: stepMs })
    expect(await spans(DAY_MS, SAMPLE_MS - DAY_MS, SAMPLE_MS + 9)).to.deep.equal([
      { at_ms: SAMPLE_MS - DAY_MS, records: 1 },
      { at_ms: SAMPLE_MS, records: 3 },
    ])
    expect(await spans(1, SAMPLE_MS, SAMPLE_MS + 3)).to.deep.equal([
      { at_ms: SAMPLE_MS, records: 1 },
      { at_ms: SAMPLE_MS + 1, records: 1 },
    ])
    expect(await facts().run('keptSince', { ...done, since_ms: SAMPLE_MS + 1 })).to.deep.equal([
      { lane: INSTALLS, last: 0, kept: 0, kept_from: 0 },
      { lane: VISITS, last: 3, kept: 2, kept_from: 1 },
    ])
  })

  it('counts what the filter of the stream lets pass, wherever the rest lies', async () => {
    const others = [row(VISITS, 1), row(VISITS, 5), row(INSTALLS, 0)]
    await write(...others, ...[2, 4].map((offset) => row(VISITS, offset, { status: 404, website: 'other' })))
    for (const filter of [{ min_status: 400 }, { websites: ['other'], kinds: ['visit'] }]) {
      const own = { organization, ...doneParams({}), ...filter }
      expect(await facts().run('openLanes', own)).to.deep.equal([
        { lane: INSTALLS, first: 0, last: 0, records: 0, oldest_ms: 0 },
        { lane: VISITS, first: 1, last: 5, records: 2, oldest_ms: SAMPLE_MS + 2 },
      ])
      expect(await facts().run('openByTime', { ...own, ...MILLISECONDS })).to.deep.equal([
        { at_ms: SAMPLE_MS + 2, records: 1 },
        { at_ms: SAMPLE_MS + 4, records: 1 },
      ])
      expect(await facts().run('keptSince', { ...own, since_ms: SAMPLE_MS + 3 })).to.deep.equal([
        { lane: INSTALLS, last: 0, kept: 0, kept_from: 0 },
        { lane: VISITS, last: 5, kept: 1, kept_from: 4 },
      ])
    }
  })

  it('counts what is passed over, by the filter of the stream', async () => {
    await write(row(VISITS, 1), row(VISITS, 2, { status: 404, kind: 'request' }), row(VISITS, 3, { website: 'other' }))
    const between = { organization, lanes: 1, lane_0: VISITS, after_0: 0, through_0: 3 }
    const count = async (filters: object) => (await facts().run('recordsBetween', { ...between, ...filters }))[0]
    expect(await count({})).to.deep.equal({ records: 3, from_ms: SAMPLE_MS + 1, to_ms: SAMPLE_MS + 3 })
    expect(await count({ min_status: 400 })).to.include({ records: 1 })
    expect(await count({ kinds: ['visit'], websites: ['acme'] })).to.include({ records: 1 })
  })

  it('has a record once that lies in rows with different borders, wherever it is counted', async () => {
    const all = [1, 2, 3, 4, 5].map((offset) => row(VISITS, offset))
    await facts().insert('stream_pointers', [pointerRow(all.slice(0, 3)), pointerRow(all.slice(3))])
    await facts().insert('stream_pointers', [pointerRow(all.slice(0, 4)), pointerRow(all.slice(4))])
    expect((await open()).map(({ records }) => records)).to.deep.equal([5])
    const between = { organization, lanes: 1, lane_0: VISITS, after_0: 1, through_0: 4 }
    expect((await facts().run('recordsBetween', between))[0]?.records).to.equal(3)
    for (const query of ['openBetween', 'backlogBetween'] as const) {
      const rows = await facts().run(query, { ...between, per_lane: 9 })
      expect(rows.map(({ log_offset: offset }) => offset)).to.deep.equal([2, 3, 4])
    }
    const done = { organization, ...doneParams({}) }
    expect((await facts().run('keptSince', { ...done, since_ms: SAMPLE_MS + 2 }))[0]?.kept).to.equal(4)
    const inNine = await facts().run('openByTime', { ...done, ...MILLISECONDS, step_ms: 9 })
    expect(inNine).to.deep.equal([{ at_ms: SAMPLE_MS, records: 5 }])
  })

  it('knows the newest entry of each lane', async () => {
    await write(row(VISITS, 4), row(VISITS, 2, { appendedAt: SAMPLE_MS + 99 }))
    expect(await facts().run('newestOfLanes', { organizations: [organization] })).to.deep.equal([
      { lane: VISITS, newest: 4, appended_at_ms: SAMPLE_MS + 4 },
    ])
  })
}

function logsContract(facts: () => Facts): void {
  const REQUESTS = 'visits/0/1795000000000/first'
  const ATTEMPTS = 'deliveries/0/1795000000000/first'
  let organization: string
  beforeEach(() => {
    organization = unique('organization')
  })

  it('finds requests and attempts where the pointers say, with bodies on request, by the filter of the stream', async () => {
    const mine = { organization, website: unique('site') }
    const asked = requestRecord({ ...mine, status: 404, body: '{"a":1}' })
    const other = requestRecord(mine)
    const sent = attempt({ requestBody: 'what', responseBody: 'no' })
    const delivery = deliveryRecord({ ...mine, attempt: sent })
    await store(facts(), [asked, other, delivery, requestRecord(mine)])
    await store(facts(), [asked])
    const { id, receivedAtMs: at } = asked.request
    const requests = [
      place(REQUESTS, 3, { ...mine, id, at, kind: 'request', status: 404 }),
      place(REQUESTS, 4, { ...mine, id: other.request.id, at: other.request.receivedAtMs, kind: 'request' }),
    ]
    const attempts = place(ATTEMPTS, 1, { ...mine, id: sent.attemptId, at: sent.startedAtMs, kind: 'delivery' })
    await facts().insert('stream_pointers', [...requests.map((each) => pointerRow([each])), pointerRow([attempts])])
    const borders = {
      lanes: 2,
      lane_0: REQUESTS,
      after_0: 2,
      through_0: 4,
      lane_1: ATTEMPTS,
      after_1: -1,
      through_1: 9,
    }
    const requestsOf = (more: object) => facts().run('requestsOfBatch', { organization, ...borders, ...more })
    expect((await requestsOf({})).map((row) => row.id)).to.have.members([id, other.request.id])
    expect(await requestsOf({ min_status: 400, bodies: 1 })).to.have.lengthOf(1)
    const [request] = await requestsOf({ min_status: 400, bodies: 1 })
    expect(request).to.include({ id, received_at_ms: at, status: 404, body: '{"a":1}' })
    expect((await requestsOf({ min_status: 400 }))[0]).not.to.have.property('body')
    expect(await requestsOf({ websites: ['another'] })).to.deep.equal([])
    const [found, ...more] = await facts().run('attemptsOfBatch', { organization, ...borders, bodies: 1 })
    expect(found).to.include({ attempt_id: sent.attemptId, request_body: 'what', response_body: 'no' })
    expect(more).to.deep.equal([])
    expect(await facts().run('attemptsOfBatch', { organization, ...borders, lanes: 1 })).to.deep.equal([])
  })

  it('keeps the latest state of a stream, and knows which organisations stream', async () => {
    const state = (version: number, seenAtMs: number): RowOf<'stream_progress'> => ({
      organization,
      stream: 'default/logs',
      seen_at: seenAtMs,
      state: 'Delivering',
      behind: 3,
      oldest_at: null,
      delivered_at: seenAtMs,
      failing_since: null,
      last_error: '',
      delivered: version,
      dropped: 0,
      progress: '{}',
      row_version: version,
    })
    await facts().insert('stream_progress', [state(8, Date.now())])
    await facts().insert('stream_progress', [state(7, Date.now() - 1)])
    const [row] = await facts().run('streamProgress', { organization, stream: 'default/logs' })
    expect(row).to.include({ version: 8, delivered: 8, progress: '{}' })
    const streaming = async (since: number) =>
      (await facts().run('streamingOrganizations', { since_ms: since })).map((each) => each.organization)
    expect(await streaming(Date.now() - DAY_MS)).to.include(organization)
    expect(await streaming(Date.now() + DAY_MS)).not.to.include(organization)
    const states = await facts().run('streamStates', {})
    expect(states.find((each) => each.organization === organization)).to.include({ state: 'Delivering', delivered: 8 })
  })
}

function doneParams(done: Readonly<Record<string, number>>) {
  const entries = Object.entries(done)
  const named = entries.flatMap(([lane, offset], index) => [
    [`lane_${index}`, lane],
    [`done_${index}`, offset],
  ])
  return { lanes: entries.length, ...(Object.fromEntries(named) as object) }
}
