/** What the facts-writer adds to the rows of a batch, with facts and a log in memory: hours, streams and erasures. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import { createErasures, erasedName } from '../../delivery/facts-writer/erasures.ts'
import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { createStreamBacklog, type StreamBacklog } from '../../delivery/facts-writer/stream-rows.ts'
import { LIMITS } from '../../domain/limits.ts'
import { readLane } from '../../domain/streams/lane.ts'
import type { LogRecord, VisitRecord } from '../../domain/records.ts'
import { ERASED_WHOLE } from '../../ports/facts/erasure/names.ts'
import type { Batch, StoredEntry } from '../../ports/event-log/event-log.ts'
import type { FactRow, Facts } from '../../ports/facts/facts.ts'
import { activationRecord, requestRecord, visitRecord } from '../contract/fact-samples.ts'
import { batchOf, MemoryFacts } from './support/memory-facts.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MINUTE_MS = 60_000
const ACME = { organization: 'acme' } as const
const NOW_MS = Date.UTC(2040, 10, 22, 12)
/** Of a line of Logs without texts. */
const LINE_BYTES = 320 + JSON.stringify(['', '', '', '']).length

describe('hours that a batch marks', () => {
  const marksOf = (...rows: readonly (readonly [table: string, row: FactRow])[]): readonly object[] => {
    const hours = createHourMarks('writer', () => NOW_MS).collect()
    for (const [table, row] of rows) hours.note(table as 'visits', row)
    return hours.rows().map(({ website, hour }) => ({ website, hour }))
  }

  it('are those of each time that figures count by, once for each website', () => {
    expect(
      marksOf(
        ['visits', { website: 'a', issued_at: HOUR_MS + 5 }],
        ['visits', { website: 'a', issued_at: 2 * HOUR_MS - 1 }],
        ['activations', { website: 'b', issued_at: HOUR_MS, activated_at: 9 * HOUR_MS }],
        ['handoffs', { website: 'c', issued_at: 3 * HOUR_MS, asked_at: 9 * HOUR_MS }],
        ['installs', { website: 'a', received_at: 5 * HOUR_MS, visit_issued_at: 4 * HOUR_MS }],
        ['install_decisions', { website: 'd', received_at: 6 * HOUR_MS, visit_issued_at: 7 * HOUR_MS }],
        ['deliveries', { website: 'e', install_received_at: 8 * HOUR_MS, at: 9 * HOUR_MS }],
      ),
    ).to.deep.equal([
      { website: 'a', hour: HOUR_MS },
      { website: 'b', hour: HOUR_MS },
      { website: 'c', hour: 3 * HOUR_MS },
      { website: 'a', hour: 5 * HOUR_MS },
      { website: 'a', hour: 4 * HOUR_MS },
      { website: 'd', hour: 6 * HOUR_MS },
      { website: 'd', hour: 7 * HOUR_MS },
      { website: 'e', hour: 8 * HOUR_MS },
    ])
  })

  it('are also those after a page view of a sitting, if they have ended: they may have counted the visit', () => {
    const present = NOW_MS
    expect(
      marksOf(
        ['visits', { website: 'a', sitting: 's', issued_at: HOUR_MS + 5 }],
        ['visits', { website: 'b', sitting: 's', issued_at: present - HOUR_MS }],
        ['visits', { website: 'c', sitting: 's', issued_at: present }],
        ['visits', { website: 'd', sitting: '', issued_at: 5 * HOUR_MS }],
        ['visit_hours', { website: 'e', sitting: 's', began: 7 * HOUR_MS, hour: 9 * HOUR_MS }],
      ),
    ).to.deep.equal([
      { website: 'a', hour: HOUR_MS },
      { website: 'a', hour: 2 * HOUR_MS },
      { website: 'b', hour: present - HOUR_MS },
      { website: 'c', hour: present },
      { website: 'd', hour: 5 * HOUR_MS },
      { website: 'e', hour: 7 * HOUR_MS },
    ])
  })

  it('are none for tables without figures, or for missing times', () => {
    expect(
      marksOf(
        ['request_logs', { website: 'a', received_at: HOUR_MS, issued_at: HOUR_MS }],
        ['installs', { website: 'a', received_at: 0, visit_issued_at: null }],
        ['visits', { website: 'a', issued_at: '1970-01-01' }],
      ),
    ).to.deep.equal([])
  })

  it('say who made them, when, and in which of its batches, so that no two are equal', () => {
    const marks = createHourMarks('writer', () => NOW_MS)
    const versions = [1, 2].map(() => {
      const hours = marks.collect()
      hours.note('visits', { organization: 'acme', website: 'a', issued_at: HOUR_MS })
      return hours.rows()
    })
    const row = { organization: 'acme', website: 'a', hour: HOUR_MS, writer: 'writer', made_at: NOW_MS }
    expect(versions).to.deep.equal([[{ ...row, row_version: 1 }], [{ ...row, row_version: 2 }]])
  })

  describe('of the present hour', () => {
    let nowMs: number
    let marks: ReturnType<typeof createHourMarks>
    beforeEach(() => {
      nowMs = NOW_MS
      marks = createHourMarks('writer', () => nowMs)
    })
    /** A batch with a visit of each website at this moment, and what it marks. */
    const batch = (websites: readonly string[], { atMs = nowMs, isStored = true } = {}): readonly string[] => {
      const hours = marks.collect()
      for (const website of websites) hours.note('visits', { organization: 'acme', website, issued_at: atMs })
      const marked = hours.rows().map(({ website }) => website)
      if (isStored) hours.stored()
      return marked
    }

    it('are marked once in five minutes, each website for itself', () => {
      expect([batch(['a']), batch(['a', 'b']), batch(['a', 'b'])]).to.deep.equal([['a'], ['b'], []])
      nowMs += 5 * MINUTE_MS - 1
      expect(batch(['a', 'b'])).to.deep.equal([])
      nowMs += 1
      expect([batch(['a', 'b']), batch(['a', 'b'])]).to.deep.equal([['a', 'b'], []])
    })

    it('are marked again if the mark was not stored, and in each batch if the hour has ended', () => {
      expect([batch(['a'], { isStored: false }), batch(['a'])]).to.deep.equal([['a'], ['a']])
      const atMs = NOW_MS - 1
      expect([batch(['a'], { atMs }), batch(['a'], { atMs })]).to.deep.equal([['a'], ['a']])
      nowMs += HOUR_MS
      expect(batch(['a'], { atMs: NOW_MS })).to.deep.equal(['a'])
    })

    it('are marked by each batch of the last minutes, which another clock may count among the next hour', () => {
      nowMs = NOW_MS + HOUR_MS - 2 * LIMITS.clockSkewMs - 1
      expect([batch(['a']), batch(['a'])]).to.deep.equal([['a'], []])
      nowMs += 1
      expect([batch(['a']), batch(['a'])]).to.deep.equal([['a'], ['a']])
    })
  })
})

describe('what the backlog of streams takes from a batch', () => {
  let nowMs: number
  let streaming: string[]
  let asked: (readonly [query: string, params: object])[]
  let newest: { lane: string; newest: number; appended_at_ms: number }[]
  let ends: number[]
  let told: unknown[][]
  beforeEach(() => {
    nowMs = NOW_MS
    streaming = ['acme']
    asked = []
    newest = []
    ends = [1_000]
    told = []
  })

  const run = async (query: string, params: object): Promise<readonly object[]> => {
    asked.push([query, params])
    return query === 'streamingOrganizations' ? streaming.map((organization) => ({ organization })) : newest
  }
  const process = (): StreamBacklog =>
    createStreamBacklog({
      facts: { run: run as Facts['run'] },
      eventLog: { progress: async (topic, group) => (asked.push(['progress', { topic, group }]), { done: [0], ends }) },
      logger: { ...SILENT_LOGGER, error: (...words: unknown[]) => void told.push(words) },
      nowMs: () => nowMs,
    })
  const entryAt = (offset: number, appendedAtMs = nowMs): StoredEntry => ({ key: 'k', value: '', offset, appendedAtMs })
  const batch = (offsets: readonly number[], appendedAtMs = nowMs): Batch => ({
    topic: 'requests',
    partition: 0,
    entries: offsets.map((offset) => entryAt(offset, appendedAtMs)),
  })
  const logRow = (organization = 'acme') => ({
    organization,
    website: 'acme-dev',
    id: 'one',
    kind: 'request',
    received_at: NOW_MS - 5,
    status: 404,
    path: '',
    origin: '',
    user_agent: '',
    body: '',
  })
  /** The lane that a batch is written to, by what is noted of one row. */
  const laneOf = async (backlog: StreamBacklog, of: Batch): Promise<ReturnType<typeof readLane>> => {
    const rows = await backlog.collect(of)
    rows.note('request_logs', logRow(), entryAt(0))
    return readLane(rows.rows()[0]?.lane ?? '')
  }
  const queries = (): string[] => asked.map(([query]) => query)

  it('is a row for each line of Logs of an organisation with a stream, with its place on the log', async () => {
    const rows = await process().collect(batch([7, 8]))
    rows.note('request_logs', logRow(), entryAt(7, 11))
    rows.note('request_logs', logRow('other'), entryAt(8))
    rows.note('visits', logRow(), entryAt(8))
    expect(rows.rows()).to.deep.equal([
      {
        organization: 'acme',
        lane: `requests/0/${NOW_MS}/first`,
        first_offset: 7,
        last_offset: 7,
        appended_at: 11,
        website: 'acme-dev',
        kind: 'request',
        status: 404,
        ids: 'one',
        offsets: [0],
        oldest_at: NOW_MS - 5,
        times: [0],
        sizes: [LINE_BYTES],
        row_version: 0,
      },
    ])
  })

  it('has up to 500 records in a row, each organisation its own', async () => {
    streaming = ['acme', 'other']
    const rows = await process().collect(batch([0]))
    for (let offset = 0; offset < 1_002; offset += 1)
      rows.note('request_logs', logRow(offset % 2 === 0 ? 'acme' : 'other'), entryAt(offset))
    const found = rows
      .rows()
      .map(({ organization, first_offset: first, last_offset: last, offsets }) => [
        organization,
        first,
        last,
        offsets.length,
      ])
    expect(found).to.have.deep.members([
      ['acme', 0, 998, 500],
      ['acme', 1_000, 1_000, 1],
      ['other', 1, 999, 500],
      ['other', 1_001, 1_001, 1],
    ])
  })

  it('has records in a row that agree in website, kind and status, by the time of the oldest', async () => {
    const rows = await process().collect(batch([0]))
    for (const [offset, status] of [200, 404, 200].entries())
      rows.note(
        'request_logs',
        { ...logRow(), id: `r${offset}`, status, received_at: NOW_MS - offset },
        entryAt(offset, offset),
      )
    const found = rows
      .rows()
      .map((row) => [row.status, row.ids, row.offsets, row.oldest_at, row.times, row.appended_at])
    expect(found).to.deep.equal([
      [200, 'r0,r2', [0, 2], NOW_MS - 2, [2, 0], 2],
      [404, 'r1', [0], NOW_MS - 1, [0], 1],
    ])
  })

  it('never has records in a row that differ in one of these, although one follows the other', async () => {
    streaming = ['acme', 'other']
    const rows = await process().collect(batch([0]))
    const differing = [{}, { website: 'acme-app' }, { kind: 'event' }, { status: 200 }, { organization: 'other' }]
    for (const [place, more] of differing.entries())
      for (const [half, base] of [logRow(), { ...logRow(), ...more }].entries())
        rows.note('request_logs', { ...base, id: `r${place}${half}`, received_at: NOW_MS + place }, entryAt(place))
    expect(rows.rows().map(({ ids, oldest_at: oldestAt }) => [ids, oldestAt])).to.deep.equal([
      ['r00,r01,r10,r20,r30,r40', NOW_MS],
      ['r11', NOW_MS + 1],
      ['r21', NOW_MS + 2],
      ['r31', NOW_MS + 3],
      ['r41', NOW_MS + 4],
    ])
  })

  it('is nothing, and asks for no lane, while there is no stream', async () => {
    streaming = []
    const rows = await process().collect(batch([0]))
    rows.note('request_logs', logRow(), entryAt(0))
    expect(rows.rows()).to.deep.equal([])
    expect(queries()).to.deep.equal(['streamingOrganizations'])
  })

  it('follows who streams at most every ten seconds, among those seen in the time that a backlog is kept', async () => {
    const backlog = process()
    await backlog.collect(batch([0]))
    nowMs += 9_999
    await backlog.collect(batch([1]))
    nowMs += 1
    await backlog.collect(batch([2]))
    expect(asked.filter(([query]) => query === 'streamingOrganizations')).to.deep.equal(
      [NOW_MS, nowMs].map((atMs) => [
        'streamingOrganizations',
        { since_ms: atMs - LIMITS.logStreamBacklogDays * DAY_MS },
      ]),
    )
  })

  it('continues in the newest lane of its partition that the facts know, however they are ordered', async () => {
    const known = [5, 3].map((begun) => ({ lane: `requests/0/${begun}/renewed`, newest: 9, appended_at_ms: nowMs }))
    const beside = [
      { lane: 'requests/1/8/first', newest: 9, appended_at_ms: nowMs },
      { lane: 'no lane', newest: 9, appended_at_ms: nowMs },
    ]
    for (const rows of [known, known.toReversed()]) {
      newest = [...rows, ...beside]
      expect(await laneOf(process(), batch([10]))).to.include({ begunAtMs: 5, cause: 'renewed' })
    }
    expect(asked.filter(([query]) => query === 'newestOfLanes')[0]).to.deep.equal([
      'newestOfLanes',
      { organizations: ['acme'] },
    ])
    expect(queries()).not.to.include('progress')
  })

  it('asks for known lanes once, and for the end of the log only if a batch goes back', async () => {
    const backlog = process()
    const first = await laneOf(backlog, batch([4, 5]))
    expect(await laneOf(backlog, batch([6]))).to.deep.equal(first)
    expect(queries()).to.deep.equal(['streamingOrganizations', 'newestOfLanes'])
    expect(await laneOf(backlog, batch([6, 7]))).to.deep.equal(first)
    expect(queries().slice(2)).to.deep.equal(['progress'])
    expect(asked.at(-1)).to.deep.equal(['progress', { topic: 'requests', group: 'facts-writer' }])
    expect(told).to.deep.equal([])
  })

  it('continues in a new lane, and reports it, if the log ends before what was known of it', async () => {
    const backlog = process()
    await laneOf(backlog, batch([100]))
    ends = [3]
    // The clock does not move, but the new lane is still the later one.
    expect(await laneOf(backlog, batch([0]))).to.deep.equal({
      topic: 'requests',
      partition: 0,
      begunAtMs: NOW_MS + 1,
      cause: 'renewed',
    })
    expect(told).to.deep.equal([
      [{ topic: 'requests', partition: 0 }, 'the log has begun again: streams go on in a new lane'],
    ])
    nowMs += HOUR_MS
    ends = [1]
    expect(await laneOf(backlog, batch([0]))).to.include({ begunAtMs: nowMs, cause: 'renewed' })
  })

  it('recognises entries that come again after a crash, and remembers the furthest entry', async () => {
    const backlog = process()
    const before = await laneOf(backlog, batch([100], nowMs - HOUR_MS))
    // Behind the furthest one, appended before it.
    expect(await laneOf(backlog, batch([50], nowMs - 2 * HOUR_MS))).to.deep.equal(before)
    // Behind the furthest one, appended long after it.
    expect(await laneOf(backlog, batch([60], nowMs))).to.include({ cause: 'renewed' })
  })

  it('knows no end of a partition that the log does not name', async () => {
    const backlog = process()
    const before = await laneOf(backlog, batch([100]))
    ends = []
    expect(await laneOf(backlog, batch([99]))).to.deep.equal(before)
  })

  it('is refused of a batch without entries', async () => {
    const failure = await process()
      .collect(batch([]))
      .catch((error: unknown) => error)
    expect(String(failure)).to.equal('Error: a batch without entries')
  })
})

describe('a batch with rows that are added to it', () => {
  const streaming: StreamBacklog = {
    collect: (batch) =>
      createStreamBacklog({
        facts: { run: (async (query: string) => (query === 'streamingOrganizations' ? [ACME] : [])) as Facts['run'] },
        eventLog: { progress: async () => ({ done: [0], ends: [9] }) },
        logger: SILENT_LOGGER,
        nowMs: () => NOW_MS,
      }).collect(batch),
  }
  const isVisit = (record: LogRecord): boolean => record.kind === 'visit'
  const write = async (memory: MemoryFacts, records: readonly LogRecord[], isErased = (_: LogRecord) => false) => {
    const erasures = {
      refresh: async () => undefined,
      kept: (record: LogRecord) => (isErased(record) ? null : record),
      haveErased: () => false,
    }
    const marks = createHourMarks('writer', () => NOW_MS)
    await writeBatch(memory.facts, batchOf(records), { nowMs: () => NOW_MS, marks, erasures, backlog: streaming })
  }
  const offsets = (memory: MemoryFacts): unknown[] =>
    (memory.rows.get('stream_pointers') ?? [])
      .flatMap((row) => (row['offsets'] as number[]).map((above) => above + Number(row['first_offset'])))
      .toSorted()
  const visit = visitRecord({ organization: 'without-stream', issuedAtMs: 5 * HOUR_MS })
  const ofAcme = (status: number): LogRecord => requestRecord({ ...ACME, status })
  const marked = (memory: MemoryFacts): unknown[] => (memory.rows.get('hour_marks') ?? []).map((row) => row['hour'])

  it('has them in the tables after its rows, whole or with one row apart', async () => {
    for (const refused of [0, 1]) {
      const memory = new MemoryFacts()
      // Of the log line alone: the backlog must not get a row of it either.
      memory.refuses = (row) => refused > 0 && row['status'] === 501 && row['lane'] === undefined
      await write(memory, [ofAcme(200), visit, ofAcme(501), ofAcme(201)])
      expect(offsets(memory), `${refused} refused`).to.deep.equal(refused > 0 ? [0, 3] : [0, 2, 3])
      expect(marked(memory)).to.deep.equal([5 * HOUR_MS])
      expect([...memory.rows.keys()].at(-1)).to.equal('hour_marks')
      expect(memory.rows.get('poison_records') ?? []).to.have.length(refused)
    }
  })

  it('has nothing of a record that was erased, and no poison for it', async () => {
    const memory = new MemoryFacts()
    await write(memory, [ofAcme(200), visit], isVisit)
    expect({ marks: marked(memory), poison: memory.rows.get('poison_records') }).to.deep.equal({
      marks: [],
      poison: undefined,
    })
    expect(offsets(memory)).to.deep.equal([0])
  })
})

describe('erased data', () => {
  const visit = visitRecord({ website: 'acme-dev', visitId: 'ab'.repeat(16) })
  const other = visitRecord({ website: 'acme-dev', visitId: 'cd'.repeat(16) })
  let rows: { organization: string; website: string; digest: string }[]
  let asked: string[]
  const facts = {
    run: (async (query: string) => {
      asked.push(query)
      if (query === 'erasures') return rows
      return rows.length === 0 ? [] : [{ rows: rows.length }]
    }) as unknown as Facts['run'],
  }
  const erased = (website: string, id: string) => ({
    organization: 'acme',
    website,
    digest: erasedName({ organization: 'acme', website }, id).digest,
  })
  beforeEach(() => {
    rows = []
    asked = []
  })

  it('is read again only if there is more, and otherwise costs one query', async () => {
    const erasures = createErasures(facts)
    await erasures.refresh()
    rows = [erased('acme-dev', visit.visit.visitId)]
    await erasures.refresh()
    await erasures.refresh()
    expect(asked).to.deep.equal(['erasureCount', 'erasureCount', 'erasures', 'erasureCount'])
  })

  it('is removed from every record that names it, only on its own website and of its owner', async () => {
    const elsewhere = visitRecord({ website: 'other-dev', visitId: visit.visit.visitId })
    const later = visitRecord({ organization: 'team/acme', website: 'acme-dev', visitId: visit.visit.visitId })
    const unrelated = requestRecord({ website: 'third-dev' })
    rows = [erased('acme-dev', visit.visit.visitId), erased('other-dev', 'another')]
    const erasures = createErasures(facts)
    expect(erasures.kept(visit), 'before it is known').to.equal(visit)
    await erasures.refresh()
    expect(erasures.kept(visit)).to.equal(null)
    for (const record of [other, elsewhere, later, unrelated]) expect(erasures.kept(record)).to.deep.equal(record)
  })

  it('leaves a record of something else, without its name', async () => {
    const revokedVisitId = visit.visit.visitId
    const revokedIssuedAtMs = 5
    const record = activationRecord({ website: 'acme-dev', visitId: other.visit.visitId, issuedAtMs: 7 })
    rows = [erased('acme-dev', revokedVisitId)]
    const erasures = createErasures(facts)
    await erasures.refresh()
    const kept = erasures.kept({ ...record, revokedVisitId, revokedIssuedAtMs })
    expect(kept).to.deep.equal({ ...record, revokedVisitId: null, revokedIssuedAtMs: null })
  })

  it('is everything of an organisation until that moment, on whichever website, if it was erased whole', async () => {
    const of = (organization: string, website: string, issuedAtMs: number) =>
      visitRecord({ organization, website, issuedAtMs })
    const request = (record: VisitRecord, receivedAtMs: number) => ({
      ...record,
      request: { ...record.request, receivedAtMs },
    })
    rows = [{ organization: 'acme', ...ERASED_WHOLE, erased_at_ms: NOW_MS } as never]
    const erasures = createErasures(facts)
    await erasures.refresh()
    const before = request(of('acme', 'a', 1), NOW_MS)
    const after = request(of('acme', 'b', 1), NOW_MS + 1)
    const others = request(of('team/acme', 'a', 1), NOW_MS)
    expect([before, after, others].map((record) => erasures.kept(record))).to.deep.equal([null, after, others])
  })

  it('is named by owner, website and ID together, never in clear', () => {
    const name = erasedName({ organization: 'acme', website: 'acme-dev' }, 'installation-1')
    expect(name.digest).to.match(/^[0-9a-f]{64}$/)
    expect(name.digest).not.to.equal(erasedName({ organization: 'acme', website: 'acme-de' }, 'vinstallation-1').digest)
    expect(JSON.stringify({ ...name, website: '' })).not.to.include('installation-1')
  })
})
