/** What every HotState adapter promises, as tests that any adapter joins with an `open` of its own. */

import { randomBytes } from 'node:crypto'

import { expect } from 'chai'
import fc from 'fast-check'

import { LIMITS } from '../../domain/limits.ts'
import {
  ACTIVATION_OF,
  RECEIPT_TRANSITIONS,
  type ReceiptNews,
  type ReceiptStanding,
  type ReceiptState,
} from '../../domain/receipt-states.ts'
import { matchHits } from '../../domain/collection/rate.ts'
import type {
  Claim,
  ClaimOutcome,
  Hit,
  HotState,
  IssuedReceipt,
  MatchedVisit,
  Predecessor,
  ReceiptRef,
  Settlement,
} from '../../ports/hot-state/hot-state.ts'

import { NEWS_IN_ANY_ORDER, standingAfter, tellNews } from './receipt-news.ts'

export interface HotStateHarness {
  /** The store under test; another object after `reopen`. */
  readonly state: HotState
  /** The store's clock: Unix ms, set by the tests; it also decides about windows, leases and memory. */
  nowMs(): number
  setNowMs(ms: number): void
  /** Everything that is stored, as text. */
  stored(): Promise<string>
  /** Closes the adapter and opens it again on the same data. */
  reopen(): Promise<void>
  /** Closes and deletes everything. */
  close(): Promise<void>
}

const WEBSITE = 'acme-dev'
const DAY_MS = 86_400_000
const DAY_S = 86_400
const MINUTE_MS = 60_000

export function hotStateContract(name: string, open: () => Promise<HotStateHarness>): void {
  describe(`HotState contract: ${name}`, () => {
    let harness: HotStateHarness

    beforeEach(async () => {
      harness = await open()
      const loss = await harness.state.forgotten()
      if (loss !== null) await harness.state.restored(loss)
    })
    afterEach(async () => {
      await harness.close()
    })

    const issue = (previous: Predecessor = null): IssuedReceipt => ({ ...receipt(harness.nowMs()), previous })
    const put = async (previous: ReceiptRef | null = null): Promise<IssuedReceipt> => {
      const issued = issue(previous)
      await harness.state.putVisit(issued)
      return issued
    }
    const activated = async (previous: ReceiptRef | null = null): Promise<IssuedReceipt> => {
      const issued = await put(previous)
      await harness.state.activate(refOf(issued))
      return issued
    }
    const states = (...receipts: ReceiptRef[]): Promise<readonly ReceiptStanding[]> =>
      harness.state.receiptStates(receipts.map(refOf))

    describe('receipts', () => {
      it('knows nothing of a receipt that was never put', async () => {
        const forged = issue()
        expect(await harness.state.activate(refOf(forged))).to.deep.equal({ kind: 'unknown' })
        expect(await states(forged)).to.deep.equal(['unknown'])
      })

      it('activates an issued receipt once', async () => {
        const issued = await put()
        expect(await states(issued)).to.deep.equal(['issued'])
        expect(await harness.state.activate(refOf(issued))).to.deep.equal({ kind: 'activated', revoked: null })
        expect(await harness.state.activate(refOf(issued))).to.deep.equal({ kind: 'already_active', revoked: null })
        expect(await states(issued)).to.deep.equal(['active'])
      })

      it('activates for exactly one of 100 callers at once', async () => {
        const issued = await put()
        const outcomes = await Promise.all(times(100, () => harness.state.activate(refOf(issued))))
        expect(outcomes.filter(({ kind }) => kind === 'activated').length).to.equal(1)
        expect(outcomes.filter(({ kind }) => kind === 'already_active').length).to.equal(99)
      })

      it('revokes the receipt that an activated one replaces', async () => {
        const first = await activated()
        const second = await put(refOf(first))
        expect(await states(first, second)).to.deep.equal(['active', 'issued'])
        const outcome = await harness.state.activate(refOf(second))
        expect(outcome).to.deep.equal({ kind: 'activated', revoked: refOf(first) })
        expect(await states(first, second)).to.deep.equal(['revoked', 'active'])
        expect(await harness.state.activate(refOf(first))).to.deep.equal({ kind: 'revoked' })
      })

      it('returns to a second activation what the first one revoked, also after a reopening', async () => {
        const first = await activated()
        const second = await put(refOf(first))
        await harness.state.activate(refOf(second))
        const again = { kind: 'already_active', revoked: refOf(first) }
        expect(await harness.state.activate(refOf(second))).to.deep.equal(again)
        await harness.reopen()
        expect(await harness.state.activate(refOf(second))).to.deep.equal(again)
      })

      it('revokes a replaced receipt that was not active yet', async () => {
        const first = await put()
        const second = await put(refOf(first))
        await harness.state.activate(refOf(second))
        expect(await states(first)).to.deep.equal(['revoked'])
        expect(await harness.state.activate(refOf(first))).to.deep.equal({ kind: 'revoked' })
      })

      it('revokes a replaced receipt that it did not know, from another day', async () => {
        const first = receipt(harness.nowMs() - 3 * DAY_MS)
        const second = await put(first)
        const outcome = await harness.state.activate(refOf(second))
        expect(outcome).to.deep.equal({ kind: 'activated', revoked: refOf(first) })
        expect(await states(first)).to.deep.equal(['revoked'])
      })

      it('never lowers a state when a receipt is put or learnt again', async () => {
        const first = await activated()
        const second = await activated(refOf(first))
        for (const known of [first, second]) {
          await harness.state.putVisit(known)
          await harness.state.learn(known, 'issued')
        }
        await harness.state.learn(first, 'active')
        expect(await states(first, second)).to.deep.equal(['revoked', 'active'])
      })

      it('takes over each state that it learns', async () => {
        const issued = issue()
        const active = issue()
        const revoked = issue()
        await harness.state.learn(issued, 'issued')
        await harness.state.learn(active, 'active')
        await harness.state.learn(revoked, 'revoked')
        expect(await states(issued, active, revoked)).to.deep.equal(['issued', 'active', 'revoked'])
      })

      it('activates a receipt that it learnt as issued, however old, and revokes what it replaces', async () => {
        const first = receipt(harness.nowMs() - 9 * DAY_MS)
        const second = { ...receipt(harness.nowMs() - 8 * DAY_MS), previous: first }
        await harness.state.learn(second, 'issued')
        const outcome = await harness.state.activate(refOf(second))
        expect(outcome).to.deep.equal({ kind: 'activated', revoked: refOf(first) })
      })

      it('revokes what a receipt replaces when it learns that it is active', async () => {
        const first = await activated()
        await harness.state.learn({ ...issue(), previous: refOf(first) }, 'active')
        expect(await states(first)).to.deep.equal(['revoked'])
      })

      it('says of an active receipt that its predecessor is unknown, also after a reopening', async () => {
        const issued = issue('unknown')
        await harness.state.learn(issued, 'issued')
        expect(await states(issued)).to.deep.equal(['issued'])
        expect(await harness.state.activate(refOf(issued))).to.deep.equal({ kind: 'activated', revoked: 'unknown' })
        await harness.reopen()
        expect(await states(issued)).to.deep.equal(['predecessor_unknown'])
        expect(await harness.state.activate(refOf(issued))).to.deep.equal({
          kind: 'already_active',
          revoked: 'unknown',
        })
      })

      it('revokes a predecessor that it learns late, and returns it from then on', async () => {
        const first = await activated()
        const second = issue('unknown')
        await harness.state.learn(second, 'active')
        expect(await states(first, second)).to.deep.equal(['active', 'predecessor_unknown'])
        await harness.state.learn({ ...second, previous: refOf(first) }, 'active')
        expect(await states(first, second)).to.deep.equal(['revoked', 'active'])
        const again = { kind: 'already_active', revoked: refOf(first) }
        expect(await harness.state.activate(refOf(second))).to.deep.equal(again)
      })

      it('says of a revoked receipt that its predecessor is unknown until it learns it, also after a reopening', async () => {
        const first = await activated()
        const second = issue('unknown')
        const third = issue('unknown')
        for (const each of [second, third]) await harness.state.learn(each, 'active')
        await activated(refOf(second))
        await harness.state.learn(third, 'revoked')
        await harness.reopen()
        const open = 'revoked_predecessor_unknown'
        expect(await states(first, second, third)).to.deep.equal(['active', open, open])
        expect(await harness.state.activate(refOf(second))).to.deep.equal({ kind: 'revoked' })
        await harness.state.learn({ ...second, previous: refOf(first) }, 'active')
        await harness.state.learn({ ...third, previous: null }, 'active')
        expect(await states(first, second, third)).to.deep.equal(['revoked', 'revoked', 'revoked'])
      })

      it('learns of a revoked receipt that it was active, and replaced an unknown one', async () => {
        const first = await activated()
        const second = issue('unknown')
        const third = issue('unknown')
        await harness.state.learn({ ...issue(), previous: refOf(second) }, 'active')
        await harness.state.learn(third, 'revoked')
        expect(await states(first, second, third)).to.deep.equal(['active', 'revoked', 'revoked'])
        for (const each of [second, third]) await harness.state.learn(each, 'active')
        await harness.reopen()
        const open = 'revoked_predecessor_unknown'
        expect(await states(first, second, third)).to.deep.equal(['active', open, open])
        await harness.state.learn({ ...second, previous: refOf(first) }, 'active')
        for (const each of [second, third]) await harness.state.learn({ ...each, previous: null }, 'active')
        for (const each of [second, third]) await harness.state.learn(each, 'active')
        expect(await states(first, second, third)).to.deep.equal(['revoked', 'revoked', 'revoked'])
      })

      it('learns late that a receipt replaced none', async () => {
        const issued = issue('unknown')
        await harness.state.learn(issued, 'active')
        await harness.state.learn({ ...issued, previous: null }, 'active')
        expect(await states(issued)).to.deep.equal(['active'])
        expect(await harness.state.activate(refOf(issued))).to.deep.equal({ kind: 'already_active', revoked: null })
      })

      it('forgets no predecessor that it knows, and raises no revoked receipt, when it learns of an unknown one', async () => {
        const first = await activated()
        const second = await activated(refOf(first))
        for (const known of [first, second]) await harness.state.learn({ ...known, previous: 'unknown' }, 'active')
        expect(await states(first, second)).to.deep.equal(['revoked', 'active'])
        const again = { kind: 'already_active', revoked: refOf(first) }
        expect(await harness.state.activate(refOf(second))).to.deep.equal(again)
      })

      it('moves each state as the table of the domain says, in whatever order news comes', async () => {
        const told = NEWS_IN_ANY_ORDER.map((news) => ({ news, about: refOf(issue()) }))
        for (const { news, about } of told) for (const each of news) await tellNews(harness.state, about, each)
        await harness.reopen()
        for (const { news, about } of told)
          expect(await states(about), news.join()).to.deep.equal([shown(standingAfter(news))])
      })

      it('keeps websites and issue times apart', async () => {
        const mine = await activated()
        const other = { ...refOf(mine), website: 'other-website' }
        const another = { ...refOf(mine), issuedAtMs: mine.issuedAtMs + 1 }
        expect(await states(other, another)).to.deep.equal(['unknown', 'unknown'])
      })

      it('answers for 64 receipts in the order asked', async () => {
        const asked: IssuedReceipt[] = []
        const expected: string[] = []
        for (let index = 0; index < LIMITS.receiptsPerInstall; index++) {
          asked.push(index % 3 === 0 ? issue() : index % 3 === 1 ? await put() : await activated())
          expected.push(['unknown', 'issued', 'active'][index % 3] ?? '')
        }
        expect(await states(...asked)).to.deep.equal(expected)
      })

      it('forgets a receipt that was not activated within the memory for issued ones', async () => {
        const issued = await put()
        harness.setNowMs(harness.nowMs() + LIMITS.issuedMemoryMs - 1)
        expect(await states(issued)).to.deep.equal(['issued'])
        harness.setNowMs(harness.nowMs() + 1)
        expect(await states(issued)).to.deep.equal(['unknown'])
        expect(await harness.state.activate(refOf(issued))).to.deep.equal({ kind: 'unknown' })
      })

      it('knows active and revoked receipts to the end of their lifetime', async () => {
        const first = await activated()
        const second = await activated(refOf(first))
        harness.setNowMs(harness.nowMs() + LIMITS.receiptLifetimeMs - 1)
        expect(await states(first, second)).to.deep.equal(['revoked', 'active'])
      })

      it('knows its states after a reopen', async () => {
        const first = await activated()
        const second = await activated(refOf(first))
        const third = await put(refOf(second))
        await harness.reopen()
        expect(await states(first, second, third)).to.deep.equal(['revoked', 'active', 'issued'])
        const outcome = await harness.state.activate(refOf(third))
        expect(outcome).to.deep.equal({ kind: 'activated', revoked: refOf(second) })
      })

      it('climbs only, whatever comes in whatever order', async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(receiptStep, { minLength: 1, maxLength: 40 }), async (steps) => {
            const model = chainModel(harness.nowMs())
            for (const step of steps) await applyStep(harness.state, model, step)
            const seen = await states(...model.receipts)
            expect(seen).to.deep.equal(model.states.map(shown))
          }),
          { numRuns: 60 },
        )
      })
    })

    describe('install events', () => {
      it('makes one of 1,000 concurrent callers the first and gives all others its answer', async () => {
        const outcomes = await Promise.all(
          times(1_000, async (index) => {
            const claim = claimOf('event-1', `owner-${index}`)
            const outcome = await harness.state.claimInstall(claim)
            return { claim, outcome }
          }),
        )
        const firsts = outcomes.filter(({ outcome }) => outcome.kind === 'first')
        expect(firsts.length).to.equal(1)
        expect(outcomes.filter(({ outcome }) => outcome.kind === 'busy').length).to.equal(999)
        for (const { claim } of firsts)
          await harness.state.settleInstall({ ...claim, answer: 'the one', receivedAtMs: 0, matched: null })
        const again = await Promise.all(outcomes.map(({ claim }) => harness.state.claimInstall(claim)))
        for (const outcome of again) expect(outcome).to.deep.equal({ kind: 'settled', answer: 'the one' })
      })

      it('keeps websites and events apart', async () => {
        const kinds = await Promise.all(
          [
            claimOf('event-1', 'a'),
            claimOf('event-2', 'b'),
            { ...claimOf('event-1', 'c'), website: 'other-website' },
            claimOf('event-1', 'd'),
          ].map(async (claim) => (await harness.state.claimInstall(claim)).kind),
        )
        expect(kinds.toSorted()).to.deep.equal(['busy', 'first', 'first', 'first'])
      })

      it('frees a claim when its lease has run out, not before', async () => {
        await harness.state.claimInstall(claimOf('event-1', 'crashed'))
        harness.setNowMs(harness.nowMs() + LIMITS.claimLeaseMs - 1)
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('busy')
        harness.setNowMs(harness.nowMs() + 1)
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('first')
      })

      it('frees a claim that its owner gives back, and no other', async () => {
        await harness.state.claimInstall(claimOf('event-1', 'owner'))
        await harness.state.releaseInstall(claimOf('event-1', 'stranger'))
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('busy')
        await harness.state.releaseInstall(claimOf('event-1', 'owner'))
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('first')
      })

      it('lets only the owner settle', async () => {
        await harness.state.claimInstall(claimOf('event-1', 'owner'))
        await harness.state.settleInstall({
          ...claimOf('event-1', 'stranger'),
          answer: 'wrong',
          receivedAtMs: 0,
          matched: null,
        })
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('busy')
        await harness.state.settleInstall({
          ...claimOf('event-1', 'owner'),
          answer: 'right',
          receivedAtMs: 0,
          matched: null,
        })
        const outcome = await harness.state.claimInstall(claimOf('event-1', 'next'))
        expect(outcome).to.deep.equal({ kind: 'settled', answer: 'right' })
      })

      it('keeps the first answer when a late owner settles after another one did', async () => {
        await harness.state.claimInstall(claimOf('event-1', 'slow'))
        harness.setNowMs(harness.nowMs() + LIMITS.claimLeaseMs)
        await settle('event-1', { answer: 'of the second' })
        await harness.state.settleInstall({
          ...claimOf('event-1', 'slow'),
          answer: 'of the slow one',
          receivedAtMs: 0,
          matched: null,
        })
        const outcome = await harness.state.claimInstall(claimOf('event-1', 'next'))
        expect(outcome).to.deep.equal({ kind: 'settled', answer: 'of the second' })
      })

      it('keeps a settled answer when its owner gives the claim back', async () => {
        const claim = await settle('event-1', { answer: 'kept' })
        await harness.state.releaseInstall(claim)
        const outcome = await harness.state.claimInstall(claimOf('event-1', 'next'))
        expect(outcome).to.deep.equal({ kind: 'settled', answer: 'kept' })
      })

      it('gives answers back exactly as they were', async () => {
        const answer = JSON.stringify({ text: 'ein Wert 😀 "quoted"\n', list: [1, null] })
        await settle('event-1', { answer })
        const outcome = await harness.state.claimInstall(claimOf('event-1', 'next'))
        expect(outcome).to.deep.equal({ kind: 'settled', answer })
      })

      it('remembers the visit an installation was matched to, and the latest one', async () => {
        const first = matched(receipt(harness.nowMs()))
        const second = matched(receipt(harness.nowMs()))
        await settle('event-1', { matched: first })
        expect(await claimFirst('event-2')).to.deep.equal({
          kind: 'first',
          installation: { kind: 'matched', visit: first },
          kept: null,
          isNew: true,
        })
        await settle('event-3', { matched: second })
        await settle('event-4', { matched: null })
        expect(await claimFirst('event-5')).to.deep.equal({
          kind: 'first',
          installation: { kind: 'matched', visit: second },
          kept: null,
          isNew: true,
        })
        const elsewhere = { ...claimOf('event-6', 'x'), website: 'other-website' }
        expect(await harness.state.claimInstall(elsewhere)).to.deep.equal({
          kind: 'first',
          installation: { kind: 'none' },
          kept: null,
          isNew: true,
        })
      })

      it('keeps a decision for the next first caller, also after a reopening, and forgets it once it is settled', async () => {
        await harness.state.claimInstall(claimOf('event-1', 'first'))
        await harness.state.keepInstall(claimOf('event-1', 'first'), () => 'the decision')
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('busy')
        await harness.state.releaseInstall(claimOf('event-1', 'stranger'))
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('busy')
        await harness.state.releaseInstall(claimOf('event-1', 'first'))
        await harness.reopen()
        const second = await harness.state.claimInstall(claimOf('event-1', 'second'))
        expect(second).to.deep.include({ kind: 'first', kept: 'the decision' })
        expect((await harness.state.claimInstall(claimOf('event-1', 'third'))).kind).to.equal('busy')
        await settle('event-1', { answer: 'told', owner: 'second' })
        const repeat = await harness.state.claimInstall(claimOf('event-1', 'repeat'))
        expect(repeat).to.deep.equal({ kind: 'settled', answer: 'told' })
        expect(await claimFirst('event-2')).to.include({ kept: null })
      })

      it('keeps a decision when the lease of its owner has run out', async () => {
        await harness.state.claimInstall(claimOf('event-1', 'crashed'))
        await harness.state.keepInstall(claimOf('event-1', 'crashed'), () => 'decided')
        harness.setNowMs(harness.nowMs() + LIMITS.claimLeaseMs - 1)
        expect((await harness.state.claimInstall(claimOf('event-1', 'next'))).kind).to.equal('busy')
        harness.setNowMs(harness.nowMs() + 1)
        expect(await harness.state.claimInstall(claimOf('event-1', 'next'))).to.include({
          kind: 'first',
          kept: 'decided',
        })
        await harness.state.keepInstall(claimOf('event-1', 'crashed'), () => 'too late')
        await harness.state.releaseInstall(claimOf('event-1', 'next'))
        expect(await harness.state.claimInstall(claimOf('event-1', 'last'))).to.include({ kept: 'decided' })
      })

      it('says of an installation that it awaits an event whose decision is kept, until that is settled', async () => {
        const visit = matched(receipt(harness.nowMs()))
        const keptOf = async (eventId: string): Promise<Claim> => {
          const claim = claimOf(eventId, `owner of ${eventId}`)
          await harness.state.claimInstall(claim)
          await harness.state.keepInstall(claim, () => 'decided')
          return claim
        }
        const known = async (eventId: string): Promise<unknown> => (await claimFirst(eventId)).installation
        const failed = await keptOf('event-1')
        expect(await known('event-2')).to.deep.equal({ kind: 'pending' })
        await harness.state.releaseInstall(failed)
        await harness.reopen()
        expect(await known('event-3')).to.deep.equal({ kind: 'pending' })
        await settle('event-1', { matched: null })
        expect(await known('event-4')).to.deep.equal({ kind: 'none' })
        await keptOf('event-5')
        await settle('event-5', { matched: visit })
        await keptOf('event-6')
        expect(await known('event-7')).to.deep.equal({ kind: 'matched', visit })
      })

      it('keeps nothing for a claim that is settled', async () => {
        const claim = await settle('event-1', { answer: 'kept' })
        await harness.state.keepInstall(claim, () => 'too late')
        expect(await harness.state.claimInstall(claim)).to.deep.equal({ kind: 'settled', answer: 'kept' })
      })

      it('says the visit of the event that was received last, in whatever order events are settled', async () => {
        const visits = [1, 2, 3].map(() => matched(receipt(harness.nowMs())))
        for (const place of [1, 2, 0]) {
          await settle(`event-${place}`, { matched: visits[place] ?? null, receivedAtMs: 1_000 + place })
        }
        expect((await claimFirst('event-4')).installation).to.deep.equal({ kind: 'matched', visit: visits[2] })
      })

      it('gives a pending answer until it is decided, then the decision, which is final', async () => {
        const visit = matched(receipt(harness.nowMs()))
        const claim = await settle('event-1', { answer: 'pending', isPending: true, receivedAtMs: 1_000 })
        expect(await harness.state.claimInstall(claim)).to.deep.equal({ kind: 'settled', answer: 'pending' })
        expect((await claimFirst('event-2')).installation).to.deep.equal({ kind: 'pending' })
        const { owner: _owner, ...event } = claim
        await harness.state.decideInstall({ ...event, answer: 'decided', receivedAtMs: 1_000, matched: visit })
        await harness.state.decideInstall({ ...event, answer: 'again', receivedAtMs: 1_000, matched: null })
        await harness.reopen()
        expect(await harness.state.claimInstall(claim)).to.deep.equal({ kind: 'settled', answer: 'decided' })
        expect((await claimFirst('event-3')).installation).to.deep.equal({ kind: 'matched', visit })
      })

      it('forgets that an installation awaits a decision when it is matched to nothing', async () => {
        const claim = await settle('event-1', { isPending: true, receivedAtMs: 1_000 })
        const { owner: _owner, ...event } = claim
        await harness.state.decideInstall({ ...event, answer: 'decided', receivedAtMs: 1_000, matched: null })
        expect((await claimFirst('event-2')).installation).to.deep.equal({ kind: 'none' })
      })

      it('lets a decision change nothing that a later event of the installation says', async () => {
        const older = matched(receipt(harness.nowMs()))
        const newer = matched(receipt(harness.nowMs()))
        const claim = await settle('event-1', { isPending: true, receivedAtMs: 1_000 })
        await settle('event-2', { matched: newer, receivedAtMs: 2_000 })
        const { owner: _owner, ...event } = claim
        await harness.state.decideInstall({ ...event, answer: 'decided', receivedAtMs: 1_000, matched: older })
        expect((await claimFirst('event-3')).installation).to.deep.equal({ kind: 'matched', visit: newer })
      })

      it('notes what is stored for its installation, though a repeat with another one was answered for good', async () => {
        const visit = matched(receipt(harness.nowMs()))
        const { owner: _owner, ...repeat } = await settle('event-1', { answer: 'of the repeat', receivedAtMs: 2_000 })
        const stored = {
          ...repeat,
          installationId: 'the-first-one',
          answer: 'stored',
          receivedAtMs: 1_000,
          matched: visit,
        }
        const next = { ...claimOf('event-2', 'x'), installationId: 'the-first-one' }
        await harness.state.decideInstall(stored)
        expect(await harness.state.claimInstall(next)).to.deep.include({ installation: { kind: 'none' } })
        await harness.state.releaseInstall(next)
        await harness.state.decideInstall({ ...stored, isStored: true })
        const again = await harness.state.claimInstall(claimOf('event-1', 'again'))
        expect(again).to.deep.equal({ kind: 'settled', answer: 'of the repeat' })
        expect(await harness.state.claimInstall(next)).to.deep.include({ installation: { kind: 'matched', visit } })
      })

      it('takes a decision about an event that it has forgotten, or that another caller works on', async () => {
        const { owner: _owner, ...event } = claimOf('event-1', 'nobody')
        await harness.state.claimInstall(claimOf('event-1', 'at work'))
        await harness.state.decideInstall({ ...event, answer: 'decided', receivedAtMs: 1_000, matched: null })
        await harness.state.settleInstall({
          ...claimOf('event-1', 'at work'),
          answer: 'mine',
          receivedAtMs: 0,
          matched: null,
        })
        const outcome = await harness.state.claimInstall(claimOf('event-1', 'next'))
        expect(outcome).to.deep.equal({ kind: 'settled', answer: 'decided' })
      })

      it('is complete once what it had forgotten was restored, and stays so over a reopening', async () => {
        expect(await harness.state.forgotten()).to.equal(null)
        await harness.reopen()
        expect(await harness.state.forgotten()).to.equal(null)
        await harness.state.restored({ generation: 'another generation', sinceMs: null, losses: '0' })
        expect(await harness.state.forgotten()).to.equal(null)
      })

      it('forgets answers and installations after 31 days', async () => {
        await settle('event-1', { answer: 'old', matched: matched(receipt(harness.nowMs())) })
        harness.setNowMs(harness.nowMs() + LIMITS.answerMemoryDays * DAY_MS - 1)
        expect((await harness.state.claimInstall(claimOf('event-1', 'x'))).kind).to.equal('settled')
        expect((await claimFirst('event-2')).installation.kind).to.equal('matched')
        harness.setNowMs(harness.nowMs() + DAY_MS + 1)
        expect(await claimFirst('event-1')).to.deep.equal({
          kind: 'first',
          installation: { kind: 'none' },
          kept: null,
          isNew: true,
        })
      })

      it('knows a settled answer and the installation after a reopen', async () => {
        const visit = matched(receipt(harness.nowMs()))
        await settle('event-1', { answer: 'durable', matched: visit })
        await harness.reopen()
        const outcome = await harness.state.claimInstall(claimOf('event-1', 'x'))
        expect(outcome).to.deep.equal({ kind: 'settled', answer: 'durable' })
        expect(await claimFirst('event-2')).to.deep.equal({
          kind: 'first',
          installation: { kind: 'matched', visit },
          kept: null,
          isNew: true,
        })
      })

      const settle = async (eventId: string, settled: Partial<Settlement>): Promise<Claim> => {
        const claim = claimOf(eventId, settled.owner ?? `owner of ${eventId}`)
        await harness.state.claimInstall(claim)
        await harness.state.settleInstall({ answer: 'answer', receivedAtMs: 0, matched: null, ...settled, ...claim })
        return claim
      }
      const claimFirst = async (eventId: string): Promise<Extract<ClaimOutcome, { kind: 'first' }>> => {
        const outcome = await harness.state.claimInstall(claimOf(eventId, 'somebody'))
        if (outcome.kind !== 'first') throw new Error(`claim is ${outcome.kind}`)
        return outcome
      }
    })

    describe('limits', () => {
      const hit = (key: string, limit: number, windowS = 60): Hit => ({ key, limit, windowS })

      it('counts up to the limit and refuses the next, without counting it', async () => {
        for (const count of [1, 2, 3]) {
          const outcome = await harness.state.countHits([hit('a', 3)])
          expect(outcome).to.deep.equal({ kind: 'counted', counts: [count] })
        }
        for (let time = 0; time < 3; time++) {
          expect((await harness.state.countHits([hit('a', 3)])).kind).to.equal('exceeded')
        }
        expect(await harness.state.countHits([hit('a', 4)])).to.deep.equal({ kind: 'counted', counts: [4] })
      })

      it('counts all hits or none', async () => {
        await harness.state.countHits([hit('narrow', 1)])
        const refused = await harness.state.countHits([hit('wide', 10), hit('narrow', 1), hit('wider', 10, 120)])
        expect(refused).to.deep.include({ kind: 'exceeded', exceeded: [1] })
        const outcome = await harness.state.countHits([hit('wide', 10), hit('wider', 10, 120)])
        expect(outcome).to.deep.equal({ kind: 'counted', counts: [1, 1] })
      })

      it('names every exceeded hit and the longest wait', async () => {
        const startMs = Math.ceil(harness.nowMs() / DAY_MS) * DAY_MS
        harness.setNowMs(startMs + 10_500)
        await harness.state.countHits([hit('minute', 1), hit('day', 1, DAY_S)])
        const outcome = await harness.state.countHits([hit('minute', 1), hit('free', 5), hit('day', 1, DAY_S)])
        expect(outcome).to.deep.include({ kind: 'exceeded', exceeded: [0, 2], retryAfterS: DAY_S - 10 })
        const minuteOnly = await harness.state.countHits([hit('minute', 1), hit('free', 5)])
        expect(minuteOnly).to.deep.include({ exceeded: [0], retryAfterS: 50 })
      })

      it('says once per window that it refused for the first time', async () => {
        await harness.state.countHits([hit('a', 1)])
        const firsts: boolean[] = []
        for (let time = 0; time < 3; time++) firsts.push(await refusedFirst([hit('a', 1)]))
        harness.setNowMs(harness.nowMs() + MINUTE_MS)
        await harness.state.countHits([hit('a', 1)])
        firsts.push(await refusedFirst([hit('a', 1)]))
        expect(firsts).to.deep.equal([true, false, false, true])
      })

      it('begins a window at the minute itself, to the millisecond', async () => {
        const boundaryMs = Math.ceil(harness.nowMs() / MINUTE_MS) * MINUTE_MS
        harness.setNowMs(boundaryMs - 1)
        await harness.state.countHits([hit('a', 1)])
        const refused = await harness.state.countHits([hit('a', 1)])
        expect(refused).to.deep.include({ kind: 'exceeded', retryAfterS: 1 })
        harness.setNowMs(boundaryMs)
        expect(await harness.state.countHits([hit('a', 1)])).to.deep.equal({ kind: 'counted', counts: [1] })
        expect(await harness.state.countHits([hit('a', 1)])).to.deep.include({ kind: 'exceeded', retryAfterS: 60 })
      })

      it('admits exactly the limit of 10,000 concurrent hits', async () => {
        const outcomes = await Promise.all(
          times(10_000, (index) => harness.state.countHits([hit('website', 1_234), hit(`address ${index % 7}`, 400)])),
        )
        expect(outcomes.filter(({ kind }) => kind === 'counted').length).to.equal(1_234)
      })

      it('keeps one key apart by the size of its window', async () => {
        await harness.state.countHits([hit('a', 1, 60)])
        expect(await harness.state.countHits([hit('a', 1, DAY_S)])).to.deep.equal({ kind: 'counted', counts: [1] })
      })

      it('remembers a day across a reopen', async () => {
        await harness.state.countHits([hit('a', 2, DAY_S)])
        await harness.state.countHits([hit('a', 2, DAY_S)])
        await harness.reopen()
        expect((await harness.state.countHits([hit('a', 2, DAY_S)])).kind).to.equal('exceeded')
      })

      it('takes hits back from the windows that they were counted in', async () => {
        const hits = [hit('a', 2), hit('b', 2, DAY_S)]
        for (let round = 0; round < 5; round++) {
          expect((await harness.state.countHits(hits)).kind).to.equal('counted')
          await harness.state.returnHits(hits, 0)
        }
        expect(await harness.state.countHits(hits)).to.deep.equal({ kind: 'counted', counts: [1, 1] })
      })

      it('takes hits back after a refusal, which stays the first', async () => {
        await harness.state.countHits([hit('a', 1)])
        expect(await refusedFirst([hit('a', 1)])).to.equal(true)
        await harness.state.returnHits([hit('a', 1)], 0)
        expect(await harness.state.countHits([hit('a', 1)])).to.deep.equal({ kind: 'counted', counts: [1] })
        expect(await refusedFirst([hit('a', 1)])).to.equal(false)
      })

      it('takes nothing back from a later window, from an unknown one, or below nothing', async () => {
        const startMs = Math.ceil(harness.nowMs() / DAY_MS) * DAY_MS
        harness.setNowMs(startMs + MINUTE_MS - 500)
        await harness.state.countHits([hit('a', 5)])
        harness.setNowMs(startMs + MINUTE_MS + 500)
        await harness.state.countHits([hit('a', 5)])
        await harness.state.returnHits([hit('a', 5)], 1_000)
        expect(await harness.state.countHits([hit('a', 5)])).to.deep.equal({ kind: 'counted', counts: [2] })
        for (let time = 0; time < 4; time++) await harness.state.returnHits([hit('a', 5), hit('unknown', 5)], 0)
        expect(await harness.state.countHits([hit('a', 5)])).to.deep.equal({ kind: 'counted', counts: [1] })
        await harness.state.returnHits([], 0)
      })

      it('remembers across a reopen what was taken back from a day', async () => {
        for (let time = 0; time < 3; time++) await harness.state.countHits([hit('a', 3, DAY_S)])
        await harness.state.returnHits([hit('a', 3, DAY_S)], 0)
        await harness.reopen()
        expect(await harness.state.countHits([hit('a', 3, DAY_S)])).to.deep.equal({ kind: 'counted', counts: [3] })
      })

      it('counts the installations of a visit and a day, each once however many of its events come at a time', async () => {
        const startMs = Math.ceil(harness.nowMs() / DAY_MS) * DAY_MS
        harness.setNowMs(startMs + 1_000)
        const match = (installation: number) =>
          matchHits({ website: 'acme', visitId: 'ab'.repeat(16), installationId: `installation-${installation}` })
        const outcomes = await Promise.all(times(90, (index) => harness.state.countHits(match(index % 30))))
        const counts = outcomes.flatMap((outcome) => (outcome.kind === 'counted' ? [outcome.counts[1]] : []))
        expect(counts.toSorted((a = 0, b = 0) => a - b)).to.deep.equal(times(30, (index) => index + 1))
        const other = matchHits({ website: 'acme', visitId: 'cd'.repeat(16), installationId: 'installation-1' })
        expect(await harness.state.countHits(other)).to.deep.equal({ kind: 'counted', counts: [1, 1] })
        harness.setNowMs(startMs + DAY_MS)
        expect(await harness.state.countHits(match(1))).to.deep.equal({ kind: 'counted', counts: [1, 1] })
      })

      it('takes an empty list', async () => {
        expect(await harness.state.countHits([])).to.deep.equal({ kind: 'counted', counts: [] })
      })

      const refusedFirst = async (hits: readonly Hit[]): Promise<boolean> => {
        const outcome = await harness.state.countHits(hits)
        if (outcome.kind !== 'exceeded') throw new Error('was counted')
        return outcome.isFirst
      }
    })

    describe('usage', () => {
      const usage = (quota: number | null, organization = 'acme', month = '2026-11') => ({ organization, month, quota })

      it('counts up to the quota, then says it is over without counting, for the first time once', async () => {
        const outcomes = []
        for (let time = 0; time < 4; time++) outcomes.push(await harness.state.addUsage(usage(2)))
        expect(outcomes).to.deep.equal([
          { used: 1, isOver: false, isFirstOver: false },
          { used: 2, isOver: false, isFirstOver: false },
          { used: 2, isOver: true, isFirstOver: true },
          { used: 2, isOver: true, isFirstOver: false },
        ])
        expect(await harness.state.readUsage('acme', '2026-11')).to.equal(2)
      })

      it('stops exactly at the quota under concurrency, and reports to one caller that it was the first', async () => {
        const outcomes = await Promise.all(times(2_000, () => harness.state.addUsage(usage(1_500))))
        expect(outcomes.filter(({ isOver }) => !isOver).length).to.equal(1_500)
        expect(outcomes.filter(({ isFirstOver }) => isFirstOver).length).to.equal(1)
        expect(await harness.state.readUsage('acme', '2026-11')).to.equal(1_500)
      })

      it('counts without a limit if there is no quota', async () => {
        for (let time = 0; time < 3; time++) {
          expect((await harness.state.addUsage(usage(null))).isOver).to.equal(false)
        }
        expect(await harness.state.readUsage('acme', '2026-11')).to.equal(3)
      })

      it('takes one back, which makes room, and never falls below nothing', async () => {
        await harness.state.addUsage(usage(1))
        await harness.state.returnUsage(usage(1))
        await harness.state.returnUsage(usage(1))
        expect(await harness.state.readUsage('acme', '2026-11')).to.equal(0)
        expect(await harness.state.addUsage(usage(1))).to.deep.equal({ used: 1, isOver: false, isFirstOver: false })
        // Nor does it pass for a month whose quota was already reported.
        expect(await harness.state.addUsage(usage(1))).to.deep.equal({ used: 1, isOver: true, isFirstOver: true })
      })

      it('is raised to what is known to be recorded, never lowered, and still knows whom it notified', async () => {
        const known = (atLeast: number) => ({ organization: 'acme', month: '2026-11', atLeast })
        await harness.state.raiseUsage(known(5))
        await harness.state.raiseUsage(known(3))
        expect(await harness.state.readUsage('acme', '2026-11')).to.equal(5)
        expect(await harness.state.addUsage(usage(5))).to.deep.equal({ used: 5, isOver: true, isFirstOver: true })
        await harness.state.raiseUsage(known(7))
        expect(await harness.state.addUsage(usage(5))).to.deep.equal({ used: 7, isOver: true, isFirstOver: false })
      })

      it('keeps organisations and months apart', async () => {
        await harness.state.addUsage(usage(null))
        expect(await harness.state.addUsage(usage(1, 'other'))).to.deep.include({ used: 1 })
        expect(await harness.state.addUsage(usage(1, 'acme', '2026-12'))).to.deep.include({ used: 1 })
        expect(await harness.state.readUsage('acme', '2027-01')).to.equal(0)
      })

      it('remembers usage across a reopen, and whom it notified', async () => {
        for (let time = 0; time < 3; time++) await harness.state.addUsage(usage(2))
        await harness.reopen()
        expect(await harness.state.readUsage('acme', '2026-11')).to.equal(2)
        const outcome = await harness.state.addUsage(usage(2))
        expect(outcome).to.deep.equal({ used: 2, isOver: true, isFirstOver: false })
      })
    })

    describe('jobs', () => {
      it('gives a job to one of 100 workers at once', async () => {
        const taken = await Promise.all(times(100, (index) => harness.state.claimJob('job', `worker-${index}`, 1_000)))
        expect(taken.filter(Boolean).length).to.equal(1)
      })

      it('frees a job when its owner releases it or the lease runs out', async () => {
        expect(await harness.state.claimJob('job', 'first', 1_000)).to.equal(true)
        await harness.state.releaseJob('job', 'stranger')
        expect(await harness.state.claimJob('job', 'second', 1_000)).to.equal(false)
        await harness.state.releaseJob('job', 'first')
        expect(await harness.state.claimJob('job', 'second', 1_000)).to.equal(true)
        harness.setNowMs(harness.nowMs() + 999)
        expect(await harness.state.claimJob('job', 'third', 1_000)).to.equal(false)
        harness.setNowMs(harness.nowMs() + 1)
        expect(await harness.state.claimJob('job', 'third', 1_000)).to.equal(true)
        expect(await harness.state.claimJob('another job', 'first', 1_000)).to.equal(true)
      })
    })

    it('keeps the organisations apart that had a website, whatever their IDs are', async () => {
      const { state } = harness
      const mine = await put()
      const theirs = { ...mine, organization: 'team/acme@t' }
      await state.activate(mine)
      expect(await state.receiptStates([theirs])).to.deep.equal(['unknown'])
      expect(await state.activate(theirs)).to.deep.equal({ kind: 'unknown' })
      await state.learn({ ...theirs, previous: null }, 'revoked')
      expect(await state.receiptStates([mine])).to.deep.equal(['active'])

      const claim = claimOf('event-shared', 'one')
      await state.claimInstall(claim)
      const answer = { answer: '"mine"', receivedAtMs: harness.nowMs(), matched: matched(refOf(mine)) }
      await state.settleInstall({ ...claim, ...answer })
      const other = { ...claim, organization: 'team/acme@t', owner: 'two' }
      const first = await state.claimInstall(other)
      expect(first).to.include({ kind: 'first', kept: null })
      expect(first).to.have.nested.property('installation.kind', 'none')
      await state.keepInstall(other, () => '"kept"')
      expect(await state.claimInstall({ ...claim, owner: 'three' })).to.deep.equal({
        kind: 'settled',
        answer: '"mine"',
      })
      const chained = issue()
      const replaced = await activated()
      await state.putVisit({ ...chained, previous: refOf(replaced) })
      expect(await state.activate(chained)).to.deep.equal({ kind: 'activated', revoked: refOf(replaced) })
    })

    it('says that it is reachable and shared', () => {
      expect(harness.state.health()).to.deep.equal({ isReachable: true, isShared: true })
    })
  })
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

function receipt(issuedAtMs: number): ReceiptRef {
  return { organization: 'acme', website: WEBSITE, visitId: randomBytes(16).toString('hex'), issuedAtMs }
}

function refOf({ website, visitId, issuedAtMs }: ReceiptRef): ReceiptRef {
  return { organization: 'acme', website, visitId, issuedAtMs }
}

function matched(visit: ReceiptRef): MatchedVisit {
  return { ...visit, gpc: true }
}

function claimOf(eventId: string, owner: string): Claim {
  return { organization: 'acme', website: WEBSITE, eventId, installationId: 'installation-1', owner }
}

/** A browser's chain of visits: each receipt replaces the one before it. */
const CHAIN = 4

const receiptStep = fc.record({
  verb: fc.constantFrom(
    'put',
    'activate',
    'learn issued',
    'learn active',
    'learn revoked',
    'learn unknown',
    'learn replaced',
  ),
  index: fc.nat({ max: CHAIN - 1 }),
})

interface ChainModel {
  readonly receipts: readonly IssuedReceipt[]
  readonly states: ReceiptStanding[]
}

function chainModel(atMs: number): ChainModel {
  const receipts: IssuedReceipt[] = []
  for (let index = 0; index < CHAIN; index++) {
    const previous = receipts[index - 1]
    // Neighbours of different days too: a store may keep each day by itself.
    const issuedAtMs = atMs - (CHAIN - index) * (DAY_MS / 2)
    receipts.push({ ...receipt(issuedAtMs), previous: previous === undefined ? null : refOf(previous) })
  }
  return { receipts, states: receipts.map(() => 'unknown') }
}

async function applyStep(
  state: HotState,
  model: ChainModel,
  { verb, index }: { verb: string; index: number },
): Promise<void> {
  const target = model.receipts[index]
  if (target === undefined) throw new Error('no such receipt')
  const before = model.states[index] ?? 'unknown'
  if (verb === 'put') {
    await state.putVisit(target)
    tell(model, index, 'issued')
  } else if (verb === 'activate') {
    const outcome = await state.activate(refOf(target))
    if (before === 'issued') tell(model, index, 'active')
    expect(outcome.kind).to.equal(ACTIVATION_OF[before])
  } else if (verb === 'learn unknown') {
    await state.learn({ ...target, previous: 'unknown' }, 'active')
    tell(model, index, 'active_predecessor_unknown')
  } else if (verb === 'learn replaced') {
    await state.learn({ ...target, previous: 'unknown' }, 'revoked')
    tell(model, index, 'replaced')
  } else {
    const told = verb.slice('learn '.length) as ReceiptState
    await state.learn(target, told)
    tell(model, index, told)
  }
}

/** An active receipt replaces the one before it, if that is known. */
function tell(model: ChainModel, index: number, news: ReceiptNews): void {
  model.states[index] = RECEIPT_TRANSITIONS[news][model.states[index] ?? 'unknown']
  if (news === 'active' && index > 0) tell(model, index - 1, 'replaced')
}

/** One process, or several that are all heard, have seen whatever there is. */
function shown(state: ReceiptStanding): ReceiptStanding {
  return state === 'revoked_unseen' ? 'revoked' : state
}
