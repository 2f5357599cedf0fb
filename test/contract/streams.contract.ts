/** What every Facts adapter shows of the backlog of log streams: what is open, lane by lane, and how far a stream is. */

import { expect } from 'chai'

import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { SAMPLE_MS, unique } from './fact-samples.ts'

const VISITS = 'visits/0/1795000000000/first'
const INSTALLS = 'installs/2/1795000000000/first'
const DAY_MS = 86_400_000

export function streamsContract(facts: () => Facts): void {
  let organization: string
  beforeEach(() => {
    organization = unique('organization')
  })

  const row = (lane: string, offset: number, changes: Partial<RowOf<'stream_backlog'>> = {}) => ({
    ...{ organization, lane, log_offset: offset, id: `${lane}-${offset}`, at: SAMPLE_MS + offset },
    ...{ appended_at: SAMPLE_MS + offset, website: 'acme', kind: 'visit', status: 200, record: `{"n":${offset}}` },
    ...{ row_version: 0, ...changes },
  })
  const write = (...rows: readonly RowOf<'stream_backlog'>[]) => facts().insert('stream_backlog', rows)
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
        ({ lane, log_offset: offset, record }) => [lane, offset, record],
      )
    expect(await read(100)).to.deep.equal([
      [INSTALLS, 0, '{"n":0}'],
      ...[2, 3, 4].map((offset) => [VISITS, offset, `{"n":${offset}}`]),
    ])
    expect(await read(2)).to.have.lengthOf(3)
    expect(await facts().run('backlogBetween', { organization, lanes: 0, per_lane: 5 })).to.deep.equal([])
  })

  it('tells what must go if there is too much, without passing over what is young', async () => {
    // The second is old and came late: what lies before it in its lane is not given up for it.
    await write(row(VISITS, 1), row(VISITS, 2, { at: SAMPLE_MS - DAY_MS }), row(VISITS, 3), row(INSTALLS, 0))
    const done = { organization, ...doneParams({}) }
    expect(await facts().run('cutoffOfBacklog', { ...done, excess: 1 })).to.deep.equal([{ at_ms: SAMPLE_MS }])
    expect(await facts().run('cutoffOfBacklog', { ...done, excess: 4 })).to.deep.equal([])
    expect(await facts().run('keptSince', { ...done, since_ms: SAMPLE_MS + 1 })).to.deep.equal([
      { lane: INSTALLS, last: 0, kept: 0, kept_from: 0 },
      { lane: VISITS, last: 3, kept: 2, kept_from: 1 },
    ])
  })

  it('counts what is passed over, by the filter of the stream', async () => {
    await write(row(VISITS, 1), row(VISITS, 2, { status: 404, kind: 'request' }), row(VISITS, 3, { website: 'other' }))
    const between = { organization, lanes: 1, lane_0: VISITS, after_0: 0, through_0: 3 }
    const count = async (filters: object) => (await facts().run('recordsBetween', { ...between, ...filters }))[0]
    expect(await count({})).to.deep.equal({ records: 3, from_ms: SAMPLE_MS + 1, to_ms: SAMPLE_MS + 3 })
    expect(await count({ min_status: 400 })).to.include({ records: 1 })
    expect(await count({ kinds: ['visit'], websites: ['acme'] })).to.include({ records: 1 })
  })

  it('keeps the latest state of a stream, and knows which organisations stream', async () => {
    const state = (version: number, seenAtMs: number): RowOf<'stream_progress'> => ({
      ...{ organization, stream: 'default/logs', seen_at: seenAtMs, state: 'Delivering', behind: 3, oldest_at: null },
      ...{ delivered_at: seenAtMs, failing_since: null, last_error: '', delivered: version, dropped: 0 },
      ...{ progress: '{}', row_version: version },
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

  it('knows the newest entry of each lane', async () => {
    await write(row(VISITS, 4), row(VISITS, 2, { appended_at: SAMPLE_MS + 99 }))
    expect(await facts().run('newestOfLanes', { organizations: [organization] })).to.deep.equal([
      { lane: VISITS, newest: 4, appended_at_ms: SAMPLE_MS + 4 },
    ])
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
