/** Installs decided again under another policy, read from a real engine page by page. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import { runReplays } from '../../delivery/rollup/replay-jobs.ts'
import { cancelOpenReplay } from '../../delivery/tools/cancel-replay.ts'
import { replayDecisions, TooManyInstallations, type ReplayRequest } from '../../delivery/rollup/replay-decisions.ts'
import {
  FOLLOWED_FOR_MS,
  type ReplayCheckpoint,
  type UnfinishedReplay,
} from '../../domain/collection/replay-decision.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Install } from '../../domain/model.ts'
import type { ActivityRecord } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { AskedReplayRow, DecidedInstallRow } from '../../ports/facts/pages/replay.ts'
import { decisionRecord, installRecord, rowsOf, unique, visitRecord } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'

const START_MS = 120_000
const FROM_MS = Math.floor(Date.now() / DAY_MS - 20) * DAY_MS
const FIRST = 'aa'.repeat(16)
const LATEST = 'bb'.repeat(16)
const FIRST_AT_MS = FROM_MS - 3 * DAY_MS
const LATEST_AT_MS = FROM_MS - HOUR_MS
const WHOLE = { windowMs: LIMITS.receiptLifetimeMs, isTokensOnly: false }

describe('installs that are decided again', function () {
  this.timeout(START_MS)
  let facts: TestFacts
  let website: string
  before(async () => {
    facts = await openTestFacts()
  })
  beforeEach(() => {
    website = unique('site')
  })
  after(async () => {
    await facts?.close()
  })

  const write = async (...records: Parameters<typeof rowsOf>[0]): Promise<void> => {
    for (const [table, rows] of rowsOf(records)) await facts.insert(table, rows)
  }
  const visits = () => [
    visitRecord({ website, visitId: FIRST, issuedAtMs: FIRST_AT_MS, utm: { source: 'blog' } }),
    visitRecord({ website, visitId: LATEST, issuedAtMs: LATEST_AT_MS, utm: { source: 'search' } }),
  ]
  const ofBoth = (changes: Partial<Install> = {}) =>
    installRecord({
      website,
      eventId: unique('event'),
      installationId: unique('installation'),
      receivedAtMs: FROM_MS,
      resolution: 'matched',
      selectionPolicy: 'latest_visit',
      visitId: LATEST,
      visitIssuedAtMs: LATEST_AT_MS,
      verdicts: [
        { visitId: FIRST, issuedAtMs: FIRST_AT_MS, verdict: 'active' },
        { visitId: LATEST, issuedAtMs: LATEST_AT_MS, verdict: 'active' },
      ],
      ...changes,
    })
  const replay = (changes: Partial<ReplayRequest> = {}) => {
    const period = { sinceMs: FROM_MS, untilMs: FROM_MS + DAY_MS }
    const policy = { policy: 'first_visit', ...WHOLE } as const
    return replayDecisions(facts, { organization: 'acme', website, policy, ...period, ...changes }, { pageSize: 3 })
  }

  it('are refused, not cut, if more installations would have to be remembered than there is room for', async () => {
    const again = (mostInstallations: number) => {
      const policy = { policy: 'first_visit', ...WHOLE } as const
      const period = { sinceMs: FROM_MS, untilMs: FROM_MS + 50 * DAY_MS }
      return replayDecisions(
        facts,
        { organization: 'acme', website, policy, ...period },
        { pageSize: 2, mostInstallations },
      )
    }
    // Of two installations a day, those of the days before are forgotten once their receipts have expired.
    const days = [0, 1, 40, 41]
    const at = (day: number) => ofBoth({ receivedAtMs: FROM_MS + day * DAY_MS })
    await write(...days.flatMap((day) => [at(day), at(day)]))
    expect((await again(4)).installs).to.equal(8)
    const error = await again(3).catch((why: unknown) => why)
    expect(error).to.be.instanceOf(TooManyInstallations)
  })

  it('change their visit and its source, in every page, each once however often it was written', async () => {
    const installs = Array.from({ length: 8 }, (_, index) => ofBoth({ receivedAtMs: FROM_MS + (index >> 1) }))
    await write(...visits(), ...installs)
    await write(...installs)
    const result = await replay()
    expect(result).to.deep.include({ installs: 8, matched: 8, replayedMatched: 8, notDecided: 0, changed: 8 })
    expect(result.sources).to.deep.equal([
      { source: 'search', lost: 8, gained: 0 },
      { source: 'blog', lost: 0, gained: 8 },
    ])
    expect(result.changes.map(({ eventId }) => eventId)).to.have.members(installs.map((each) => each.install.eventId))
    expect(result.changes[0]).to.deep.include({
      visitId: LATEST,
      selectionPolicy: 'latest_visit',
      source: 'search',
      replayedVisitId: FIRST,
      replayedPolicy: 'first_visit',
      replayedSource: 'blog',
    })
  })

  it('are all found beside events that were recorded again at another time, however many of these there are', async () => {
    const installs = Array.from({ length: 4 }, (_, index) => ofBoth({ receivedAtMs: FROM_MS + index * HOUR_MS }))
    await write(...visits(), ...installs)
    // More than three pages of records that do not count.
    const again = installs.flatMap(({ install: { eventId } }) =>
      Array.from({ length: 8 }, (_, index) => ofBoth({ eventId, receivedAtMs: FROM_MS + 5 * HOUR_MS + index })),
    )
    await write(...again)
    await write(ofBoth({ receivedAtMs: FROM_MS + 6 * HOUR_MS }))
    expect(await replay()).to.deep.include({ installs: 5, changed: 5 })
  })

  it('come to the same if another process goes on from a checkpoint, whichever it is', async () => {
    const installationId = unique('installation')
    const ofDay = (day: number, more: Partial<Install> = {}) =>
      ofBoth({ receivedAtMs: FROM_MS + day * HOUR_MS, ...more })
    const follows = { installationId, verdicts: [], selectionPolicy: 'same_installation' } as const
    await write(...visits(), ofDay(0, { installationId }), ...[0, 1, 1, 2, 3, 4, 4].map((day) => ofDay(day)))
    await write(ofDay(5, follows), ofDay(6, follows))
    const policy = { policy: 'first_visit', ...WHOLE } as const
    const request = { organization: 'acme', website, policy, sinceMs: FROM_MS, untilMs: FROM_MS + DAY_MS }
    const checkpoints: ReplayCheckpoint[] = []
    const onProgress = ({ checkpoint }: { checkpoint: () => ReplayCheckpoint }): void =>
      void checkpoints.push(JSON.parse(JSON.stringify(checkpoint())) as ReplayCheckpoint)
    const whole = await replayDecisions(facts, request, { pageSize: 2, onProgress })
    expect(whole).to.include({ installs: 10, changed: 10 })
    expect(checkpoints).to.have.lengthOf(5)
    for (const from of checkpoints.splice(0)) {
      const resumed = await replayDecisions(facts, request, { pageSize: 3, from, onProgress })
      expect(resumed, `from ${from.result.installs}`).to.deep.equal(whole)
    }
    expect(checkpoints.length).to.be.greaterThan(5)
    for (const from of checkpoints) {
      const again = await replayDecisions(facts, request, { pageSize: 4, from })
      expect(again, `again from ${from.result.installs}`).to.deep.equal(whole)
    }
  })

  it('come out as they were under the policy that decided them, also those that were pending', async () => {
    const pending = ofBoth({ resolution: 'pending', selectionPolicy: 'none', visitId: null, visitIssuedAtMs: null })
    const still = ofBoth({ resolution: 'pending', selectionPolicy: 'none', visitId: null, visitIssuedAtMs: null })
    const outcome = { visitId: LATEST, visitIssuedAtMs: LATEST_AT_MS, verdicts: pending.install.verdicts }
    await write(...visits(), ofBoth(), pending, still, decisionRecord(pending, outcome))
    const policy = { policy: 'latest_visit', ...WHOLE } as const
    expect(await replay({ policy })).to.deep.include({ installs: 3, matched: 2, notDecided: 1, changed: 0 })
    expect(await replay()).to.deep.include({ installs: 3, matched: 2, replayedMatched: 2, notDecided: 1, changed: 2 })
  })

  it('follow matches from before the period, and are counted within it alone', async () => {
    const installationId = unique('installation')
    const before = ofBoth({ installationId, receivedAtMs: FROM_MS - 1 })
    const later = ofBoth({ installationId, verdicts: [], selectionPolicy: 'same_installation' })
    await write(...visits(), before, later, ofBoth({ receivedAtMs: FROM_MS + DAY_MS }))
    const result = await replay()
    expect(result).to.deep.include({ installs: 1, changed: 1 })
    expect(result.changes[0]).to.deep.include({ replayedVisitId: FIRST, replayedPolicy: 'same_installation' })
  })

  it('lose their visit if it is older than the window', async () => {
    await write(
      ...visits(),
      ofBoth({ verdicts: [{ visitId: FIRST, issuedAtMs: FIRST_AT_MS, verdict: 'active' }], visitId: FIRST }),
    )
    const policy = { policy: 'latest_visit', windowMs: DAY_MS, isTokensOnly: false } as const
    const result = await replay({ policy })
    expect(result).to.deep.include({ matched: 1, replayedMatched: 0, changed: 1 })
    expect(result.sources).to.deep.equal([{ source: 'blog', lost: 1, gained: 0 }])
  })

  it('end with the caller', async () => {
    await write(...visits(), ofBoth())
    const policy = { policy: 'first_visit', ...WHOLE } as const
    const request = { organization: 'acme', website, policy, sinceMs: FROM_MS, untilMs: FROM_MS + DAY_MS }
    const gone = new Error('gone')
    const error = await replayDecisions(facts, request, { signal: AbortSignal.abort(gone) }).catch(
      (why: unknown) => why,
    )
    expect(error).to.equal(gone)
  })
})

describe('a replay that ends before it is done', () => {
  const PAGE = 5_000
  const job: AskedReplayRow = {
    website: 'acme-site',
    id: 'replay-1',
    organization: 'acme',
    asked_at_ms: FROM_MS,
    policy: 'first_visit',
    window_ms: LIMITS.receiptLifetimeMs,
    is_tokens_only: false,
    since_ms: FROM_MS,
    until_ms: FROM_MS + DAY_MS,
  }
  const install: DecidedInstallRow = {
    event_id: 'event',
    installation_id: 'installation',
    event_type: 'install_completed',
    resolution: 'unmatched',
    received_at_ms: FROM_MS,
    selection_policy: 'none',
    visit_id: '',
    visit_issued_at_ms: null,
    verdicts: '[]',
  }
  /** Facts with installs without end; it is cancelled after so many pages. */
  const endless = (cancelledAfter: number) => {
    let pages = 0
    const rows: RowOf<'decision_replay_results'>[] = []
    const answers: Readonly<Record<string, () => readonly object[]>> = {
      openReplays: () => [job],
      begunReplay: () => rows.slice(-1),
      cancelledReplay: () => (pages < cancelledAfter ? [] : [{ id: 'entry' }]),
      pageInOrder: () => [{ records: PAGE, last_ms: FROM_MS + pages + 1, last_id: 'event' }],
      installsInOrder() {
        pages += 1
        return Array.from({ length: PAGE }, () => ({ ...install, received_at_ms: FROM_MS + pages }))
      },
    }
    const asked: { readonly query: string; readonly params: object }[] = []
    const run = (async (query: string, params: object) => {
      asked.push({ query, params })
      return answers[query]?.() ?? []
    }) as Facts['run']
    const facts = {
      run,
      each: run,
      insert: async (_table: string, inserted: readonly object[]) => void rows.push(...(inserted as typeof rows)),
    }
    return { facts, rows, asked, pages: () => pages }
  }
  const SILENT = SILENT_LOGGER

  it('goes on from its checkpoint in another process, and is not given up while it gets further', async () => {
    const world = endless(Number.POSITIVE_INFINITY)
    let nowMs = FROM_MS
    let begunAtMs: number | undefined
    for (let processes = 1; processes <= 7; processes++) {
      const killed = new AbortController()
      const run: Facts['run'] = (query, ...rest) => {
        nowMs += 2 * SECOND_MS
        if (query === 'installsInOrder' && world.pages() === processes * 5) killed.abort(new Error('killed'))
        killed.signal.throwIfAborted()
        return world.facts.run(query, ...rest)
      }
      const deps = { facts: { ...world.facts, run, each: run }, logger: SILENT, nowMs: () => nowMs }
      const error = await runReplays(deps, { signal: killed.signal }).catch((why: unknown) => why)
      expect(error).to.equal(killed.signal.reason)
      const { starts, checkpoint } = JSON.parse(world.rows.at(-1)?.result ?? '') as UnfinishedReplay
      expect(starts).to.equal(1)
      expect(checkpoint?.result.installs).to.be.greaterThan((processes - 1) * 5 * PAGE - PAGE)
      expect(world.rows.at(-1)).to.include({ state: 'running', installs: checkpoint?.result.installs })
      const [begin] = world.asked.splice(0).filter(({ query }) => query === 'pageInOrder')
      const from = processes === 1 ? FROM_MS : (begunAtMs ?? 0)
      expect(begin?.params).to.include({ since_ms: from - FOLLOWED_FOR_MS })
      begunAtMs = checkpoint?.afterMs
    }
  })

  for (const pages of [0, 1, 3])
    it(`stops after ${pages} pages if it is cancelled then, and says so`, async () => {
      const world = endless(pages)
      const errors: unknown[] = []
      const logger = { ...SILENT, error: (...all: unknown[]) => void errors.push(all) }
      await runReplays({ facts: world.facts, logger, nowMs: Date.now })
      expect(world.pages()).to.equal(pages)
      const [last] = world.rows.toSorted((one, other) => Number(other.row_version) - Number(one.row_version))
      expect(last).to.include({ state: 'failed', id: job.id })
      expect(JSON.parse(last?.result ?? '')).to.deep.equal({ starts: 1, failure: 'cancelled' })
      expect(errors, 'it is no error of the service').to.deep.equal([])
    })

  it('is cancelled by the operator of the service with an entry that the role finds, if it waits or runs', async () => {
    const { facts } = endless(0)
    const entries: ActivityRecord[] = []
    const append: EventLog['append'] = async (_topic, all) => {
      for (const { value } of all) entries.push(JSON.parse(value.toString()) as ActivityRecord)
      return { offsets: [] } as never
    }
    const deps = { facts, eventLog: { append }, nowMs: () => FROM_MS }
    expect(await cancelOpenReplay(deps, 'another')).to.equal(false)
    expect(entries).to.deep.equal([])
    expect(await cancelOpenReplay(deps, job.id)).to.equal(true)
    expect(entries).to.have.lengthOf(1)
    expect(entries[0]).to.include({
      organization: 'acme',
      website: 'acme-site',
      type: 'replay_cancelled',
      subject: 'Replay/replay-1',
    })
  })
})
