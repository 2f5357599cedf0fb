/** Which visit an install belongs to: the vectors that any implementation can run, and what holds whatever the input. */

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { LIMITS } from '../../domain/limits.ts'
import { VISIT_POLICIES, type VisitPolicy } from '../../domain/model.ts'
import type { ReceiptClaims } from '../../domain/receipt.ts'
import {
  COUNTED,
  lookupsOf,
  resolve,
  resolveLater,
  type KnownState,
  type ReadReceipt,
  type ResolutionInput,
  type ResolutionResult,
} from '../../domain/collection/resolve.ts'

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
  /** It is not known now whether the installation was matched before. */
  readonly installation_undecided?: boolean
  readonly only_counted?: boolean
  /** The website's; `latest_visit` if it is absent. */
  readonly policy?: VisitPolicy
  /** What a pending one becomes once its facts are there: states by name, and the visit of its installation. */
  readonly later?: {
    readonly states: Readonly<Record<string, KnownState>>
    readonly installation_visit?: VectorReceipt
    readonly installation_undecided?: boolean
    readonly expected: Expected
  }
  readonly expected: Expected
}

interface Expected {
  readonly resolution: string
  readonly selection_policy: string
  readonly candidate_count: number
  readonly visit: string | null
  readonly gpc?: boolean
  readonly verdicts: readonly string[]
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

/** As a store would answer: only states of the requested receipts. */
function inputOf(vector: VectorCase): ResolutionInput {
  const { receipts, handoff } = vector
  const read = receipts.map(readOf)
  const asked = new Set(lookupsOf(read, VECTORS.now).map(({ visitId }) => visitId))
  const known = receipts.filter(({ visit_id: id }) => id !== undefined && asked.has(id))
  return {
    nowMs: VECTORS.now,
    receipts: read,
    states: new Map(known.map((receipt) => [receipt.visit_id ?? '', receipt.state ?? 'unknown'])),
    handoff: handoff === undefined ? null : readOf(handoff),
    installation: installationOf(vector),
    policy: vector.policy ?? 'latest_visit',
  }
}

function installationOf(
  known: Pick<VectorCase, 'installation_visit' | 'installation_undecided'>,
): ResolutionInput['installation'] {
  if (known.installation_undecided === true) return { kind: 'undecided' }
  const visit = known.installation_visit
  return visit === undefined ? { kind: 'none' } : { kind: 'matched', visit: claimsOf(visit) }
}

describe('the resolution of an install', () => {
  it('says which visit a token names, used or not', () => {
    const fresh = claimsOf({ name: 'fresh', visit_id: 'a' })
    for (const [claims, verdict] of [
      [fresh, 'handoff'],
      [{ ...fresh, issuedAtMs: VECTORS.now - LIMITS.receiptLifetimeMs - 1 }, 'expired'],
      [{ ...fresh, isUnrecorded: true }, 'unrecorded'],
      [{ ...fresh, issuedAtMs: VECTORS.now + LIMITS.clockSkewMs + 1 }, 'forged'],
    ] as const) {
      const given = inputOf({ ...VECTORS.cases[0]!, receipts: [] })
      const { verdicts } = resolve({ ...given, handoff: { claims, isForeign: false } })
      expect(verdicts).to.deep.equal([{ visitId: 'a', issuedAtMs: claims.issuedAtMs, verdict }])
    }
  })

  describe('according to the vectors', () => {
    it('uses the limits that they state', () => {
      expect(VECTORS.lifetime_ms).to.equal(LIMITS.receiptLifetimeMs)
      expect(VECTORS.clock_skew_ms).to.equal(LIMITS.clockSkewMs)
    })

    for (const vector of VECTORS.cases) {
      it(vector.name, () => {
        const result = vector.only_counted === true ? COUNTED : resolve(inputOf(vector))
        expectResult(result, vector, vector.expected)
        const { later } = vector
        if (later === undefined) return
        const idOf = (name: string): string => vector.receipts.find((each) => each.name === name)?.visit_id ?? ''
        const decided = resolveLater(
          {
            verdicts: result.verdicts,
            openCandidates: result.openCandidates ?? [],
            ...(vector.policy === undefined ? {} : { visitPolicy: vector.policy }),
          },
          {
            states: new Map(Object.entries(later.states).map(([name, state]) => [idOf(name), state])),
            installation: installationOf(later),
            receivedAtMs: VECTORS.now,
          },
        )
        expectResult(decided, { ...vector, installation_visit: later.installation_visit }, later.expected)
      })
    }

    function expectResult(
      result: ResolutionResult,
      vector: Pick<VectorCase, 'receipts' | 'handoff'> & { readonly installation_visit?: VectorReceipt | undefined },
      expected: Expected,
    ): void {
      const all = [...vector.receipts, vector.handoff, vector.installation_visit]
      expect(result.resolution).to.equal(expected.resolution)
      expect(result.selectionPolicy).to.equal(expected.selection_policy)
      expect(result.candidateCount).to.equal(expected.candidate_count)
      expect(result.verdicts.map(({ verdict }) => verdict)).to.deep.equal(expected.verdicts)
      const visit = all.find((receipt) => receipt?.name === expected.visit)
      expect(result.visit?.visitId ?? null).to.equal(visit?.visit_id ?? null)
      if (expected.gpc !== undefined) expect(result.visit?.gpc).to.equal(expected.gpc)
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
    const settled = fc.constantFrom<KnownState>('issued', 'active', 'active', 'revoked', 'unknown')
    const anyState = fc.constantFrom<KnownState>(
      ...(['issued', 'active', 'active', 'revoked', 'unknown', 'undecided', 'predecessor_unknown'] as const),
    )
    const inputWith = (state: fc.Arbitrary<KnownState>): fc.Arbitrary<ResolutionInput> =>
      fc
        .record({
          drawn: fc.array(receipt, { maxLength: 64 }),
          states: fc.array(state, { minLength: 13, maxLength: 13 }),
          installationAgeMs: fc.option(fc.integer({ min: 0, max: 40 * DAY_MS })),
          handoff: fc.option(receipt, { freq: 5 }),
          policy: fc.constantFrom(...VISIT_POLICIES),
        })
        .map(({ drawn, states, ...more }) => toInput(drawn, states, more))

    /** One visit has one age and one kind, as real receipts do: the first draw of a visit decides. */
    function toInput(
      drawn: readonly Draw[],
      states: readonly KnownState[],
      more: { installationAgeMs: number | null; handoff: Draw | null; policy: VisitPolicy },
    ): ResolutionInput {
      const firsts = new Map<number, Draw>()
      for (const draw of drawn) if (!firsts.has(draw.visit)) firsts.set(draw.visit, draw)
      return {
        nowMs: VECTORS.now,
        policy: more.policy,
        receipts: drawn.map((draw) => readDraw(firsts.get(draw.visit) ?? draw)),
        states: new Map(states.map((known, visit) => [idOf(visit), known])),
        handoff: more.handoff === null ? null : readDraw(more.handoff),
        installation:
          more.installationAgeMs === null
            ? { kind: 'none' }
            : {
                kind: 'matched',
                visit: { visitId: 'installation', issuedAtMs: VECTORS.now - more.installationAgeMs, gpc: false },
              },
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
    const holds = (check: (given: ResolutionInput, result: ResolutionResult) => void, state = settled): void => {
      fc.assert(
        fc.property(inputWith(state), (given) => check(given, resolve(given))),
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

    it('counts the distinct candidates and chooses the newest of them, or the oldest if the website says so', () => {
      holds((given, result) => {
        if (given.handoff !== null) return
        const candidates = given.receipts.flatMap((read) => (isCandidate(read, given) ? [read.claims!] : []))
        expect(result.candidateCount).to.equal(new Set(candidates.map(({ visitId }) => visitId)).size)
        if (candidates.length === 0) return
        const key = ({ issuedAtMs, visitId }: { issuedAtMs: number; visitId: string }): string =>
          String(issuedAtMs).padStart(15, '0') + visitId
        expect(result.selectionPolicy).to.equal(given.policy)
        const inOrder = candidates.map(key).sort()
        expect(key(result.visit!)).to.equal(inOrder.at(given.policy === 'first_visit' ? 0 : -1))
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

    it('matches if there is a visit and names none if there is not', () => {
      holds((_, result) => {
        expect(result.visit !== null).to.equal(result.resolution === 'matched')
        expect(result.selectionPolicy === 'none').to.equal(result.resolution === 'unmatched')
      })
    })

    it('is pending exactly if a receipt that could be a candidate cannot be judged, and names nothing then', () => {
      holds((given, result) => {
        const asked = lookupsOf(given.receipts, given.nowMs)
        const states = asked.map(({ visitId }) => given.states.get(visitId) ?? 'unknown')
        const isPossible = (state: KnownState): boolean => /active|undecided|predecessor/.test(state)
        const mayReplace = states.includes('predecessor_unknown') && states.filter(isPossible).length > 1
        const isOpen = states.includes('undecided') || mayReplace
        expect(result.resolution === 'pending').to.equal(given.handoff === null && isOpen)
        if (result.resolution !== 'pending') return
        expect(result).to.deep.include({ visit: null, candidateCount: 0, selectionPolicy: 'none' })
      }, anyState)
    })

    it('gives the same later as it would have given at once', () => {
      fc.assert(
        fc.property(inputWith(anyState), inputWith(settled), (given, truth) => {
          const first = resolve(given)
          if (first.resolution !== 'pending') return
          const truthOf = (id: string, state: KnownState): KnownState =>
            state === 'undecided'
              ? (truth.states.get(id) ?? 'unknown')
              : state === 'predecessor_unknown'
                ? 'active'
                : state
          const known = [...given.states].map(([id, state]) => [id, truthOf(id, state)] as const)
          const states = new Map(known)
          const later = { states, installation: given.installation, receivedAtMs: given.nowMs }
          const atOnce = resolve({ ...given, states })
          const pending = { ...first, openCandidates: first.openCandidates ?? [], visitPolicy: given.policy }
          expect(resolveLater(pending, later)).to.deep.equal(atOnce)
        }),
        { numRuns: 2_000 },
      )
    })

    it('waits for an installation that cannot be looked up only if there is no candidate', () => {
      holds((given, known) => {
        const result = resolve({ ...given, installation: { kind: 'undecided' } })
        const isByItself = known.resolution === 'matched' && known.selectionPolicy !== 'same_installation'
        if (isByItself) expect(result).to.deep.equal(known)
        else expect(result).to.deep.include({ resolution: 'pending', openCandidates: [] })
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
