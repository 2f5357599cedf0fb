/** Which visit an install belongs to: the vectors that any implementation can run, and what holds whatever the input. */

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { LIMITS } from '../../domain/limits.ts'
import type { ReceiptClaims } from '../../domain/receipt.ts'
import {
  COUNTED,
  lookupsOf,
  resolve,
  type KnownState,
  type ReadReceipt,
  type ResolutionInput,
  type ResolutionResult,
} from '../../domain/resolve.ts'

interface VectorReceipt {
  readonly name: string
  readonly is?: 'forged' | 'other_website'
  readonly age_ms?: number
  readonly visit_id?: string
  readonly state?: KnownState
  readonly handoff_only?: boolean
  readonly unrecorded?: boolean
  readonly gpc?: boolean
}

interface VectorCase {
  readonly name: string
  readonly receipts: readonly VectorReceipt[]
  readonly handoff?: VectorReceipt
  readonly installation_visit?: VectorReceipt
  readonly only_counted?: boolean
  readonly expected: {
    readonly resolution: string
    readonly selection_policy: string
    readonly candidate_count: number
    readonly visit: string | null
    readonly gpc?: boolean
    readonly verdicts: readonly string[]
  }
}

const VECTORS = JSON.parse(readFileSync(new URL('../vectors/resolution.json', import.meta.url), 'utf8')) as {
  readonly now: number
  readonly lifetime_ms: number
  readonly clock_skew_ms: number
  readonly cases: readonly VectorCase[]
}

function claimsOf(receipt: VectorReceipt): ReceiptClaims {
  return {
    visitId: receipt.visit_id ?? '',
    issuedAtMs: VECTORS.now - (receipt.age_ms ?? 0),
    keyId: 4,
    isHandoffOnly: receipt.handoff_only ?? false,
    isUnrecorded: receipt.unrecorded ?? false,
    gpc: receipt.gpc ?? false,
    body: new Uint8Array(16),
  }
}

function readOf(receipt: VectorReceipt): ReadReceipt {
  return receipt.is === undefined
    ? { claims: claimsOf(receipt), isForeign: false }
    : { claims: null, isForeign: receipt.is === 'other_website' }
}

/** As a store would answer: states of those that were asked for and no others. */
function inputOf({ receipts, handoff, installation_visit: installation }: VectorCase): ResolutionInput {
  const read = receipts.map(readOf)
  const asked = new Set(lookupsOf(read, VECTORS.now).map(({ visitId }) => visitId))
  const known = receipts.filter(({ visit_id: id }) => id !== undefined && asked.has(id))
  return {
    nowMs: VECTORS.now,
    receipts: read,
    states: new Map(known.map((receipt) => [receipt.visit_id ?? '', receipt.state ?? 'unknown'])),
    handoff: handoff === undefined ? null : readOf(handoff),
    installationVisit: installation === undefined ? null : claimsOf(installation),
  }
}

describe('the resolution of an install', () => {
  describe('by the vectors', () => {
    it('rests on the limits that they state', () => {
      expect(VECTORS.lifetime_ms).to.equal(LIMITS.receiptLifetimeMs)
      expect(VECTORS.clock_skew_ms).to.equal(LIMITS.clockSkewMs)
    })

    for (const vector of VECTORS.cases) {
      it(vector.name, () => {
        const result = vector.only_counted === true ? COUNTED : resolve(inputOf(vector))
        const all = [...vector.receipts, vector.handoff, vector.installation_visit]
        const { expected } = vector
        expect(result.resolution).to.equal(expected.resolution)
        expect(result.selectionPolicy).to.equal(expected.selection_policy)
        expect(result.candidateCount).to.equal(expected.candidate_count)
        expect(result.verdicts.map(({ verdict }) => verdict)).to.deep.equal(expected.verdicts)
        const visit = all.find((receipt) => receipt?.name === expected.visit)
        expect(result.visit?.visitId ?? null).to.equal(visit?.visit_id ?? null)
        if (expected.gpc !== undefined) expect(result.visit?.gpc).to.equal(expected.gpc)
      })
    }
  })

  describe('whatever the input', () => {
    const DAY_MS = 86_400_000
    const receipt = fc.record({
      visit: fc.nat(12),
      ageMs: fc.integer({ min: -10 * 60_000, max: 40 * DAY_MS }),
      kind: fc.constantFrom('browser', 'browser', 'browser', 'handoffOnly', 'unrecorded', 'forged', 'foreign'),
      gpc: fc.boolean(),
    })
    const state = fc.constantFrom<KnownState>('issued', 'active', 'active', 'revoked', 'unknown')
    const input = fc
      .record({
        drawn: fc.array(receipt, { maxLength: 64 }),
        states: fc.array(state, { minLength: 13, maxLength: 13 }),
        installationAgeMs: fc.option(fc.integer({ min: 0, max: 40 * DAY_MS })),
        handoff: fc.option(receipt, { freq: 5 }),
      })
      .map(({ drawn, states, installationAgeMs, handoff }) => toInput(drawn, states, { installationAgeMs, handoff }))

    /** One visit has one age and one kind, as real receipts do: the first draw of a visit decides. */
    function toInput(
      drawn: readonly Draw[],
      states: readonly KnownState[],
      more: { installationAgeMs: number | null; handoff: Draw | null },
    ): ResolutionInput {
      const firsts = new Map<number, Draw>()
      for (const draw of drawn) if (!firsts.has(draw.visit)) firsts.set(draw.visit, draw)
      return {
        nowMs: VECTORS.now,
        receipts: drawn.map((draw) => readDraw(firsts.get(draw.visit) ?? draw)),
        states: new Map(states.map((known, visit) => [idOf(visit), known])),
        handoff: more.handoff === null ? null : readDraw(more.handoff),
        installationVisit:
          more.installationAgeMs === null
            ? null
            : { visitId: 'installation', issuedAtMs: VECTORS.now - more.installationAgeMs, gpc: false },
      }
    }
    interface Draw {
      readonly visit: number
      readonly ageMs: number
      readonly kind: string
      readonly gpc: boolean
    }
    const idOf = (visit: number): string => visit.toString(16).padStart(32, '0')
    function readDraw({ visit, ageMs, kind, gpc }: Draw): ReadReceipt {
      if (kind === 'forged' || kind === 'foreign') return { claims: null, isForeign: kind === 'foreign' }
      const claims = claimsOf({ name: '', visit_id: idOf(visit), age_ms: ageMs, gpc })
      return {
        claims: { ...claims, isHandoffOnly: kind === 'handoffOnly', isUnrecorded: kind === 'unrecorded' },
        isForeign: false,
      }
    }
    const holds = (check: (given: ResolutionInput, result: ResolutionResult) => void): void => {
      fc.assert(
        fc.property(input, (given) => check(given, resolve(given))),
        { numRuns: 2_000 },
      )
    }
    const isCandidate = ({ claims }: ReadReceipt, { nowMs, states }: ResolutionInput): boolean =>
      claims !== null &&
      !claims.isHandoffOnly &&
      !claims.isUnrecorded &&
      nowMs - claims.issuedAtMs <= LIMITS.receiptLifetimeMs &&
      claims.issuedAtMs - nowMs <= LIMITS.clockSkewMs &&
      states.get(claims.visitId) === 'active'

    it('counts the distinct candidates and chooses the newest of them', () => {
      holds((given, result) => {
        if (given.handoff !== null) return
        const candidates = given.receipts.flatMap((read) => (isCandidate(read, given) ? [read.claims!] : []))
        expect(result.candidateCount).to.equal(new Set(candidates.map(({ visitId }) => visitId)).size)
        if (candidates.length === 0) return
        const key = ({ issuedAtMs, visitId }: { issuedAtMs: number; visitId: string }): string =>
          String(issuedAtMs).padStart(15, '0') + visitId
        expect(result.selectionPolicy).to.equal('latest_visit')
        expect(key(result.visit!)).to.equal(candidates.map(key).sort().at(-1))
      })
    })

    it('does not depend on the order of the receipts, nor on repeats', () => {
      holds((given, result) => {
        const shuffled = [...given.receipts].reverse()
        const other = resolve({ ...given, receipts: [...shuffled, ...shuffled.slice(0, 3)] })
        expect(other.visit).to.deep.equal(result.visit)
        expect(other.candidateCount).to.equal(result.candidateCount)
        expect(other.selectionPolicy).to.equal(result.selectionPolicy)
      })
    })

    it('does not depend on receipts that are no candidates', () => {
      holds((given, result) => {
        const alone = resolve({ ...given, receipts: given.receipts.filter((read) => isCandidate(read, given)) })
        expect({ ...alone, verdicts: [] }).to.deep.equal({ ...result, verdicts: [] })
      })
    })

    it('has one verdict for each visit and each text that proves nothing', () => {
      holds((given, result) => {
        const readable = new Set(given.receipts.flatMap(({ claims }) => (claims === null ? [] : [claims.visitId])))
        const unreadable = given.receipts.filter(({ claims }) => claims === null).length
        expect(result.verdicts.length).to.equal(given.handoff === null ? readable.size + unreadable : 1)
      })
    })

    it('matches where there is a visit and names none where there is not', () => {
      holds((_, result) => {
        expect(result.visit !== null).to.equal(result.resolution === 'matched')
        expect(result.selectionPolicy === 'none').to.equal(result.resolution === 'unmatched')
      })
    })

    it('never names a visit that is more than 30 days old', () => {
      holds((given, { visit }) => {
        if (visit !== null) expect(given.nowMs - visit.issuedAtMs).to.be.at.most(LIMITS.receiptLifetimeMs)
      })
    })

    it('asks only for the state of receipts that could be candidates, each once', () => {
      holds((given) => {
        const asked = lookupsOf(given.receipts, given.nowMs)
        expect(new Set(asked.map(({ visitId }) => visitId)).size).to.equal(asked.length)
        for (const read of given.receipts) {
          if (isCandidate(read, given)) expect(asked.map(({ visitId }) => visitId)).to.include(read.claims!.visitId)
        }
        for (const claims of asked) expect(claims.isHandoffOnly || claims.isUnrecorded).to.equal(false)
      })
    })
  })
})
