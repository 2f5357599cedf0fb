/** What the facts show about pending installs, with the rows of both queries given. */

import { expect } from 'chai'

import { readKnowledge } from '../../delivery/dispatch/decision-facts.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { FactsReader } from '../../delivery/dispatch/reads.ts'
import { NOON_MS, visitOf } from '../../fixtures/delivery/builders.ts'
import { FactsDouble } from '../../fixtures/delivery/facts-double.ts'
import { matchRow, pendingInstall } from './support/pending.ts'

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
    expect(facts.asked).to.deep.equal(['installationVisits'])
  })

  it('goes back the lifetime of a receipt from the earliest of them', async () => {
    const sinceMs: unknown[] = []
    const run = (async (query: string, params: object) => {
      if (query === 'installationVisits') sinceMs.push((params as { readonly since_ms: number }).since_ms)
      return []
    }) as FactsReader['run']
    await readKnowledge(
      { run },
      [2, 1, 3].map((place) => pendingInstall({ receivedAtMs: NOON_MS + place })),
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
})
