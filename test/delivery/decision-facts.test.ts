/** What the facts show about pending installs, with the rows of both queries given. */

import { expect } from 'chai'

import { readKnowledge } from '../../delivery/dispatch/decision-facts.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Install } from '../../domain/model.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { HOUR_MS, NOON_MS, visitOf } from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { activeHistory, matchRow, pendingInstall } from './support/pending.ts'

const MATCHED = { visitId: visitOf().visitId, issuedAtMs: visitOf().issuedAtMs, gpc: false }

describe('what is known of pending installs', () => {
  let facts: FactsDouble
  beforeEach(() => (facts = new FactsDouble()))

  it('is asked for none without a question', async () => {
    expect(await readKnowledge(facts, [])).to.deep.equal([])
    expect(facts.asked).to.deep.equal([])
  })

  it('needs no history if none has a receipt to judge, and names no state and no earlier event if there are none', async () => {
    const { openCandidates: _, ...install } = pendingInstall()
    expect(await readKnowledge(facts, [install])).to.deep.equal([
      { states: new Map(), installation: { kind: 'none' }, receivedAtMs: install.receivedAtMs },
    ])
    expect(facts.asked).to.deep.equal(['installationMatches'])
  })

  it('goes back the lifetime of a receipt from the earliest of them', async () => {
    const sinceMs: unknown[] = []
    const run = (async (query: string, params: object) => {
      if (query === 'installationMatches') sinceMs.push((params as { readonly since_ms: number }).since_ms)
      return []
    }) as FactsReader['run']
    await readKnowledge(
      { run },
      [2, 1, 3].map((place) => pendingInstall({ receivedAtMs: NOON_MS + place, installationId: `machine-${place}` })),
    )
    expect(sinceMs).to.deep.equal([NOON_MS + 1 - LIMITS.receiptLifetimeMs])
  })

  it('is undecided if the earlier event of the installation is pending or has no visit that can be told', async () => {
    const install = pendingInstall()
    const kinds: string[] = []
    for (const change of [{ resolution: 'pending' } as const, { visit_issued_at_ms: null }, {}]) {
      facts.matches.splice(0, Infinity, matchRow(install, change))
      const [known] = await readKnowledge(facts, [install])
      kinds.push(known?.installation.kind ?? '')
    }
    expect(kinds).to.deep.equal(['undecided', 'undecided', 'matched'])
  })

  it('takes an event of the same millisecond for earlier if its ID is smaller, and for none if it is not', async () => {
    const install = pendingInstall({ eventId: 'event-5' })
    const found: unknown[] = []
    for (const eventId of ['event-4', 'event-5', 'event-6']) {
      facts.matches.splice(0, Infinity, matchRow(install, { received_at_ms: install.receivedAtMs, event_id: eventId }))
      const [known] = await readKnowledge(facts, [install])
      found.push(known?.installation)
    }
    expect(found).to.deep.equal([{ kind: 'matched', visit: MATCHED }, { kind: 'none' }, { kind: 'none' }])
  })

  describe('by clocks that differ', () => {
    const { clockDifferenceMs } = LIMITS
    const alone = (overrides: Partial<Install> = {}) => pendingInstall({ openCandidates: [], ...overrides })
    const later = (ms: number, change: Partial<QueryRow<'installationMatches'>> = {}) =>
      matchRow(alone(), { received_at_ms: NOON_MS + ms, event_id: `event-${ms}`, ...change })
    const installationOf = async (install: Install) => (await readKnowledge(facts, [install]))[0]?.installation
    const statesOf = async (install: Install) => [...((await readKnowledge(facts, [install]))[0]?.states ?? [])]
    const PENDING = { resolution: 'pending', visit_id: '', visit_issued_at_ms: null } as const

    it('counts an activation that seems to be a moment later, if nothing else was active', async () => {
      const { visitId } = visitOf()
      const install = pendingInstall()
      for (const [ms, expected] of [
        [clockDifferenceMs, [[visitId, 'active']]],
        [clockDifferenceMs + 1, []],
      ] as const) {
        facts.histories.splice(0, 1, activeHistory({ activated_at_ms: NOON_MS + ms }))
        expect(await statesOf(install)).to.deep.equal(expected)
      }
      const other = { visitId: 'a'.repeat(32), issuedAtMs: NOON_MS - 1, gpc: false, isDecided: true }
      const both = pendingInstall({ openCandidates: [...(install.openCandidates ?? []), other] })
      facts.histories.splice(0, 1, activeHistory({ activated_at_ms: NOON_MS + 1 }))
      expect(await statesOf(both)).to.deep.equal([])
      facts.histories.push(activeHistory({ visit_id: other.visitId, revoked_at_ms: NOON_MS }))
      expect(await statesOf(both)).to.deep.equal([
        [visitId, 'active'],
        [other.visitId, 'revoked'],
      ])
    })

    it('never counts a revocation that seems to be later', async () => {
      facts.histories.push(activeHistory({ activated_at_ms: NOON_MS + 1, revoked_at_ms: NOON_MS + 2 }))
      expect(await statesOf(pendingInstall())).to.deep.equal([[visitOf().visitId, 'active']])
    })

    it('takes the next event of the installation within a moment for the one before, if there is none before', async () => {
      facts.matches.push(later(300, { visit_id: 'b'.repeat(32) }), later(200), later(clockDifferenceMs + 1))
      expect(await installationOf(alone())).to.deep.equal({ kind: 'matched', visit: MATCHED })
      facts.matches.push(later(-300, { visit_id: 'c'.repeat(32) }))
      expect(await installationOf(alone())).to.deep.equal({
        kind: 'matched',
        visit: { ...MATCHED, visitId: 'c'.repeat(32) },
      })
      facts.matches.splice(0, Infinity, later(clockDifferenceMs + 1))
      expect(await installationOf(alone())).to.deep.equal({ kind: 'none' })
    })

    it('waits for such an event only without a candidate of its own, so that no two wait for each other', async () => {
      facts.matches.push(later(200, PENDING), later(300))
      expect(await installationOf(alone())).to.deep.equal({ kind: 'undecided' })
      expect(await installationOf(pendingInstall())).to.deep.equal({ kind: 'matched', visit: MATCHED })
      facts.matches.pop()
      expect(await installationOf(pendingInstall())).to.deep.equal({ kind: 'none' })
      const { openCandidates: _, ...without } = pendingInstall()
      expect(await installationOf(without)).to.deep.equal({ kind: 'undecided' })
    })
  })

  describe('of many', () => {
    it('is asked for in parts, each receipt once', async () => {
      const asked: number[] = []
      const run = (async (query: string, params: { readonly visit_ids?: readonly string[] }) => {
        if (query === 'receiptHistory') asked.push(new Set(params.visit_ids).size)
        return []
      }) as FactsReader['run']
      const candidate = (number: number) => ({
        visitId: number.toString(16).padStart(32, '0'),
        issuedAtMs: NOON_MS,
        gpc: false,
        isDecided: false,
      })
      const installs = Array.from({ length: 100 }, (_, place) =>
        pendingInstall({ openCandidates: Array.from({ length: 64 }, (_, number) => candidate(place * 50 + number)) }),
      )
      await readKnowledge({ run }, installs)
      expect(asked).to.deep.equal([2_000, 2_000, 1_014])
    })

    it('is what each installation was matched to at each moment, the earliest first, and the rest must wait', async () => {
      const at = (ms: number, installationId = 'machine-1') =>
        pendingInstall({ openCandidates: [], receivedAtMs: NOON_MS + ms * HOUR_MS, installationId, eventId: `e${ms}` })
      const installs = [at(12), ...Array.from({ length: 11 }, (_, place) => at(place)), at(5, 'machine-2')]
      facts.matches.push(matchRow(at(0)))
      facts.matches.push(matchRow(at(4), { received_at_ms: NOON_MS + 4 * HOUR_MS + 1, visit_id: 'b'.repeat(32) }))
      const known = await readKnowledge(facts, installs)
      const visits = known.map((each) =>
        each?.installation.kind === 'matched' ? each.installation.visit.visitId[0] : each?.installation.kind,
      )
      expect(visits).to.deep.equal([undefined, '0', '0', '0', '0', '0', 'b', 'b', 'b', 'b', 'b', undefined, 'none'])
      expect(facts.asked).to.deep.equal(Array(10).fill('installationMatches'))
    })

    it('goes back beyond any number of later events of an installation', async () => {
      const install = pendingInstall({ openCandidates: [] })
      for (let number = 1; number <= 30; number++) {
        facts.matches.push(matchRow(install, { received_at_ms: NOON_MS + number * HOUR_MS, event_id: `e${number}` }))
      }
      facts.matches.push(matchRow(install, { visit_id: 'b'.repeat(32) }))
      expect(await readKnowledge(facts, [install])).to.have.nested.property(
        '[0].installation.visit.visitId',
        'b'.repeat(32),
      )
    })
  })
})
