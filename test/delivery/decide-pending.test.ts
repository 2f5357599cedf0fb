/** How pending installs are decided: by the state at the time when the event was received, and not before the facts are there. */

import { expect } from 'chai'

import { whoIsDue } from '../../delivery/dispatch/awaited-facts.ts'
import { decidePending, OwnDecisions, type Arrival, type DecideDeps } from '../../delivery/dispatch/decide-pending.ts'
import { AWAITED_TOPICS, type Offsets } from '../../domain/collection/facts-lag.ts'
import type { Install, OpenCandidate } from '../../domain/model.ts'
import type { DecisionRecord } from '../../domain/records.ts'
import {
  catalogOf,
  DAY_MS,
  destinationOf,
  HOUR_MS,
  NOON_MS,
  recordOf,
  visitOf,
} from '../../fixtures/delivery/builders.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { activeHistory, matchRow, pendingInstall } from './support/pending.ts'

const FIRST = visitOf().visitId
const OLDER = 'a'.repeat(32)
const OLDER_AT_MS = NOON_MS - 3 * DAY_MS

describe('deciding pending installs', () => {
  let facts: FactsDouble
  let done: Offsets
  let ends: Offsets
  let isLogAway: boolean
  let nowMs: number

  beforeEach(() => {
    facts = new FactsDouble()
    done = [5, 5]
    ends = [5, 5]
    isLogAway = false
    nowMs = NOON_MS + 2_000
  })
  const deps = () => ({
    eventLog: {
      async progress() {
        if (isLogAway) throw new LogUnavailable('away')
        return { done, ends }
      },
    },
    facts,
    catalog: () => catalogOf([destinationOf()]),
    nowMs: () => nowMs,
  })
  /** As dispatch does. */
  const advance = async (arrivals: readonly Arrival[], more: Partial<DecideDeps> = {}) => {
    const { due, waiting } = await whoIsDue(arrivals, deps())
    const decided = await decidePending(due, { ...deps(), ...more })
    return { ...decided, waiting: [...waiting, ...decided.waiting] }
  }
  const arrival = (install: Install = pendingInstall()): Arrival => ({
    record: recordOf(install),
    firstSeenAtMs: NOON_MS,
  })
  const decide = async (install: Install = pendingInstall()): Promise<DecisionRecord | null> => {
    const { ready, decisions } = await advance([arrival(install)])
    expect(decisions.length).to.equal(ready.length)
    return decisions[0] ?? null
  }
  const candidate = (more: Partial<OpenCandidate>): OpenCandidate => ({
    visitId: FIRST,
    issuedAtMs: visitOf().issuedAtMs,
    gpc: false,
    isDecided: false,
    ...more,
  })
  const two = (more: Partial<OpenCandidate> = {}): Install =>
    pendingInstall({
      openCandidates: [candidate({}), candidate({ visitId: OLDER, issuedAtMs: OLDER_AT_MS, ...more })],
    })

  it('does not touch installs that are not pending, and runs no query for them', async () => {
    const plain = arrival({ ...pendingInstall(), resolution: 'unmatched' })
    expect(await advance([plain])).to.deep.equal({ ready: [plain], waiting: [], decisions: [] })
    expect(facts.asked).to.deep.equal([])
  })

  describe('waits', () => {
    it('while a destination may be missing because the catalog is older than the one that planned, until its deadline', async () => {
      facts.histories.push(activeHistory())
      const behind = { isBehind: () => true, waitFor: (number: number) => waited.push(number) }
      const waited: number[] = []
      const gone = { catalog: () => catalogOf([]), waits: behind }
      const planned = arrival()
      expect((await advance([planned], gone)).waiting).to.have.length(1)
      expect(waited).to.deep.equal([1])
      expect((await advance([planned], { waits: behind })).ready, 'nothing is missing').to.have.length(1)
      nowMs = NOON_MS + 71 * HOUR_MS
      expect((await advance([planned], gone)).ready).to.have.length(1)
    })

    it('while a partition of what it needs is behind', async () => {
      done = [5, 4]
      const { ready, waiting } = await advance([arrival()])
      expect(ready).to.deep.equal([])
      const needed = Object.fromEntries(AWAITED_TOPICS.map((topic) => [topic, [5, 5]]))
      expect(waiting.map((each) => each.ends)).to.deep.equal([needed])
    })

    it('for nothing that came after it was first seen', async () => {
      done = [5, 4]
      const first = await advance([arrival()])
      done = [5, 5]
      ends = [9, 9]
      const second = await advance(first.waiting)
      expect(second.decisions.length).to.equal(1)
    })

    it('an hour at most', async () => {
      done = [0, 0]
      nowMs = NOON_MS + HOUR_MS - 1
      expect(await decide()).to.equal(null)
      nowMs = NOON_MS + HOUR_MS
      expect(await decide()).to.include({ resolution: 'unmatched' })
    })

    it('an hour at most, and then still follows an installation that was matched', async () => {
      const install = pendingInstall({ openCandidates: [] })
      done = [0, 0]
      facts.matches.push(matchRow(install))
      nowMs = NOON_MS + HOUR_MS
      expect(await decide(install)).to.include({ resolution: 'matched', selectionPolicy: 'same_installation' })
    })

    it('for an earlier event of its installation that is pending itself, an hour at most', async () => {
      const install = pendingInstall({ openCandidates: [] })
      facts.matches.push(matchRow(install, { resolution: 'pending', visit_id: '', visit_issued_at_ms: null }))
      const { ready, waiting } = await advance([arrival(install)])
      expect([ready.length, waiting.length]).to.deep.equal([0, 1])
      nowMs = NOON_MS + HOUR_MS
      expect(await decide(install)).to.include({ resolution: 'unmatched' })
    })

    it('and lets what is decided already go on', async () => {
      done = [5, 4]
      const plain = arrival({ ...pendingInstall(), resolution: 'unmatched' })
      const { ready, waiting } = await advance([plain, arrival()])
      expect([ready, waiting.length]).to.deep.equal([[plain], 1])
    })

    it('while the end or the position of a partition is not known, although all others are there', async () => {
      ends = [5, null]
      expect(await decide()).to.equal(null)
      ends = [5, 5]
      done = [5, null]
      expect(await decide()).to.equal(null)
      done = [5, 5]
      expect(await decide()).to.include({ resolution: 'unmatched' })
    })

    it('for the end of a partition that was not known when it was first seen, as it is later', async () => {
      ends = [5, null]
      const first = await advance([arrival()])
      ends = [5, 7]
      const second = await advance(first.waiting)
      expect(second.decisions).to.deep.equal([])
      expect(second.waiting.map((each) => each.ends?.activations)).to.deep.equal([[5, 7]])
      ends = [9, 9]
      done = [5, 7]
      expect((await advance(second.waiting)).decisions.length).to.equal(1)
    })

    it('while the log gives no answer, an hour at most, and does not hold up the others of its batch', async () => {
      isLogAway = true
      const plain = arrival({ ...pendingInstall(), resolution: 'unmatched' })
      const { ready, waiting } = await advance([plain, arrival()])
      expect([ready, waiting.length]).to.deep.equal([[plain], 1])
      nowMs = NOON_MS + HOUR_MS
      expect(await decide()).to.include({ resolution: 'unmatched' })
    })
  })

  describe('judges receipts by the moment at which the event was received', () => {
    const CASES: readonly [string, Parameters<typeof activeHistory>[0] | null, string, string][] = [
      ['activated before', {}, 'active', 'matched'],
      ['activated in that millisecond', { activated_at_ms: NOON_MS }, 'active', 'matched'],
      [
        'activated after, as far as clocks can tell',
        { activated_at_ms: NOON_MS + 5_001 },
        'never_activated',
        'unmatched',
      ],
      ['not activated', { activated_at_ms: null }, 'never_activated', 'unmatched'],
      ['not known', null, 'never_activated', 'unmatched'],
      ['revoked before', { revoked_at_ms: NOON_MS }, 'revoked', 'unmatched'],
      ['revoked after', { revoked_at_ms: NOON_MS + 1 }, 'active', 'matched'],
      ['revoked and never activated', { activated_at_ms: null, revoked_at_ms: NOON_MS - 1 }, 'revoked', 'unmatched'],
    ]
    for (const [name, history, verdict, resolution] of CASES) {
      it(name, async () => {
        if (history !== null) facts.histories.push(activeHistory(history))
        const decision = await decide()
        expect(decision?.verdicts.map((each) => each.verdict)).to.deep.equal([verdict])
        expect(decision).to.include({ resolution, receivedAtMs: NOON_MS, decidedAtMs: nowMs })
      })
    }

    it('revokes what an active one names as its predecessor, even if no row says so yet', async () => {
      facts.histories.push(activeHistory({ previous_visit_id: OLDER }), activeHistory({ visit_id: OLDER }))
      const decision = await decide(two())
      expect(decision?.verdicts.map((each) => each.verdict)).to.deep.equal(['active', 'revoked'])
      expect(decision).to.include({ candidateCount: 1, visitId: FIRST })
    })

    it('revokes nothing by one that was activated after the event', async () => {
      const successor = activeHistory({ previous_visit_id: OLDER, activated_at_ms: NOON_MS + 1 })
      facts.histories.push(successor, activeHistory({ visit_id: OLDER }))
      expect(await decide(two())).to.include({ candidateCount: 1, visitId: OLDER })
    })

    it('keeps what was known to be active, and its flags', async () => {
      const decision = await decide(two({ isDecided: true, gpc: true }))
      expect(decision).to.include({ candidateCount: 1, visitId: OLDER, visitIssuedAtMs: OLDER_AT_MS, gpc: true })
    })
  })

  describe('follows the installation', () => {
    const alone = (): Install => pendingInstall({ openCandidates: [] })

    it('to the visit that its event right before was matched to', async () => {
      facts.matches.push(
        matchRow(alone(), { received_at_ms: NOON_MS + 1, visit_id: OLDER }),
        matchRow(alone(), { received_at_ms: NOON_MS - 1, gpc: true }),
        matchRow(alone(), { received_at_ms: NOON_MS - 2, visit_id: OLDER }),
      )
      expect(await decide(alone())).to.include({
        resolution: 'matched',
        selectionPolicy: 'same_installation',
        candidateCount: 0,
        visitId: FIRST,
        gpc: true,
      })
    })

    it('never to itself or to what came in the same millisecond behind it', async () => {
      const { eventId } = alone()
      const now = { received_at_ms: NOON_MS, resolution: 'pending', visit_id: '', visit_issued_at_ms: null } as const
      facts.matches.push(
        matchRow(alone(), { ...now, event_id: `${eventId}-behind` }),
        matchRow(alone(), { ...now, event_id: eventId }),
      )
      expect(await decide(alone())).to.include({ resolution: 'unmatched' })
    })

    it('not beyond 30 days', async () => {
      facts.matches.push(matchRow(alone(), { visit_issued_at_ms: NOON_MS - 30 * DAY_MS - 1 }))
      expect(await decide(alone())).to.include({ resolution: 'unmatched' })
    })

    it('only if it has no candidate of its own', async () => {
      facts.histories.push(activeHistory())
      facts.matches.push(matchRow(pendingInstall(), { visit_id: OLDER }))
      expect(await decide()).to.include({ selectionPolicy: 'latest_visit', visitId: FIRST })
    })
  })

  it('decides also for a website that is gone by then, and leaves its deliveries as they were planned', async () => {
    facts.histories.push(activeHistory())
    const install = pendingInstall()
    const catalog = () => ({ ...catalogOf([]), websites: new Map() })
    const { decisions } = await advance([arrival(install)], { catalog })
    expect(decisions[0]?.resolution).to.equal('matched')
    const planned = install.deliveries.map((plan) => ({ ...plan, sessionMode: 'client_only' }))
    expect(decisions[0]?.deliveries).to.deep.equal(planned)
  })

  it('leaves others as they are beside those that it decides', async () => {
    facts.histories.push(activeHistory())
    const plain = arrival({ ...pendingInstall({ eventId: 'event-plain' }), resolution: 'unmatched' })
    const { ready, decisions } = await advance([plain, arrival()])
    expect(ready.map(({ record }) => record.install.resolution)).to.deep.equal(['unmatched', 'matched'])
    expect([ready[0], decisions.length]).to.deep.equal([plain, 1])
  })

  it('decides ten events of an installation at once, and leaves the others waiting', async () => {
    const many = Array.from({ length: 11 }, (_, place) =>
      arrival(pendingInstall({ eventId: `event-${place}`, receivedAtMs: NOON_MS + place, openCandidates: [] })),
    )
    const { ready, waiting } = await advance(many)
    expect([ready.length, waiting]).to.deep.equal([10, [many[10]].map((each) => ({ ...each, ends: waiting[0]?.ends }))])
  })

  it('remembers its decision about that very record until it is forgotten', async () => {
    const own = new OwnDecisions()
    facts.histories.push(activeHistory())
    const { decisions } = await advance([arrival()])
    own.remember(decisions)
    expect(own.about(arrival())).to.equal(decisions[0])
    expect(own.about(arrival(pendingInstall({ receivedAtMs: NOON_MS + 1 })))).to.equal(undefined)
    own.forget(arrival(pendingInstall({ eventId: 'another' })))
    expect(own.about(arrival())).to.equal(decisions[0])
    own.forget(arrival())
    expect(own.about(arrival())).to.equal(undefined)
  })

  it('needs only a few queries for many', async () => {
    const many = Array.from({ length: 50 }, (_, index) => arrival(pendingInstall({ eventId: `event-${index}` })))
    facts.histories.push(activeHistory())
    expect((await advance(many)).decisions.length).to.equal(50)
    expect(facts.asked.toSorted()).to.deep.equal(['decisionsByEvents', 'installationMatches', 'receiptHistory'])
  })
})
