/** Roles that are told to stop while ClickHouse or a webhook hangs: each ends soon, and logs no error. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'
import { endedWithin } from '../../common/deadline.ts'
import { createStopping, stoppableFacts } from '../../delivery/stopping.ts'
import { startReplayJobs } from '../../delivery/rollup/replay-jobs.ts'
import { startRollup } from '../../delivery/rollup/rollup.ts'
import { startStreams } from '../../delivery/streams/streams.ts'
import { logStreamKey } from '../../domain/catalog.ts'
import { ACME } from '../../fixtures/delivery/builders.ts'
import { until } from '../../fixtures/delivery/harness.ts'
import type { Facts, FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import { Receiver, SECRET } from './streams/receiver.ts'
import { STREAM } from './streams/stage.ts'

/** Well below the time that a process has for all its parts. */
const STOP_MS = 15_000
/** Longer than a stop waits for ClickHouse. */
const CALL_MS = 4_000
const HOUR = { website: 'acme-dev', hour_ms: 0, marks: 1, row_version: 0, retention_days: 30 }
const JOB = { website: 'acme-dev', id: 'one', policy: 'latest_visit', window_ms: 1, is_tokens_only: false }
const CREDENTIALS = new Map([[logStreamKey(STREAM), { secret: SECRET }]])
const CATALOG = { organizations: new Map([[ACME.id, { ...ACME, logStreams: [STREAM] }]]) }
const LEASE = `stream/${ACME.id} ${STREAM.id}`
const NO_LANES = { streamProgress: [], openLanes: [] }

/** The calls of a role that were not answered, and what it logged about them. */
interface Seen {
  readonly hung: string[]
  readonly said: string[]
}

interface Case {
  /** Where it hangs. */
  readonly at: string
  /** What is answered before. */
  readonly rows: Readonly<Record<string, readonly object[]>>
  readonly start: (facts: FactsReader & FactsWriter, seen: Seen) => { readonly close: () => Promise<void> }
}

const OPEN = { ...JOB, since_ms: 0, until_ms: 1 }

describe('a role that is told to stop', function () {
  this.timeout(60_000)
  let receiver: Receiver
  before(async () => void (receiver = await Receiver.open()))
  after(() => receiver.close())

  const loggerOf = ({ said }: Seen) => {
    const say = (...words: unknown[]): void => void said.push(String(words.at(-1)))
    return { ...SILENT_LOGGER, warn: say, error: say }
  }
  const hang = (what: string, { hung }: Seen): Promise<never> => {
    hung.push(what)
    return new Promise(() => undefined)
  }
  const figures: Case['start'] = (facts, seen) => startRollup({ facts, logger: loggerOf(seen), nowMs: Date.now })
  const replays: Case['start'] = (facts, seen) =>
    startReplayJobs({
      facts: { ...facts, each: (query, params) => facts.run(query, params) },
      logger: loggerOf(seen),
      nowMs: Date.now,
    })
  const streams: Case['start'] = (facts, seen) =>
    startStreams(
      {
        facts,
        telemetry: { logger: loggerOf(seen) },
        nowMs: Date.now,
        eventLog: { append: () => hang('append', seen), progress: () => hang('progress', seen) },
        catalog: { current: () => ({ ...CATALOG, number: 1 }), credentials: () => CREDENTIALS },
        hotState: { claimJob: async () => true, releaseJob: async (key) => void seen.said.push(`${key} given back`) },
      },
      {
        bucket: {},
        webhook: receiver.outbound({
          callMs: CALL_MS,
          resolve: async () => {
            seen.hung.push('webhook')
            return ['93.184.215.14']
          },
        }),
      },
    )

  /** What it had asked in vain and said when its stop was over; null if it was not over in time. */
  const stopped = async ({ at, rows, start }: Case): Promise<Seen | null> => {
    const seen: Seen = { hung: [], said: [] }
    const role = start(
      {
        run: ((query: string) =>
          rows[query] === undefined ? hang(query, seen) : Promise.resolve(rows[query])) as Facts['run'],
        insert: (table) => (rows[table] === undefined ? hang(table, seen) : Promise.resolve()),
      },
      seen,
    )
    await until(() => seen.hung.includes(at))
    return (await endedWithin(role.close(), STOP_MS)) ? seen : null
  }

  it('ends while ClickHouse or a webhook hangs, whatever it was at', async () => {
    receiver.mood = 'hangs'
    const cases: readonly Case[] = [
      { at: 'eventsWithLateVisits', rows: {}, start: figures },
      { at: 'dirtyHours', rows: { eventsWithLateVisits: [] }, start: figures },
      { at: 'hourFacts', rows: { eventsWithLateVisits: [], dirtyHours: [HOUR] }, start: figures },
      { at: 'countedFacts', rows: { eventsWithLateVisits: [], dirtyHours: [HOUR], hourFacts: [] }, start: figures },
      {
        at: 'website_hours',
        rows: { eventsWithLateVisits: [], dirtyHours: [HOUR], hourFacts: [], countedFacts: [] },
        start: figures,
      },
      { at: 'openReplays', rows: {}, start: replays },
      { at: 'erasureCount', rows: { openReplays: [OPEN] }, start: replays },
      { at: 'begunReplay', rows: { openReplays: [OPEN], erasureCount: [] }, start: replays },
      {
        at: 'decision_replay_results',
        rows: { openReplays: [OPEN], erasureCount: [], begunReplay: [], cancelledReplay: [] },
        start: replays,
      },
      {
        at: 'installsInOrder',
        rows: {
          openReplays: [OPEN],
          erasureCount: [],
          begunReplay: [],
          cancelledReplay: [],
          decision_replay_results: [],
          pageInOrder: [{ records: 1, last_ms: 0, last_id: 'event' }],
        },
        start: replays,
      },
      {
        at: 'cancelledReplay',
        rows: { openReplays: [OPEN], erasureCount: [], begunReplay: [] },
        start: replays,
      },
      { at: 'streamProgress', rows: {}, start: streams },
      { at: 'streamCommands', rows: NO_LANES, start: streams },
      { at: 'webhook', rows: { ...NO_LANES, streamCommands: [] }, start: streams },
    ]
    const ends = await Promise.all(cases.map(stopped))
    const given = (start: Case['start']): string[] => (start === streams ? [`${LEASE} given back`] : [])
    expect(ends).to.deep.equal(cases.map(({ at, start }) => ({ hung: [at], said: given(start) })))
  })

  it('still finishes what is answered soon', async () => {
    const answer = Promise.withResolvers<readonly never[]>()
    const stopping = createStopping()
    const facts = stoppableFacts({ run: () => answer.promise, insert: async () => undefined }, stopping)
    const work = facts.run('dirtyHours', { until_ms: 1, limit: 1 })
    const ended = stopping.end(work)
    expect(stopping.signal.aborted).to.equal(true)
    answer.resolve([])
    await ended
    expect(await work).to.deep.equal([])
  })
})
