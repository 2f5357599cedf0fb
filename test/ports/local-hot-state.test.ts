/** What a process remembers by itself while Redis is away is bounded, however long that lasts. */

import { expect } from 'chai'

import { localHotState } from '../../ports/hot-state/redis/local-hot-state.ts'

const EVENTS = 250_000
const REMEMBERED_AT_LEAST = 20_000
const REMEMBERED_AT_MOST = 120_000

describe('the hot state of one process', () => {
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
