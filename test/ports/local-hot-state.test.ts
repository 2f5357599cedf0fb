/** What a process remembers by itself while Redis is away is bounded, however long that lasts. */

import { expect } from 'chai'

import type { ReceiptStanding } from '../../domain/receipt-states.ts'
import { localHotState } from '../../ports/hot-state/redis/local-hot-state.ts'
import { NEWS_IN_ANY_ORDER, standingAfter, tellNews } from '../contract/receipt-news.ts'

const NOW_MS = Date.UTC(2026, 10, 5)
/** Another process may have activated an issued receipt, or one that replaced an active one. */
const SHOWN: Readonly<Record<ReceiptStanding, ReceiptStanding>> = {
  unknown: 'unknown',
  issued: 'unknown',
  predecessor_unknown: 'predecessor_unknown',
  active: 'predecessor_unknown',
  revoked_unseen: 'revoked_unseen',
  revoked_predecessor_unknown: 'revoked_predecessor_unknown',
  revoked: 'revoked',
}
const EVENTS = 250_000
const REMEMBERED_AT_LEAST = 20_000
const REMEMBERED_AT_MOST = 120_000

describe('the hot state of one process', () => {
  it('moves the state of a receipt as the table of the domain says, and tells what another process cannot know better', async () => {
    const state = localHotState(() => NOW_MS)
    for (const [number, news] of NEWS_IN_ANY_ORDER.entries()) {
      const visitId = number.toString(16).padStart(32, '0')
      const receipt = { organization: 'acme', website: 'site', visitId, issuedAtMs: NOW_MS }
      for (const each of news) await tellNews(state, receipt, each)
      expect(await state.receiptStates([receipt]), news.join()).to.deep.equal([SHOWN[standingAfter(news)]])
    }
  })

  it('remembers the answers to the newest install events only', async () => {
    let now = 0
    const state = localHotState(() => now)
    const claimOf = (event: number) => ({
      organization: 'acme',
      website: 'site',
      eventId: `event-${event}`,
      installationId: `installation-${event}`,
      owner: 'owner',
    })
    for (let event = 0; event < EVENTS; event++) {
      now = event
      const claim = claimOf(event)
      await state.claimInstall(claim)
      await state.keepInstall(claim, () => 'decided')
      await state.settleInstall({ ...claim, answer: `answer-${event}`, receivedAtMs: now, matched: null })
    }
    const isKnown = async (event: number): Promise<boolean> =>
      (await state.claimInstall(claimOf(event))).kind === 'settled'
    let known = 0
    for (let event = 0; event < EVENTS; event++) if (await isKnown(event)) known += 1
    expect(known).to.be.within(REMEMBERED_AT_LEAST, REMEMBERED_AT_MOST)
    expect(await isKnown(EVENTS - 1)).to.equal(true)
    expect(await isKnown(EVENTS - REMEMBERED_AT_LEAST)).to.equal(true)
  })
})
