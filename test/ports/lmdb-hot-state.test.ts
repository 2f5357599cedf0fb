/** What the LMDB hot state does beyond the contract: it deletes what has expired and keeps what a crash may not take. */

import { expect } from 'chai'

import { LIMITS } from '../../domain/limits.ts'
import type { LmdbHotState } from '../../ports/hot-state/lmdb.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/lmdb/environment.ts'
import {
  deleteFolder,
  holdWriteLock,
  openTestEnvironment,
  temporaryFolder,
  testClock,
} from '../contract/lmdb-harness.ts'

const DAY_MS = 86_400_000

describe('LMDB hot state', () => {
  const clock = testClock()
  let folder: string
  let environment: LmdbEnvironment
  let state: LmdbHotState

  beforeEach(async () => {
    folder = await temporaryFolder()
    environment = await openTestEnvironment(folder, clock.nowMs)
    state = await lmdbHotState(environment, { sweepEveryMs: 0, saveEveryMs: 1 })
  })
  afterEach(async () => {
    await state.close()
    await environment.close()
    await deleteFolder(folder)
  })

  const stored = async (): Promise<string[]> => {
    await environment.committer.durable()
    const all = environment.openTable('hot').range({ start: '', end: '\uffff', limit: 100_000 })
    return all.map(({ key }) => key)
  }
  const receipt = (number: number) => ({
    website: 'acme',
    visitId: number.toString(16).padStart(32, '0'),
    issuedAtMs: clock.nowMs(),
  })
  const sweepAfter = async (ms: number): Promise<string[]> => {
    clock.set(clock.nowMs() + ms)
    await state.sweep()
    return stored()
  }

  it('deletes never-activated receipts after an hour and keeps activated ones', async () => {
    for (let number = 0; number < 2_500; number++) await state.putVisit({ ...receipt(number), previous: null })
    await state.activate(receipt(7))
    expect((await stored()).length).to.equal(2_500)
    expect((await sweepAfter(LIMITS.issuedMemoryMs - 1)).length).to.equal(2_500)
    expect((await sweepAfter(1)).map((key) => key.split('/')[0])).to.deep.equal(['known'])
  })

  it('keeps a receipt learnt late for its hour, behind others that are due', async () => {
    await state.learn({ ...receipt(1), issuedAtMs: clock.nowMs() - 20 * DAY_MS, previous: null }, 'issued')
    expect((await sweepAfter(LIMITS.issuedMemoryMs - 1)).length).to.equal(1)
    expect(await sweepAfter(1)).to.deep.equal([])
  })

  it('leaves nothing behind when everything has expired', async () => {
    await state.putVisit({ ...receipt(1), previous: receipt(2) })
    await state.activate(receipt(1))
    const claim = { website: 'acme', eventId: 'event', installationId: 'installation', owner: 'owner' }
    await state.claimInstall(claim)
    await state.settleInstall({ ...claim, answer: 'answer', matched: { ...receipt(1), gpc: false } })
    await state.countHits([{ key: 'address', limit: 5, windowS: 86_400 }])
    await state.addUsage({ organization: 'acme', month: '2026-11', quota: null })
    expect(await sweepAfter(40 * DAY_MS)).to.deep.equal(['usage/2026-11/acme'])
    expect(await sweepAfter(800 * DAY_MS)).to.deep.equal([])
  })

  it('keeps an installation that came again although the day of its first visit is over', async () => {
    const settle = async (eventId: string): Promise<void> => {
      const claim = { website: 'acme', eventId, installationId: 'installation', owner: 'owner' }
      await state.claimInstall(claim)
      await state.settleInstall({ ...claim, answer: eventId, matched: { ...receipt(1), gpc: false } })
    }
    await settle('event-1')
    clock.set(clock.nowMs() + 20 * DAY_MS)
    await settle('event-2')
    const kept = await sweepAfter(13 * DAY_MS)
    expect(kept.filter((key) => !key.startsWith('day/'))).to.have.members([
      'answer/acme/event-2',
      'installation/acme/installation',
    ])
  })

  it('stores day windows and usage by itself, without being closed', async () => {
    await state.countHits([{ key: 'address', limit: 5, windowS: 86_400 }])
    await state.addUsage({ organization: 'acme', month: '2026-11', quota: 5 })
    while ((await stored()).length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
    expect((await stored()).map((key) => key.split('/')[0])).to.have.members(['hits', 'usage'])
  })

  it('stores a day window from a fiftieth of its limit on, and goes on counting from there after a restart', async () => {
    const hit = { key: 'address', limit: 500, windowS: 86_400 }
    for (let count = 1; count < 10; count++) await state.countHits([hit])
    expect(await stored()).to.deep.equal([])
    await state.countHits([hit])
    await state.close()
    expect((await stored()).map((key) => key.split('/')[0])).to.deep.equal(['hits'])
    state = await lmdbHotState(environment, { sweepEveryMs: 0 })
    expect(await state.countHits([hit])).to.deep.equal({ kind: 'counted', counts: [11] })
  })

  it('stores nothing for short windows', async () => {
    await state.countHits([{ key: 'address', limit: 5, windowS: 60 }])
    await state.countHits([{ key: 'organization', limit: 5, windowS: 3_600 }])
    expect(await stored()).to.deep.equal([])
  })

  it('stores settled answers by itself, without being closed', async () => {
    const claim = { website: 'acme', eventId: 'event', installationId: 'installation', owner: 'owner' }
    await state.claimInstall(claim)
    await state.settleInstall({ ...claim, answer: 'answer', matched: { ...receipt(1), gpc: false } })
    while ((await stored()).length < 3) await new Promise((resolve) => setTimeout(resolve, 2))
    expect((await stored()).filter((key) => !key.startsWith('day/'))).to.have.members([
      'answer/acme/event',
      'installation/acme/installation',
    ])
  })

  it('answers repeats while the disk does not answer', async () => {
    const release = await holdWriteLock(folder)
    const claim = { website: 'acme', eventId: 'event', installationId: 'installation', owner: 'owner' }
    await state.claimInstall(claim)
    await state.settleInstall({ ...claim, answer: 'answer', matched: null })
    const outcome = await state.claimInstall({ ...claim, owner: 'another' })
    await release()
    expect(outcome).to.deep.equal({ kind: 'settled', answer: 'answer' })
  })

  it('deletes more answers than one transaction takes', async () => {
    for (let number = 0; number < 12_000; number++) {
      const claim = { website: 'acme', eventId: `event-${number}`, installationId: `${number}`, owner: 'owner' }
      await state.claimInstall(claim)
      await state.settleInstall({ ...claim, answer: 'answer', matched: null })
    }
    while ((await stored()).length < 12_000) await new Promise((resolve) => setTimeout(resolve, 2))
    expect(await sweepAfter(40 * DAY_MS)).to.deep.equal([])
  }).timeout(20_000)
})
