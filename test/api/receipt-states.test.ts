/**
 * The sources of a receipt's state: the hot state, ClickHouse for what that has forgotten, and what both know
 * afterwards.
 */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { expect } from 'chai'

import type { ApiDeps } from '../../api/deps.ts'
import type { CheckedRequest } from '../../api/collection/pipeline.ts'
import { isRefusal, isRevoked, recall, receiptRef, requireReceipt, statesOf } from '../../api/collection/receipts.ts'
import { issueReceipt, readReceipt, type ReceiptClaims } from '../../domain/receipt.ts'
import type { KnownState } from '../../domain/collection/resolve.ts'
import type { ReceiptFactsRow } from '../../ports/facts/query-rows.ts'
import { KEYS } from './support/keys.ts'

const NOW_MS = Date.UTC(2040, 10, 22)
const ORIGIN = 'https://acme.dev'
const WEBSITE = 'acme-dev'

function issue(index: number, website = WEBSITE): { readonly text: string; readonly claims: ReceiptClaims } {
  const random = Uint8Array.from([index, 2, 3, 4, 5])
  const flags = { isHandoffOnly: false, isUnrecorded: false, gpc: false }
  return issueReceipt(KEYS, {
    organization: 'acme',
    website,
    origin: ORIGIN,
    issuedAtMs: NOW_MS - 1_000 * index,
    random,
    ...flags,
  })
}

const ONE = issue(1).claims
const OTHER = issue(2).claims
const THIRD = issue(3).claims
const read = (...claims: readonly ReceiptClaims[]) => claims.map((each) => ({ claims: each, isForeign: false }))

/** What ClickHouse has of one receipt; only its visit unless given otherwise. */
function row({ visitId }: ReceiptClaims, more: Partial<ReceiptFactsRow> = {}): ReceiptFactsRow {
  const nothing = { is_recorded: true, is_active: false, is_revoked: false, previous_visit_id: '' }
  return { visit_id: visitId, ...nothing, ...more } as ReceiptFactsRow
}

/** The parts of the api that are called, and their calls. */
class Parts {
  hot = new Map<string, KnownState>()
  rows: readonly ReceiptFactsRow[] | Error | 'silent' = []
  /** The facts-writer has not written everything that was recorded so far. */
  isBehind = false
  /** The broker that leads the partition does not answer. */
  isEndUnknown = false
  readonly asked: unknown[] = []
  readonly learnt: unknown[] = []
  readonly lookups: string[] = []
  readonly warnings: unknown[] = []

  readonly deps = {
    hotState: {
      receiptStates: async (refs: readonly { visitId: string }[]) => refs.map(({ visitId }) => this.hot.get(visitId)),
      learn: async (ref: unknown, state: string) => void this.learnt.push([ref, state]),
    },
    facts: {
      run: async (query: string, params: unknown) => {
        this.asked.push([query, params])
        if (this.rows === 'silent') return new Promise(() => undefined)
        if (this.rows instanceof Error) throw this.rows
        return this.rows
      },
    },
    eventLog: { progress: async () => ({ done: [this.isBehind ? 4 : 5], ends: [this.isEndUnknown ? null : 5] }) },
    metrics: { lookup: (what: string) => void this.lookups.push(what) },
    logger: { ...SILENT_LOGGER, warn: (...words: unknown[]) => void this.warnings.push(words) },
    keys: KEYS,
  } as unknown as ApiDeps

  states(...claims: readonly ReceiptClaims[]): Promise<Record<string, KnownState>> {
    return statesOf(
      read(...claims),
      { organization: 'acme', website: WEBSITE },
      { deps: this.deps, nowMs: NOW_MS },
    ).then(Object.fromEntries)
  }
}

describe('the states of receipts', () => {
  let parts: Parts
  beforeEach(() => void (parts = new Parts()))

  it('are those of the hot state, and ClickHouse is not asked', async () => {
    parts.hot = new Map([
      [ONE.visitId, 'active'],
      [OTHER.visitId, 'issued'],
      [THIRD.visitId, 'revoked'],
    ])
    expect(await parts.states(ONE, OTHER, THIRD)).to.deep.equal(Object.fromEntries(parts.hot))
    expect([parts.asked, parts.lookups, parts.learnt]).to.deep.equal([[], [], []])
  })

  it('are not looked up if no receipt could be a candidate', async () => {
    let isAsked = false
    parts.deps.hotState.receiptStates = async () => {
      isAsked = true
      return []
    }
    expect(await parts.states()).to.deep.equal({})
    expect(await parts.states({ ...ONE, isHandoffOnly: true })).to.deep.equal({})
    expect(isAsked).to.equal(false)
  })

  it('are read from ClickHouse, in one query, if the hot state has forgotten them, which then learns them', async () => {
    parts.hot = new Map([[ONE.visitId, 'active']])
    parts.rows = [row(OTHER, { is_active: true }), row(THIRD)]
    expect(await parts.states(ONE, OTHER, THIRD)).to.deep.equal({
      [ONE.visitId]: 'active',
      [OTHER.visitId]: 'active',
      [THIRD.visitId]: 'issued',
    })
    const ids = [OTHER, THIRD].map(({ visitId }) => visitId)
    expect(parts.asked).to.deep.equal([['receiptFacts', { organization: 'acme', website: WEBSITE, visit_ids: ids }]])
    expect(parts.lookups).to.deep.equal(['receipts'])
    expect(parts.learnt).to.deep.equal([
      [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, OTHER), previous: null }, 'active'],
      [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, THIRD), previous: null }, 'issued'],
    ])
  })

  it('stay unknown if ClickHouse does not know them either', async () => {
    parts.rows = [row(issue(9).claims, { is_active: true })]
    expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'unknown' })
    expect(parts.learnt).to.deep.equal([])
  })

  it('include the revocation of what an active one replaced, whether it is among them or not', async () => {
    parts.hot = new Map([[OTHER.visitId, 'active']])
    parts.rows = [row(ONE, { is_active: true, previous_visit_id: OTHER.visitId })]
    expect(await parts.states(ONE, OTHER)).to.deep.equal({ [ONE.visitId]: 'active', [OTHER.visitId]: 'revoked' })
    const previous = receiptRef({ organization: 'acme', website: WEBSITE }, OTHER)
    expect(parts.learnt).to.deep.equal([
      [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, ONE), previous }, 'active'],
    ])
  })

  it('do not change the predecessor of a receipt that is only issued', async () => {
    parts.hot = new Map([[OTHER.visitId, 'active']])
    parts.rows = [row(ONE, { previous_visit_id: OTHER.visitId })]
    expect(await parts.states(ONE, OTHER)).to.deep.equal({ [ONE.visitId]: 'issued', [OTHER.visitId]: 'active' })
    expect(parts.learnt).to.deep.equal([
      [
        {
          ...receiptRef({ organization: 'acme', website: WEBSITE }, ONE),
          previous: receiptRef({ organization: 'acme', website: WEBSITE }, OTHER),
        },
        'issued',
      ],
    ])
  })

  it('are revoked for one that was, and one that was active before has revoked what it replaced', async () => {
    parts.rows = [
      row(ONE, { is_active: true, is_revoked: true, previous_visit_id: OTHER.visitId }),
      row(THIRD, { is_revoked: true, previous_visit_id: issue(4).claims.visitId }),
    ]
    expect(await parts.states(ONE, THIRD)).to.deep.equal({
      [ONE.visitId]: 'revoked',
      [OTHER.visitId]: 'revoked',
      [THIRD.visitId]: 'revoked',
    })
    const one = {
      ...receiptRef({ organization: 'acme', website: WEBSITE }, ONE),
      previous: receiptRef({ organization: 'acme', website: WEBSITE }, OTHER),
    }
    const third = {
      ...receiptRef({ organization: 'acme', website: WEBSITE }, THIRD),
      previous: receiptRef({ organization: 'acme', website: WEBSITE }, issue(4).claims),
    }
    expect(parts.learnt).to.deep.equal([
      [one, 'active'],
      [one, 'revoked'],
      [third, 'revoked'],
    ])
  })

  it('include an unknown predecessor if the activation is in ClickHouse before its visit', async () => {
    parts.rows = [row(ONE, { is_active: true, is_recorded: false })]
    expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'predecessor_unknown' })
    expect(parts.learnt).to.deep.equal([
      [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, ONE), previous: 'unknown' }, 'active'],
    ])
  })

  it('are asked again for one whose predecessor is unknown, which is active although its activation may not be there', async () => {
    parts.hot = new Map([
      [ONE.visitId, 'predecessor_unknown'],
      [THIRD.visitId, 'unknown'],
    ])
    parts.rows = [row(ONE, { previous_visit_id: OTHER.visitId }), row(THIRD)]
    expect(await parts.states(ONE, THIRD)).to.deep.equal({
      [ONE.visitId]: 'active',
      [OTHER.visitId]: 'revoked',
      [THIRD.visitId]: 'issued',
    })
    parts.rows = []
    expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'predecessor_unknown' })
  })

  describe('of a receipt that was replaced, and that a process may know as active which is not heard', () => {
    const UNSEEN = 'revoked_unseen' as KnownState
    const whatItReplaced = { previous_visit_id: OTHER.visitId }
    beforeEach(() => {
      parts.hot = new Map([
        [ONE.visitId, 'active'],
        [OTHER.visitId, 'active'],
        [THIRD.visitId, UNSEEN],
      ])
    })

    it('are revoked, and it has replaced none, if ClickHouse has everything and no activation of it', async () => {
      for (const rows of [[row(THIRD, whatItReplaced)], [row(THIRD, { ...whatItReplaced, is_revoked: true })], []]) {
        parts.rows = rows
        expect(await parts.states(ONE, OTHER, THIRD)).to.deep.equal({
          [ONE.visitId]: 'active',
          [OTHER.visitId]: 'active',
          [THIRD.visitId]: 'revoked',
        })
      }
    })

    it('are revoked, and so is what it replaced, if ClickHouse has its activation', async () => {
      for (const isBehind of [true, false])
        for (const more of [{ is_revoked: true }, {}]) {
          parts.isBehind = isBehind
          parts.rows = [row(THIRD, { ...whatItReplaced, ...more, is_active: true })]
          expect(await parts.states(ONE, OTHER, THIRD)).to.deep.equal({
            [ONE.visitId]: 'active',
            [OTHER.visitId]: 'revoked',
            [THIRD.visitId]: 'revoked',
          })
        }
    })

    it('are undecided beside others while ClickHouse may lack its activation, or has it without its visit', async () => {
      parts.isBehind = true
      for (const rows of [[row(THIRD, whatItReplaced)], [row(THIRD, { ...whatItReplaced, is_revoked: true })], []]) {
        parts.rows = rows
        expect(await parts.states(OTHER, THIRD)).to.deep.equal({
          [OTHER.visitId]: 'active',
          [THIRD.visitId]: 'undecided',
        })
        expect(await parts.states(THIRD)).to.deep.equal({ [THIRD.visitId]: 'revoked' })
      }
      parts.isBehind = false
      parts.rows = [row(THIRD, { is_active: true, is_recorded: false })]
      expect(await parts.states(OTHER, THIRD)).to.deep.include({ [THIRD.visitId]: 'undecided' })
    })
  })

  describe('of a receipt that was replaced before its own predecessor was known', () => {
    const held = (): void => {
      parts.isBehind = true
      parts.hot = new Map<string, KnownState>([
        [ONE.visitId, 'active'],
        [OTHER.visitId, 'active'],
        [THIRD.visitId, 'revoked_predecessor_unknown' as KnownState],
      ])
    }

    it('are undecided beside others while ClickHouse has not its visit: it may have replaced one of them', async () => {
      held()
      expect(await parts.states(ONE, OTHER, THIRD)).to.deep.include({ [THIRD.visitId]: 'undecided' })
      parts.rows = new Error('away')
      expect(await parts.states(OTHER, THIRD)).to.deep.include({ [THIRD.visitId]: 'undecided' })
      expect(await parts.states(THIRD)).to.deep.equal({ [THIRD.visitId]: 'revoked' })
      Object.assign(parts, { rows: [], isBehind: false })
      expect(await parts.states(OTHER, THIRD)).to.deep.include({ [THIRD.visitId]: 'undecided' })
    })

    it('are revoked, and so is what it replaced, once the visit says so, though its own revocation is not there', async () => {
      held()
      parts.rows = [row(THIRD, { is_active: true, previous_visit_id: OTHER.visitId })]
      expect(await parts.states(ONE, OTHER, THIRD)).to.deep.equal({
        [ONE.visitId]: 'active',
        [OTHER.visitId]: 'revoked',
        [THIRD.visitId]: 'revoked',
      })
      const previous = receiptRef({ organization: 'acme', website: WEBSITE }, OTHER)
      expect(parts.learnt).to.deep.equal([
        [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, THIRD), previous }, 'active'],
      ])
    })

    it('are also undecided if only ClickHouse knows that it was active and is revoked', async () => {
      parts.hot = new Map([[ONE.visitId, 'active']])
      parts.rows = [row(THIRD, { is_active: true, is_revoked: true, is_recorded: false })]
      expect(await parts.states(ONE, THIRD)).to.deep.equal({ [ONE.visitId]: 'active', [THIRD.visitId]: 'undecided' })
    })

    it('are revoked if it is the only one, even while the facts are behind', async () => {
      parts.isBehind = true
      parts.rows = [row(THIRD, { is_active: true, is_revoked: true, is_recorded: false })]
      expect(await parts.states(THIRD)).to.deep.equal({ [THIRD.visitId]: 'revoked' })
    })

    it('are undecided beside others if the facts are behind and do not say whether a replaced one was active', async () => {
      parts.isBehind = true
      parts.hot = new Map<string, KnownState>([
        [ONE.visitId, 'unknown'],
        [OTHER.visitId, 'active'],
      ])
      parts.rows = [row(ONE, { is_revoked: true, previous_visit_id: OTHER.visitId })]
      const both = { [ONE.visitId]: 'undecided', [OTHER.visitId]: 'active' }
      expect(await parts.states(ONE, OTHER)).to.deep.equal(both)
      // The hot state must not take it for certain that it was never active.
      expect(parts.learnt).to.deep.equal([
        [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, ONE), previous: 'unknown' }, 'revoked'],
      ])
      expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'revoked' })
      parts.hot.set(THIRD.visitId, 'unknown')
      for (const rows of [[row(ONE)], []]) {
        parts.rows = [row(THIRD, { is_active: true, previous_visit_id: ONE.visitId }), ...rows]
        expect(await parts.states(ONE, OTHER, THIRD)).to.deep.include(both)
      }
    })

    it('are revoked, whether the facts are behind or not, if it was active and what it had replaced is known', async () => {
      parts.hot = new Map<string, KnownState>([
        [ONE.visitId, 'predecessor_unknown'],
        [OTHER.visitId, 'unknown'],
      ])
      parts.rows = [row(ONE, { previous_visit_id: OTHER.visitId }), row(OTHER, { is_active: true })]
      for (const isBehind of [true, false]) {
        parts.isBehind = isBehind
        const both = { [ONE.visitId]: 'active', [OTHER.visitId]: 'revoked' }
        expect(await parts.states(ONE, OTHER)).to.deep.equal(both)
      }
    })

    it('are undecided if it is replaced by one that is looked up with it', async () => {
      parts.hot = new Map([
        [ONE.visitId, 'active'],
        [THIRD.visitId, 'predecessor_unknown'],
      ])
      parts.rows = [row(OTHER, { is_active: true, previous_visit_id: THIRD.visitId })]
      expect(await parts.states(ONE, OTHER, THIRD)).to.deep.equal({
        [ONE.visitId]: 'active',
        [OTHER.visitId]: 'active',
        [THIRD.visitId]: 'undecided',
      })
    })
  })

  it('are undecided while the end of a partition is not known, as its leader is away', async () => {
    parts.isEndUnknown = true
    expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'undecided' })
    parts.isEndUnknown = false
    expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'unknown' })
  })

  it('are undecided while the facts are behind, and the hot state learns only what cannot change', async () => {
    parts.isBehind = true
    parts.hot = new Map([[OTHER.visitId, 'predecessor_unknown']])
    parts.rows = [row(ONE, { is_active: true }), row(OTHER), row(THIRD, { is_revoked: true })]
    const unheard = issue(4).claims
    expect(await parts.states(ONE, OTHER, THIRD, unheard)).to.deep.equal({
      [ONE.visitId]: 'undecided',
      [OTHER.visitId]: 'active',
      [THIRD.visitId]: 'revoked',
      [unheard.visitId]: 'undecided',
    })
    expect(parts.learnt).to.deep.equal([
      [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, OTHER), previous: null }, 'active'],
      [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, THIRD), previous: null }, 'revoked'],
    ])
  })

  it('are undecided while ClickHouse is unreachable, which is logged and makes nothing fail', async () => {
    const error = new Error('away')
    parts.rows = error
    expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'undecided' })
    expect(parts.warnings).to.deep.equal([[{ err: error }, 'receipts could not be looked up']])
  })

  it('are undecided if ClickHouse does not answer in time', async () => {
    parts.rows = 'silent'
    expect(await parts.states(ONE)).to.deep.equal({ [ONE.visitId]: 'undecided' })
    expect(String((parts.warnings[0] as [{ err: Error }])[0].err)).to.contain('no answer within 1000 ms')
  })

  it('of an activation are read from ClickHouse, and unknown while it is unreachable', async () => {
    parts.rows = [row(ONE, { is_active: true })]
    parts.isBehind = true
    expect([
      ...(await recall([receiptRef({ organization: 'acme', website: WEBSITE }, ONE)], parts.deps)),
    ]).to.deep.equal([[ONE.visitId, 'active']])
    expect(parts.learnt).to.deep.equal([
      [{ ...receiptRef({ organization: 'acme', website: WEBSITE }, ONE), previous: null }, 'active'],
    ])
    parts.rows = new Error('away')
    expect([
      ...(await recall([receiptRef({ organization: 'acme', website: WEBSITE }, ONE)], parts.deps)),
    ]).to.deep.equal([])
    expect(parts.warnings).to.deep.equal([[{ err: parts.rows }, 'receipts could not be looked up']])
  })

  it('say that a receipt is revoked, also if it is not known what it had replaced', async () => {
    const isOneRevoked = (): Promise<boolean> =>
      isRevoked(receiptRef({ organization: 'acme', website: WEBSITE }, ONE), parts.deps)
    for (const state of ['revoked', 'revoked_predecessor_unknown', 'revoked_unseen', 'issued', 'active'] as const) {
      parts.hot.set(ONE.visitId, state as KnownState)
      expect(await isOneRevoked(), state).to.equal(state.startsWith('revoked'))
    }
    expect(parts.asked).to.deep.equal([])
    parts.hot.set(ONE.visitId, 'unknown')
    for (const more of [{}, { is_active: true }, { is_revoked: true }, { is_revoked: true, is_active: true }]) {
      parts.rows = [row(ONE, { ...more, is_recorded: false })]
      expect(await isOneRevoked()).to.equal('is_revoked' in more)
    }
    parts.rows = new Error('away')
    expect(await isOneRevoked()).to.equal(false)
  })

  it('cost no look-up if there is no receipt', async () => {
    expect([...(await recall([], parts.deps))]).to.deep.equal([])
    expect([parts.asked, parts.lookups]).to.deep.equal([[], []])
  })
})

describe('the receipt of an activation or handoff', () => {
  const asked = (receipt: string, origin = ORIGIN) =>
    requireReceipt(
      {
        body: { receipt },
        website: { id: WEBSITE, organization: { id: 'acme' } },
        origin,
      } as unknown as CheckedRequest,
      new Parts().deps,
    )

  it('is read if it is genuine and from that origin', () => {
    const { text } = issue(1)
    const claims = asked(text)
    expect(claims).to.deep.equal(readReceipt(KEYS, { organization: 'acme', website: WEBSITE }, text))
    expect(isRefusal(claims)).to.equal(false)
  })

  it('is refused with a code that says whether it is not genuine or from another origin', () => {
    for (const [refusal, code] of [
      [asked('A'.repeat(43)), 'receipt_not_found'],
      [asked(issue(1, 'other').text), 'receipt_not_found'],
      [asked(issue(1).text, 'https://evil.example'), 'origin_mismatch'],
    ] as const) {
      expect(isRefusal(refusal)).to.equal(true)
      expect(refusal).to.deep.equal({ kind: 'refused', code })
    }
  })
})
