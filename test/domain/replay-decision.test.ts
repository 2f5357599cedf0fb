/** Deciding stored installs again gives what the live service would have decided under that policy. */

import { expect } from 'chai'
import fc from 'fast-check'

import {
  FOLLOWED_FOR_MS,
  forgetExpired,
  replayDecision,
  type CarriedMatches,
  type DecidedInstall,
  type ReplayPolicy,
} from '../../domain/collection/replay-decision.ts'
import { resolve, type ChosenVisit, type KnownState, type ReadReceipt } from '../../domain/collection/resolve.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { VISIT_POLICIES, type VisitPolicy } from '../../domain/model.ts'

const START_MS = Date.UTC(2026, 8, 1)
const WHOLE = { windowMs: LIMITS.receiptLifetimeMs, isTokensOnly: false }

interface DrawnReceipt {
  readonly visit: number
  readonly state: KnownState
}

interface DrawnEvent {
  readonly installation: number
  readonly afterMs: number
  readonly receipts: readonly DrawnReceipt[]
  readonly token: number | null
}

const visit = fc.nat(9)
const receipt = fc.record({ visit, state: fc.constantFrom<KnownState>('active', 'active', 'issued', 'revoked') })
const events = fc.array(
  fc.record({
    installation: fc.nat(3),
    afterMs: fc.nat(6 * DAY_MS),
    receipts: fc.array(receipt, { maxLength: 4 }),
    token: fc.option(visit, { freq: 6 }),
  }),
  { maxLength: 20 },
)

const idOf = (number: number): string => number.toString(16).padStart(32, '0')
/** Visits lie days apart, two of them in one millisecond. */
const issuedAtOf = (number: number): number => START_MS - (number >> 1) * 7 * DAY_MS

function receiptOf(number: number): ReadReceipt {
  const flags = { isHandoffOnly: false, isUnrecorded: false, gpc: false }
  const claims = { visitId: idOf(number), issuedAtMs: issuedAtOf(number), keyId: 1, body: new Uint8Array(16), ...flags }
  return { claims, isForeign: false }
}

/** What the service decides, event by event, with a memory of each installation's latest match. */
function decideLive(drawn: readonly DrawnEvent[], policy: VisitPolicy): readonly DecidedInstall[] {
  const installations = new Map<number, ChosenVisit>()
  let nowMs = START_MS
  return drawn.map(({ installation, afterMs, receipts, token }, index) => {
    nowMs += afterMs
    const known = installations.get(installation)
    const result = resolve({
      nowMs,
      policy,
      receipts: receipts.map((each) => receiptOf(each.visit)),
      states: new Map(receipts.map((each) => [idOf(each.visit), each.state])),
      handoff: token === null ? null : receiptOf(token),
      installation: known === undefined ? { kind: 'none' } : { kind: 'matched', visit: known },
    })
    if (result.visit !== null) installations.set(installation, result.visit)
    return {
      eventId: `event-${index}`,
      installationId: `installation-${installation}`,
      eventType: 'install_completed',
      receivedAtMs: nowMs,
      resolution: result.resolution,
      selectionPolicy: result.selectionPolicy,
      visitId: result.visit?.visitId ?? null,
      visitIssuedAtMs: result.visit?.issuedAtMs ?? null,
      verdicts: result.verdicts,
    }
  })
}

function replayAll(
  installs: readonly DecidedInstall[],
  policy: ReplayPolicy,
  isForgetful = false,
): readonly (string | null | undefined)[] {
  const carried: CarriedMatches = new Map()
  return installs.map((install) => {
    if (isForgetful) forgetExpired(carried, install.receivedAtMs)
    return replayDecision(install, policy, carried)?.visitId
  })
}

/** As a process goes on that was told only where another one was: it reads again what may still matter. */
function replayFrom(
  position: number,
  installs: readonly DecidedInstall[],
  policy: ReplayPolicy,
): readonly (string | null | undefined)[] {
  const sinceMs = (installs[position]?.receivedAtMs ?? 0) - FOLLOWED_FOR_MS
  const first = installs.findIndex(({ receivedAtMs }) => receivedAtMs >= sinceMs)
  return replayAll(installs.slice(first), policy).slice(position - first)
}

function decided(more: Partial<DecidedInstall>): DecidedInstall {
  return {
    eventId: 'event-1',
    installationId: 'installation-1',
    eventType: 'first_run',
    receivedAtMs: START_MS,
    resolution: 'unmatched',
    selectionPolicy: 'none',
    visitId: null,
    visitIssuedAtMs: null,
    verdicts: [],
    ...more,
  }
}

describe('a replay of decisions', () => {
  it('gives what the service would have decided under the other policy, and to no change under its own', () => {
    const policies = fc.constantFrom(...VISIT_POLICIES)
    fc.assert(
      fc.property(events, policies, policies, (drawn, live, other) => {
        const replayed = replayAll(decideLive(drawn, live), { policy: other, ...WHOLE })
        expect(replayed).to.deep.equal(decideLive(drawn, other).map(({ visitId }) => visitId))
        expect(replayAll(decideLive(drawn, live), { policy: other, ...WHOLE }, true)).to.deep.equal(replayed)
        for (const [position] of replayed.entries()) {
          const resumed = replayFrom(position, decideLive(drawn, live), { policy: other, ...WHOLE })
          expect(resumed, `from ${position}`).to.deep.equal(replayed.slice(position))
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('under a shorter window names no older visit, and removes only matches to those', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 0, max: 30 }), (drawn, days) => {
        const windowMs = days * DAY_MS
        const installs = decideLive(drawn, 'latest_visit')
        const replayed = replayAll(installs, { policy: 'latest_visit', windowMs, isTokensOnly: false })
        for (const [index, visitId] of replayed.entries()) {
          const { receivedAtMs, visitIssuedAtMs, visitId: live } = installs[index]!
          const ageMs = (id: string): number => receivedAtMs - issuedAtOf(parseInt(id, 16))
          if (visitId !== null && visitId !== undefined) expect(ageMs(visitId)).to.be.at.most(windowMs)
          if (visitIssuedAtMs !== null && receivedAtMs - visitIssuedAtMs <= windowMs) expect(visitId).to.equal(live)
        }
      }),
    )
  })

  it('with tokens only keeps what tokens decided, and the later events of those installations', () => {
    const token = { visitId: idOf(1), issuedAtMs: START_MS - 1, verdict: 'handoff' } as const
    const found = { visitId: idOf(2), issuedAtMs: START_MS - 1, verdict: 'active' } as const
    const matched = { resolution: 'matched', visitIssuedAtMs: START_MS - 1 } as const
    const installs = [
      decided({ ...matched, selectionPolicy: 'handoff', visitId: idOf(1), verdicts: [token] }),
      decided({ ...matched, selectionPolicy: 'same_installation', visitId: idOf(1) }),
      decided({
        ...matched,
        installationId: 'other',
        selectionPolicy: 'latest_visit',
        visitId: idOf(2),
        verdicts: [found],
      }),
      decided({ ...matched, installationId: 'other', selectionPolicy: 'same_installation', visitId: idOf(2) }),
    ]
    const policy = { ...WHOLE, policy: 'latest_visit', isTokensOnly: true } as const
    expect(replayAll(installs, policy)).to.deep.equal([idOf(1), idOf(1), null, null])
  })

  it('keeps a later event whose earlier ones lie before the period', () => {
    const later = decided({
      resolution: 'matched',
      selectionPolicy: 'same_installation',
      visitId: idOf(1),
      visitIssuedAtMs: START_MS - 3 * DAY_MS,
    })
    expect(replayAll([later], { policy: 'first_visit', ...WHOLE })).to.deep.equal([idOf(1)])
    const short = { policy: 'first_visit', windowMs: 2 * DAY_MS, isTokensOnly: false } as const
    expect(replayAll([later], short)).to.deep.equal([null])
  })

  it('does not decide what was only counted or is still pending', () => {
    for (const resolution of ['counted', 'pending'] as const) {
      expect(replayAll([decided({ resolution })], { policy: 'first_visit', ...WHOLE })).to.deep.equal([undefined])
    }
  })
})
