/** "What if": asked in the dashboard, decided by the role `rollup`, read in pages; each organisation its own. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import { NO_BACKLOG } from '../delivery/support/memory-facts.ts'
import { createActivity } from '../../dashboard/events/activity.ts'
import { askReplay } from '../../dashboard/replays/ask.ts'
import { startReplayWatch } from '../../dashboard/replays/watch.ts'
import { createReadScope } from '../../dashboard/reads/scope.ts'
import type { Directory } from '../../dashboard/resources/directory.ts'
import { createSessions } from '../../dashboard/sessions/sessions.ts'
import { createErasures, erasedName } from '../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { runReplays, startReplayJobs } from '../../delivery/rollup/replay-jobs.ts'
import { cancelEntry, replaySubject } from '../../domain/collection/replay-decision.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { REPLAY_RULES } from '../../domain/limits.ts'
import type { MemberRole } from '../../domain/model.ts'
import { until } from '../../fixtures/until.ts'
import { eraseNamed } from '../../ports/facts/erasure/erase.ts'
import { FactsUnavailable, type Facts } from '../../ports/facts/facts.ts'
import { installRecord, rowsOf, unique, visitRecord } from '../contract/fact-samples.ts'
import type { ReadThread } from '../../bin/reads/thread.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { createRandomness } from '../../runtime/random.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import {
  openReadThread,
  organizationOf,
  SECRET,
  startStage,
  type Stage,
  type Told,
  websiteOf,
} from './support/stage.ts'

const NOW_MS = Date.now()
const START_MS = 120_000
const AT_MS = NOW_MS - 2 * DAY_MS
const PATH = '/api/organizations/acme/replays'
const INSTALLS = 3
const SILENT = SILENT_LOGGER
const WANTED = { website: 'acme-site', policy: 'first_visit', since: NOW_MS - 7 * DAY_MS }

describe('replays of decisions', function () {
  this.timeout(START_MS)
  let facts: TestFacts
  let stage: Stage
  let member: string
  let offsets = { replays: 0, activity: 0 }
  const deps = () => ({ facts, logger: SILENT, nowMs: Date.now })

  before(async () => {
    facts = await openTestFacts()
    const first = { visitId: 'aa'.repeat(16), issuedAtMs: AT_MS - 2 * HOUR_MS }
    const latest = { visitId: 'bb'.repeat(16), issuedAtMs: AT_MS - HOUR_MS }
    const of = { website: 'acme-site', organization: 'acme' }
    const verdicts = [first, latest].map((visit) => ({ ...visit, verdict: 'active' as const }))
    const installs = Array.from({ length: INSTALLS }, () =>
      installRecord({
        ...of,
        eventId: unique('event'),
        installationId: unique('installation'),
        receivedAtMs: AT_MS,
        resolution: 'matched',
        selectionPolicy: 'latest_visit',
        verdicts,
        visitId: latest.visitId,
        visitIssuedAtMs: latest.issuedAtMs,
      }),
    )
    const visits = [
      visitRecord({ ...of, ...first, utm: { source: 'blog' } }),
      visitRecord({ ...of, ...latest, utm: { source: 'search' } }),
    ]
    for (const [table, rows] of rowsOf([...visits, ...installs])) await facts.insert(table, rows)
  })
  beforeEach(async () => {
    const members = { 'member@acme.dev': 'Member', 'viewer@acme.dev': 'Viewer' } as const
    const manifests = [
      organizationOf('acme', { members }) + websiteOf('acme-site', 'acme'),
      organizationOf('other', { members: { 'bert@other.dev': 'Owner' } }) + websiteOf('other-site', 'other'),
    ].join('---\n')
    stage = await startStage({ manifests, facts })
    member = await stage.signIn('member@acme.dev')
    offsets = { replays: 0, activity: 0 }
  })
  afterEach(() => stage?.stop())
  after(async () => {
    await facts?.close()
  })

  const ask = (body: object, cookies = member): Promise<Told> => stage.ask('POST', PATH, { cookies, body })
  const show = async (id: string, more = '', cookies = member): Promise<Told> =>
    stage.ask('GET', `${PATH}/${id}${more}`, { cookies })
  const cancel = (id: string, cookies = member): Promise<Told> => stage.ask('POST', `${PATH}/${id}/cancel`, { cookies })
  /** As the facts-writer does. */
  const written = async (topic: 'replays' | 'activity' = 'replays'): Promise<void> => {
    const entries = await stage.eventLog.read(topic, offsets[topic], 100)
    offsets[topic] += entries.length
    const marks = createHourMarks('test', Date.now)
    const { done } = await writeBatch(
      facts,
      { topic, partition: 0, entries },
      {
        nowMs: Date.now,
        marks,
        erasures: createErasures(facts),
        backlog: NO_BACKLOG,
      },
    )
    expect(done).to.equal(entries.length)
  }
  const asked = async (body: object = WANTED): Promise<string> => {
    const answer = ask(body)
    // The answer waits until the request is stored.
    const isAsked = async (): Promise<boolean> => (await stage.eventLog.read('replays', offsets.replays, 1)).length > 0
    await Promise.race([answer, until(isAsked)])
    await written()
    const told = await answer
    expect(told.status, JSON.stringify(told.body)).to.equal(202)
    return told.body['id']
  }

  /** The facts, with reads of the test's own. */
  const reading = (run: Facts['run'], insert: Facts['insert'] = facts.insert.bind(facts)) => ({
    run,
    each: run,
    insert,
  })

  const expectDecided = async (id: string, runReplaysElsewhere?: ReadThread['runReplays']): Promise<void> => {
    expect((await show(id)).body).to.deep.include({ state: 'waiting', progress: 0, result: null, tokensOnly: false })
    const role = startReplayJobs({ ...deps(), ...(runReplaysElsewhere === undefined ? {} : { runReplaysElsewhere }) })
    try {
      await until(async () => (await show(id)).body['state'] === 'done')
    } finally {
      await role.close()
    }
    const { body } = await show(id)
    expect(body).to.deep.include({ website: 'acme-site', policy: 'first_visit', windowDays: 30, progress: 1 })
    expect(body['result']).to.deep.include({ installs: INSTALLS, changed: INSTALLS, matched: INSTALLS })
    expect(body['result'].sources).to.deep.equal([
      { source: 'search', lost: INSTALLS, gained: 0 },
      { source: 'blog', lost: 0, gained: INSTALLS },
    ])
    expect(body['result'].changes).to.have.lengthOf(INSTALLS)
    expect((await show(id, '?from=2')).body['result'].changes).to.have.lengthOf(INSTALLS - 2)
    const { replays } = (await stage.ask('GET', PATH, { cookies: member })).body
    expect(replays[0]).to.deep.include({ id, state: 'done', installs: INSTALLS })
    expect(replays[0]).not.to.have.property('result')
  }

  it('wait, are decided by the role, and show what each source would lose or gain', async () => {
    await expectDecided(await asked())
  })

  const aheadMs = 7 * HOUR_MS
  const openThread = (insert: Facts['insert']): ReadThread =>
    openReadThread({
      connection: facts.connection,
      facts: { insert },
      directory: stage.directory,
      nowMs: () => Date.now() + aheadMs,
    })

  it('are decided in a thread of their own in the same way, by the clock of the program', async () => {
    const id = await asked()
    const made = [] as unknown[]
    const thread = openThread((table, rows) => {
      made.push(...rows.map((row) => row['made_at']))
      return facts.insert(table, rows)
    })
    try {
      await expectDecided(id, thread.runReplays)
    } finally {
      await thread.close()
    }
    expect(made).to.have.lengthOf.at.least(2)
    for (const atMs of made) expect(atMs).to.be.within(Date.now() + aheadMs - START_MS, Date.now() + aheadMs)
  })

  it('wait in that thread while results cannot be stored, and end with the role', async () => {
    const id = await asked()
    const thread = openThread(() => Promise.reject(new FactsUnavailable('the engine is away')))
    try {
      const error = await thread.runReplays(new AbortController().signal).catch((why: unknown) => why)
      expect(error).to.include({ name: 'FactsUnavailable', message: 'the engine is away' })
      const ended = AbortSignal.abort(new Error('the role has ended'))
      expect(await thread.runReplays(ended).catch((why: unknown) => why)).to.equal(ended.reason)
    } finally {
      await thread.close()
    }
    expect((await show(id)).body['state']).to.equal('waiting')
    await cancel(id)
  })

  it('come to no change under the policy in force, and leave the facts as they were', async () => {
    const before = await facts.run('counts', {})
    const id = await asked({ ...WANTED, policy: 'latest_visit' })
    await runReplays(deps())
    expect((await show(id)).body['result']).to.deep.include({ changed: 0, sources: [], changes: [] })
    expect(await facts.run('counts', {})).to.deep.equal(before)
  })

  it('start again after a kill, and wait while the facts are unreachable', async () => {
    const id = await asked()
    const away = reading((async (query: string, ...rest: never[]) => {
      if (query === 'sourcesOfVisits') throw new FactsUnavailable('away')
      return (facts.run as (...all: unknown[]) => Promise<unknown>)(query, ...rest)
    }) as Facts['run'])
    const error = await runReplays({ ...deps(), facts: away }).catch((why: unknown) => why)
    expect(error).to.be.instanceOf(FactsUnavailable)
    expect((await show(id)).body).to.include({ state: 'running', result: null })
    const [open] = (await facts.run('openReplays', { limit: 10 })).filter((each) => each.id === id)
    await runReplays(deps())
    expect((await show(id)).body['result']).to.include({ changed: INSTALLS })
    const late = reading((async (query: string, ...rest: never[]) => {
      return query === 'openReplays' ? [open] : (facts.run as (...all: unknown[]) => Promise<unknown>)(query, ...rest)
    }) as Facts['run'])
    await runReplays({ ...deps(), facts: { ...late, insert: () => Promise.reject(new Error('it is over')) } })
    expect((await show(id)).body['state'], 'another process was faster').to.equal('done')
  })

  it('are given up, with a reason, once every one of five processes that began them has ended', async () => {
    const id = await asked()
    const endAt = (error: Error, killed = new AbortController()) => ({
      signal: killed.signal,
      facts: reading((async (query: string, ...rest: never[]) => {
        if (query !== 'installsInOrder') return (facts.run as (...all: unknown[]) => Promise<unknown>)(query, ...rest)
        if (!(error instanceof FactsUnavailable)) killed.abort(error)
        throw error
      }) as Facts['run']),
    })
    // The clock of each one is behind that of the one before.
    let behindMs = 0
    const begin = async (error: Error, begun?: Map<string, number>): Promise<void> => {
      const { signal, facts: ending } = endAt(error)
      const options = begun === undefined ? { signal } : { signal, begun }
      const atMs = Date.now() - (behindMs += MINUTE_MS)
      const own = { ...deps(), facts: ending, nowMs: () => atMs }
      expect(await runReplays(own, options).catch((why: unknown) => why)).to.equal(error)
      expect((await show(id)).body).to.include({ state: 'running', failure: null, result: null })
    }
    const begun = new Map<string, number>()
    for (let times = 0; times < 9; times++) await begin(new FactsUnavailable('away'), begun)
    for (let others = 0; others < 4; others++) await begin(new Error('killed'))
    await runReplays(deps())
    expect((await show(id)).body).to.include({ state: 'failed', failure: 'given_up', result: null })
    const { replays } = (await stage.ask('GET', PATH, { cookies: member })).body
    expect(replays[0]).to.include({ id, failure: 'given_up' })
  })

  it('are cancelled while they wait: they never begin, and the activity says who cancelled them', async () => {
    const id = await asked()
    const told = await cancel(id)
    expect([told.status, told.body]).to.deep.equal([202, { id }])
    await written('activity')
    const untouched = facts.run.bind(facts)
    const asks: string[] = []
    const run: Facts['run'] = (query, ...rest) => {
      asks.push(query)
      return untouched(query, ...rest)
    }
    await runReplays({ ...deps(), facts: reading(run) })
    expect(asks).to.include('cancelledReplay').and.not.to.include('installsInOrder')
    expect((await show(id)).body).to.include({ state: 'cancelled', failure: null, result: null })
    const { replays } = (await stage.ask('GET', PATH, { cookies: member })).body
    expect(replays[0]).to.include({ id, state: 'cancelled', failure: null })
    const { entries } = (
      await stage.ask('GET', `/api/organizations/acme/activity?type=replay_cancelled`, { cookies: member })
    ).body
    expect(entries[0]).to.include({ object: `Replay/${id}`, website: 'acme-site' })
    expect(entries[0].actor).to.match(/^p_[0-9a-f]{16}$/)
    const again = await cancel(id)
    expect([again.status, again.body['field'], again.body['message']]).to.deep.equal([
      400,
      '/replay',
      'is over: cancelled',
    ])
  })

  it('are cancelled by Members, of their own organisation, and not once they are done', async () => {
    const id = await asked()
    expect((await cancel(id, await stage.signIn('viewer@acme.dev'))).status).to.equal(403)
    const stranger = await stage.signIn('bert@other.dev')
    expect((await cancel(id, stranger)).status).to.equal(404)
    const theirs = `/api/organizations/other/replays/${id}/cancel`
    expect((await stage.ask('POST', theirs, { cookies: stranger })).status).to.equal(404)
    await runReplays(deps())
    expect((await cancel(id)).body['message']).to.equal('is over: done')
    expect((await show(id)).body).to.include({ state: 'done' })
  })

  it('are given up if the facts fail them again and again while they answer others, which go on meanwhile', async () => {
    const id = await asked()
    const other = await asked({ ...WANTED, since: NOW_MS - 6 * DAY_MS })
    const failing = reading((async (query: string, params: { since_ms?: number }, ...rest: never[]) => {
      const isFirst = (params.since_ms ?? NOW_MS) < NOW_MS - 37 * DAY_MS + HOUR_MS
      if (query === 'pageInOrder' && isFirst) throw new FactsUnavailable('too much memory')
      return (facts.run as (...all: unknown[]) => Promise<unknown>)(query, params, ...rest)
    }) as Facts['run'])
    const begun = new Map<string, number>()
    const look = () => runReplays({ ...deps(), facts: failing }, { begun }).catch((why: unknown) => why)
    expect(await look()).to.be.instanceOf(FactsUnavailable)
    expect((await show(other)).body).to.include({ state: 'done' })
    for (let times = 0; times < 20; times++) expect(await look()).to.be.instanceOf(FactsUnavailable)
    expect(await look()).to.equal(undefined)
    expect((await show(id)).body).to.include({ state: 'failed', failure: 'given_up' })
  })

  it('are cancelled to their last page', async () => {
    const id = await asked()
    const run = (async (query: string, ...rest: never[]) => {
      const rows = await (facts.run as (...all: unknown[]) => Promise<readonly unknown[]>)(query, ...rest)
      if (query !== 'installsInOrder') return rows
      await cancel(id)
      await written('activity')
      return rows
    }) as Facts['run']
    await runReplays({ ...deps(), facts: reading(run) })
    expect((await show(id)).body).to.include({ state: 'cancelled', result: null })
  })

  it('begin anew, and store nothing of it, if something is erased while they run', async () => {
    const id = await asked()
    const erased: string[] = []
    const inserted: string[] = []
    const insert = (async (table: never, rows: readonly { readonly result: string }[]) => {
      inserted.push(...rows.map(({ result }) => result))
      return facts.insert(table, rows)
    }) as Facts['insert']
    const run = (async (query: string, ...rest: never[]) => {
      const rows = await (facts.run as (...all: unknown[]) => Promise<readonly { event_id: string }[]>)(query, ...rest)
      const [first] = rows
      if (query !== 'installsInOrder' || erased.length > 0 || first === undefined) return rows
      erased.push(first.event_id)
      const name = erasedName({ organization: 'acme', website: 'acme-site' }, first.event_id)
      await facts.insert('erasures', [{ ...name, erased_at: Date.now(), row_version: 1 }])
      return rows
    }) as Facts['run']
    await runReplays({ ...deps(), facts: reading(run, insert) })
    expect((await show(id)).body).to.include({ state: 'running', result: null })
    expect(inserted.join()).not.to.include(erased[0])
    await runReplays(deps())
    expect((await show(id)).body).to.include({ state: 'done' })
  })

  it('end if whoever asked for them signs out, is removed or may only read, and say so; those of others go on', async () => {
    const roles = { 'owner@acme.dev': 'Owner', 'viewer@acme.dev': 'Viewer' } as const
    const members = { 'leaves@acme.dev': 'Member', 'removed@acme.dev': 'Member', 'reads@acme.dev': 'Member' } as const
    const applied = (all: Readonly<Record<string, MemberRole>>): string =>
      `${organizationOf('acme', { members: all })}---\n${websiteOf('acme-site', 'acme')}`
    await stage.apply('all.yaml', applied({ ...roles, ...members }))
    const ids: string[] = []
    for (const name of ['leaves', 'removed', 'reads', 'owner']) {
      const cookies = await stage.signIn(`${name}@acme.dev`)
      const told = await ask(WANTED, cookies)
      expect(told.status, name).to.equal(202)
      ids.push(told.body['id'])
      if (name === 'leaves') await stage.ask('POST', '/api/sign-out', { cookies, body: {} })
    }
    await written()
    await stage.apply('all.yaml', applied({ ...roles, 'leaves@acme.dev': 'Member', 'reads@acme.dev': 'Viewer' }))
    await until(async () => {
      const entries = await stage.eventLog.read('activity', offsets.activity, 100)
      return entries.filter(({ value }) => value.toString().includes('"replay_cancelled"')).length === 3
    })
    await written('activity')
    await runReplays(deps())
    const cookies = await stage.signIn('owner@acme.dev')
    const states = await Promise.all(ids.map(async (id) => (await show(id, '', cookies)).body['state']))
    expect(states).to.deep.equal(['cancelled', 'cancelled', 'cancelled', 'done'])
    const path = '/api/organizations/acme/activity?type=replay_cancelled'
    const { entries } = (await stage.ask('GET', path, { cookies })).body
    const objects = entries.map(({ object }: { readonly object: string }) => object)
    expect(objects).to.include.members(ids.slice(0, 3).map((id) => `Replay/${id}`))
    expect(entries[0].message).to.match(/: whoever asked for it was removed, has another role, or signed out\.$/)
    expect(entries[0], 'nobody cancelled it').not.to.have.property('actor')
  })

  const sessionsOf = ({ hotState, nowMs }: Stage): ReturnType<typeof createSessions> => {
    const readGroups = () => Promise.reject(new Error('nobody signed in by an identity provider'))
    const randomness = createRandomness()
    return createSessions({ hotState, nowMs, readGroups, randomness, ...createKeyring([SECRET]) })
  }

  /** The watch of another process, which notes in `noted` what it ends. */
  const watchElsewhere = (noted: string[], more: Partial<Parameters<typeof startReplayWatch>[0]> = {}) => {
    const { hotState, directory, nowMs } = stage
    const closing = new AbortController()
    const parts = {
      facts,
      hotState,
      rights: { sessions: sessionsOf(stage), directory },
      nowMs,
      logger: SILENT,
      noteActivity: async ({ subject = '' }) => `${noted.push(subject)}`,
      ...more,
    }
    const watch = startReplayWatch(parts, closing.signal, 1)
    return { ...watch, stop: () => (closing.abort(), watch.ended) }
  }
  type WatchElsewhere = ReturnType<typeof watchElsewhere>
  const during = async (watches: readonly WatchElsewhere[], act: () => Promise<void>): Promise<void> => {
    try {
      await act()
    } finally {
      await Promise.all(watches.map(({ stop }) => stop()))
    }
  }
  const turnsOf = (looks: readonly unknown[], count = 20): Promise<true> => {
    const before = looks.length
    return until(() => looks.length > before + count)
  }
  /** Whose person has signed out, while no process looks after it. */
  const abandoned = async (): Promise<string> => {
    const cookies = await stage.signIn('member@acme.dev')
    const told = await ask(WANTED, cookies)
    await written()
    stage.endStreams()
    await stage.ask('POST', '/api/sign-out', { cookies, body: {} })
    return told.body['id']
  }
  /** Facts that count what is asked of them. */
  const counting = (queries: string[]): { readonly run: Facts['run'] } => ({
    run: (query, ...more) => (queries.push(query), facts.run(query, ...more)),
  })

  /** Facts that never say which replays are open. */
  const hanging =
    (queries: string[]): Facts['run'] =>
    (query, ...more) => {
      queries.push(query)
      return query === 'openReplays' ? new Promise(() => undefined) : facts.run(query, ...more)
    }

  it('end by any process if the one that took the request has ended, and once', async () => {
    const stays = await asked()
    const id = await abandoned()
    const noted = [] as string[]
    const queries = [] as string[]
    const others = [watchElsewhere(noted, { facts: counting(queries) }), watchElsewhere(noted)]
    await during(others, async () => {
      await until(() => noted.includes(replaySubject(id)))
      stage.advance(3 * MINUTE_MS)
      await turnsOf(queries)
      expect(noted.filter((subject) => subject === replaySubject(id))).to.have.lengthOf(1)
      expect(noted).not.to.include(replaySubject(stays))
    })
  })

  it('end before they are stored, too, and if another process has claimed the end and died', async () => {
    const cookies = await stage.signIn('member@acme.dev')
    await ask(WANTED, cookies)
    const [entry] = await stage.eventLog.read('replays', offsets.replays, 1)
    const { session, id, organization, website, askedAtMs } = JSON.parse(String(entry?.value))
    stage.endStreams()
    await stage.ask('POST', '/api/sign-out', { cookies, body: {} })
    const noted = [] as string[]
    const queries = [] as string[]
    const claimed: string[] = []
    const dying = async ({ subject = '' }): Promise<never> => (claimed.push(subject), new Promise(() => undefined))
    const died = watchElsewhere([], { noteActivity: dying })
    const watch = watchElsewhere(noted, { facts: counting(queries) })
    const replay = { id, organization, website, session, asked_at_ms: askedAtMs }
    died.add(replay)
    await until(() => claimed.includes(replaySubject(id)))
    // Otherwise it might claim it again.
    await died.stop()
    watch.add(replay)
    await during([watch], async () => {
      await turnsOf(queries)
      expect(noted).not.to.include(replaySubject(id))
      stage.advance(61_000)
      await until(() => noted.includes(replaySubject(id)))
    })
    await written()
  })

  it('do not end by a process that does not know who has which rights', async () => {
    const id = await asked()
    stage.endStreams()
    const noted = [] as string[]
    const ofKnowing = [] as string[]
    const ofUnknowing = [] as string[]
    const nothing = {
      websites: () => [],
      members: () => (ofKnowing.push('members'), []),
      passes: () => ({ apiKeys: new Map(), shareLinks: new Map() }),
      catalogNumber: () => 0,
      rightsAge: () => 'current' as const,
    }
    const knowing = (organizations: Directory['organizations'], synced = Promise.resolve()): WatchElsewhere =>
      watchElsewhere(noted, {
        rights: { sessions: sessionsOf(stage), directory: { ...nothing, organizations, synced } },
      })
    const known = Promise.withResolvers<void>()
    const unknown = () => (ofUnknowing.push('none'), new Map())
    const watches = [knowing(stage.directory.organizations, known.promise), knowing(unknown)]
    await during(watches, async () => {
      await turnsOf(ofUnknowing)
      stage.advance(3 * MINUTE_MS)
      await turnsOf(ofUnknowing)
      expect(noted, 'the objects are not known, or not those of the organisation').not.to.include(replaySubject(id))
      expect(ofKnowing, 'the objects are not known').to.be.empty
      known.resolve()
      // Each of them looks at every open replay, those of other tests among them, and each asks the facts for them at its own time.
      await Promise.all([ofKnowing, ofUnknowing].map((looks) => turnsOf(looks, 100)))
      expect(noted, 'the member may be on its way').not.to.include(replaySubject(id))
      stage.advance(3 * MINUTE_MS)
      await until(() => noted.includes(replaySubject(id)))
    })
  })

  it('that are over are not ended, nor when they are made again without what was erased', async () => {
    const cookies = await stage.signIn('member@acme.dev')
    const told = await ask(WANTED, cookies)
    await written()
    // Otherwise the process that took the request might note the end first.
    stage.endStreams()
    const id = told.body['id']
    const noted = [] as string[]
    const queries = [] as string[]
    const looks = [] as string[]
    const watch = watchElsewhere(noted, { facts: counting(queries) })
    const [row] = (await facts.run('openReplays', { limit: 100 })).filter((each) => each.id === id)
    if (row === undefined) throw new Error('it is open')
    await during([watch], async () => {
      await turnsOf(queries)
      await until(async () => {
        await runReplays(deps())
        return (await show(id)).body['state'] === 'done'
      })
      await until(async () => (await stage.hotState.readOnce(`replay-end:${id}`)) === 'over')
      await stage.ask('POST', '/api/sign-out', { cookies, body: {} })
      // As an erasure does.
      await facts.connection.command(`DELETE FROM decision_replay_results WHERE id = '${id}'`)
      expect((await show(id)).body['state']).to.equal('waiting')
      await turnsOf(queries)
      expect(noted).not.to.include(replaySubject(id))
    })
    await stage.hotState.takeOnce(`replay-end:${id}`)
    await until(async () => {
      await runReplays(deps())
      return (await show(id)).body['state'] === 'done'
    })
    const late = watchElsewhere(noted, { facts: { run: hanging(looks) } })
    late.add(row)
    await during([late], async () => {
      await until(() => looks.includes('replayById'))
      await until(async () => (await stage.hotState.readOnce(`replay-end:${id}`)) === 'over')
      expect(noted, 'it is over, although this process has not read that').not.to.include(replaySubject(id))
    })
  })

  it('end at the next look if their end could not be noted, or if the facts or other replays hang', async () => {
    const stuck = await asked()
    const id = await abandoned()
    const noted: string[] = []
    const sessions = sessionsOf(stage)
    let isFirst = true
    const failing = async ({ subject = '' }): Promise<string> => {
      if (!isFirst) return `${noted.push(subject)}`
      isFirst = false
      throw new Error('the log is away')
    }
    const rows = await facts.run('openReplays', { limit: 100 })
    const [lost, other] = [id, stuck].map((wanted) => rows.find((row) => row.id === wanted))
    if (lost === undefined || other === undefined) throw new Error('they are open')
    const looks: string[] = []
    const watch = watchElsewhere(noted, {
      noteActivity: failing,
      facts: { run: hanging([]) },
      rights: {
        directory: stage.directory,
        sessions: {
          readUnattended(session) {
            if (session.id !== other.session) return sessions.readUnattended(session)
            looks.push('other')
            throw new Error('away')
          },
        },
      },
    })
    watch.add(other)
    watch.add(lost)
    await during([watch], async () => {
      await until(() => noted.length > 0)
      await turnsOf(looks, 50)
      expect(noted).to.deep.equal([replaySubject(id)])
    })
  })

  it('are said once to be unwatched while the facts are away, and again when they are away anew', async () => {
    const warnings = [] as string[]
    const asks = [] as string[]
    let isAway = true
    const run: Facts['run'] = (query, ...more) => {
      asks.push(query)
      return isAway ? Promise.reject(new FactsUnavailable('away')) : facts.run(query, ...more)
    }
    const warn = (_error: unknown, text: string): void => void warnings.push(text)
    const watch = watchElsewhere([], { facts: { run }, logger: { warn } as never })
    await during([watch], async () => {
      // More than the first turns, so that turns without a read of the facts are among them.
      await turnsOf(asks, 23)
      expect(warnings).to.have.lengthOf(1)
      isAway = false
      await turnsOf(asks, 2)
      isAway = true
      await until(() => warnings.length === 2)
    })
    expect(warnings[1]).to.equal('whether replays may go on is not known; asking again')
  })

  it('are watched until they are over, also while it cannot be known who may have them', async () => {
    const id = await asked()
    stage.endStreams()
    const asks = [] as string[]
    const noted = [] as string[]
    let isAway = true
    const watch = watchElsewhere(noted, {
      facts: counting(asks),
      rights: {
        directory: stage.directory,
        sessions: {
          async readUnattended(session) {
            asks.push('right')
            if (isAway) throw new Error('the hot state is away')
            return {
              ...session,
              email: 'member@acme.dev',
              groups: [],
              person: '',
              method: 'link',
              signedInAtMs: 0,
            }
          },
        },
      },
    })
    const count = (name: string): number => asks.filter((each) => each === name).length
    await during([watch], async () => {
      await until(() => count('right') > 3)
      isAway = false
      await until(() => count('right') > 30)
      await until(async () => {
        await runReplays(deps())
        return (await facts.run('openReplays', { limit: 100 })).length === 0
      })
      const before = count('openReplays')
      await until(() => count('openReplays') > before + 1)
      const seen = count('right')
      await until(() => count('openReplays') > before + 4)
      expect(count('right'), 'all are over').to.equal(seen)
      expect(noted, 'nothing is to be noted').not.to.include(replaySubject(id))
      expect((await show(id)).body).to.include({ state: 'done' })
    })
  })

  it('that were cancelled have no result, even if the role learned of it too late', async () => {
    const id = await asked()
    await until(async () => {
      await runReplays(deps())
      return (await show(id)).body['state'] === 'done'
    })
    const noteActivity = createActivity({ ...stage, randomness: createRandomness() })
    await noteActivity({ ...cancelEntry({ id, website: 'acme-site' }), organization: 'acme', logRetentionDays: 30 })
    await written('activity')
    expect((await show(id)).body).to.include({ state: 'cancelled', result: null, failure: null })
    const { replays } = (await stage.ask('GET', PATH, { cookies: member })).body
    expect(replays.find((each: { id: string }) => each.id === id)).to.include({ state: 'cancelled' })
    expect((await stage.ask('GET', `${PATH}?website=acme-site`, { cookies: member })).body['replays']).not.to.be.empty
    expect((await stage.ask('GET', `${PATH}?websites=acme-site`, { cookies: member })).status).to.equal(400)
  })

  it('are made again without what was erased', async () => {
    const id = await asked()
    await runReplays(deps())
    const [{ eventId }] = (await show(id)).body['result'].changes
    await eraseNamed(facts.connection, [erasedName({ organization: 'acme', website: 'acme-site' }, eventId)])
    expect((await show(id)).body)
      .to.include({ result: null })
      .and.not.to.include({ state: 'done' })
    // Those of other tests, which are made again as well, come first.
    await until(async () => {
      await runReplays(deps())
      return (await show(id)).body['state'] === 'done'
    })
    const { changes } = (await show(id)).body['result']
    expect(changes.map((change: { eventId: string }) => change.eventId)).to.have.lengthOf(INSTALLS - 1)
    expect(JSON.stringify(changes)).to.not.include(`"${eventId}"`)
  })

  it('are requested by members, for their own websites, and for a period that is not empty', async () => {
    const viewer = await stage.signIn('viewer@acme.dev')
    expect((await ask(WANTED, viewer)).status).to.equal(403)
    expect((await ask({ ...WANTED, website: 'other-site' })).status).to.equal(404)
    expect((await ask({ ...WANTED, since: NOW_MS + DAY_MS })).body).to.include({ error: 'invalid_field' })
    const long = await ask({ ...WANTED, since: NOW_MS - 396 * DAY_MS })
    expect([long.status, long.body['error'], long.body['field']]).to.deep.equal([400, 'invalid_field', '/since'])
    for (const wrong of [{ policy: 'best' }, { windowDays: 31 }, { windowDays: 0 }, { since: -1 }]) {
      expect((await ask({ ...WANTED, ...wrong })).status, JSON.stringify(wrong)).to.equal(400)
    }
    const id = await asked()
    expect((await show(id, '', viewer)).status).to.equal(200)
    const stranger = await stage.signIn('bert@other.dev')
    expect((await show(id, '', stranger)).status).to.equal(404)
    const own = `/api/organizations/other/replays`
    expect((await stage.ask('GET', own, { cookies: stranger })).body).to.deep.equal({ replays: [] })
    expect((await stage.ask('GET', `${own}/${id}`, { cookies: stranger })).status).to.equal(404)
  })

  it(`are requested at most ${REPLAY_RULES.decision_replays.limit} times an hour by an organisation`, async () => {
    const within = Array.from({ length: REPLAY_RULES.decision_replays.limit }, () => ask(WANTED))
    const answers = [...(await Promise.all(within)), await ask(WANTED)].map(({ status }) => status)
    expect(answers.filter((status) => status === 202)).to.have.lengthOf(REPLAY_RULES.decision_replays.limit)
    expect(answers.at(-1)).to.equal(429)
  })
})

describe('the answer to a request for a replay', () => {
  /** Answers of the statement that looks for it, one after another; the last one repeats. */
  async function answered(found: readonly (() => unknown[])[], signal = new AbortController().signal) {
    const looked: string[] = []
    const appended: unknown[] = []
    const run = async (query: string) => {
      looked.push(query)
      return (found[looked.length - 1] ?? found.at(-1))?.()
    }
    const handle = askReplay({
      scope: createReadScope({ websitesOf: () => [], facts: { run } as never, elapsedMs: () => 0 }),
      directory: { websites: () => [{ id: 'acme-site' }] } as never,
      hotState: { countHits: async () => ({ kind: 'counted' }) } as never,
      eventLog: { append: async (topic: string) => void appended.push(topic) },
      randomness: createRandomness(),
      watch: () => undefined,
    })
    const session = { id: 'a session' }
    const call = {
      nowMs: NOW_MS,
      body: WANTED,
      query: {},
      search: new URLSearchParams(),
      session,
      signal,
      scope: { organization: { id: 'acme' }, role: 'Member' },
    }
    return { outcome: await handle(call as never), looked, appended }
  }

  it('comes once the replay can be read', async () => {
    const { outcome, looked } = await answered([() => [], () => [], () => [{}], () => []])
    expect(outcome).to.include({ kind: 'answer', status: 202 })
    expect(looked).to.deep.equal(['replayById', 'replayById', 'replayById'])
  })

  it('comes without it, too, if the facts are late or away, or the person has left', async () => {
    const away = () => {
      throw new FactsUnavailable('away')
    }
    for (const [found, looks] of [[[() => []], 5] as const, [[away], 1] as const]) {
      const { outcome, looked, appended } = await answered(found)
      expect(outcome).to.include({ kind: 'answer', status: 202 })
      expect([looked.length, appended]).to.deep.equal([looks, ['replays']])
    }
    const { outcome, looked } = await answered([() => []], AbortSignal.abort())
    expect(outcome).to.include({ kind: 'answer', status: 202 })
    expect(looked).to.deep.equal([])
  })
})
