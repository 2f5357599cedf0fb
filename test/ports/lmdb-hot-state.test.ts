/** What the LMDB hot state does beyond the contract: it deletes what has expired and keeps what a crash may not take. */

import { expect } from 'chai'

import { LIMITS } from '../../domain/limits.ts'
import type { LmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
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
    state = await lmdbHotState(environment, { sweepEveryMs: Infinity, saveEveryMs: 1 })
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
    organization: 'acme',
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
    const issuedAtMs = clock.nowMs()
    const some = [0, 7, 1_250, 2_499].map((number) => ({ ...receipt(number), issuedAtMs }))
    const before = await sweepAfter(LIMITS.issuedMemoryMs - 1)
    expect(before.filter((key) => key.startsWith('issued/'))).to.have.lengthOf.within(10, 2_500)
    expect(await state.receiptStates(some)).to.deep.equal(['issued', 'active', 'issued', 'issued'])
    expect((await sweepAfter(1)).map((key) => key.split('/')[0])).to.deep.equal(['known'])
    expect(await state.receiptStates(some)).to.deep.equal(['unknown', 'active', 'unknown', 'unknown'])
  })

  it('stores issued receipts by itself and finds each after a restart, with what it replaces', async () => {
    for (let number = 0; number < 600; number++) {
      await state.putVisit({ ...receipt(number), previous: number % 2 === 0 ? receipt(9_000 + number) : null })
      if (number % 100 === 0) clock.set(clock.nowMs() + 60)
    }
    const last = receipt(599)
    while ((await stored()).length < 3) await new Promise((resolve) => setTimeout(resolve, 2))
    await state.close()
    state = await lmdbHotState(environment, { sweepEveryMs: Infinity })
    expect(await state.activate(last)).to.deep.equal({ kind: 'activated', revoked: null })
    const replacing = { ...last, visitId: receipt(598).visitId }
    const revoked = { ...last, visitId: receipt(9_598).visitId }
    expect(await state.activate(replacing)).to.deep.equal({ kind: 'activated', revoked })
    expect(await state.activate({ ...last, visitId: receipt(600).visitId })).to.deep.equal({ kind: 'unknown' })
    expect(await state.activate({ ...last, organization: 'acme', website: 'acm' })).to.deep.equal({ kind: 'unknown' })
  })

  it('has stored everything when it was flushed, so that a kill takes nothing of it', async () => {
    state = await lmdbHotState(environment, { sweepEveryMs: Infinity, saveEveryMs: 60_000 })
    const claim = {
      organization: 'acme',
      website: 'acme',
      eventId: 'event',
      installationId: 'installation',
      owner: 'owner',
    }
    await state.claimInstall(claim)
    await state.settleInstall({ ...claim, answer: 'answer', receivedAtMs: 0, matched: null })
    await state.putVisit({ ...receipt(1), previous: null })
    await state.addUsage({ organization: 'acme', month: '2026-11', quota: null })
    await state.flush()
    const another = await lmdbHotState(environment, { sweepEveryMs: Infinity })
    expect(await another.claimInstall(claim)).to.deep.equal({ kind: 'settled', answer: 'answer' })
    expect(await another.receiptStates([receipt(1)])).to.deep.equal(['issued'])
    expect(await another.readUsage('acme', '2026-11')).to.equal(1)
    await another.close()
  })

  it('knows issued receipts while the disk does not answer', async () => {
    const release = await holdWriteLock(folder)
    await state.putVisit({ ...receipt(1), previous: null })
    await new Promise((resolve) => setTimeout(resolve, 20))
    await state.putVisit({ ...receipt(2), previous: null })
    const known = await state.receiptStates([receipt(1), receipt(2)])
    await release()
    expect(known).to.deep.equal(['issued', 'issued'])
  })

  it('counts the latest of an issued receipt that was learnt again', async () => {
    await state.putVisit({ ...receipt(1), previous: null })
    const again = receipt(1)
    await stored()
    clock.set(clock.nowMs() + LIMITS.issuedMemoryMs - 1)
    await state.learn({ ...again, previous: receipt(3) }, 'issued')
    await new Promise((resolve) => setTimeout(resolve, 20))
    await stored()
    clock.set(clock.nowMs() + LIMITS.issuedMemoryMs - 1)
    expect(await state.activate(again)).to.deep.equal({
      kind: 'activated',
      revoked: { ...receipt(3), issuedAtMs: again.issuedAtMs + LIMITS.issuedMemoryMs - 1 },
    })
  })

  it('keeps a receipt learnt late for its hour, behind others that are due', async () => {
    await state.learn({ ...receipt(1), issuedAtMs: clock.nowMs() - 20 * DAY_MS, previous: null }, 'issued')
    expect((await sweepAfter(LIMITS.issuedMemoryMs - 1)).length).to.equal(1)
    expect(await sweepAfter(1)).to.deep.equal([])
  })

  it('leaves nothing behind when everything has expired', async () => {
    await state.putVisit({ ...receipt(1), previous: receipt(2) })
    await state.activate(receipt(1))
    const claim = {
      organization: 'acme',
      website: 'acme',
      eventId: 'event',
      installationId: 'installation',
      owner: 'owner',
    }
    await state.claimInstall(claim)
    await state.settleInstall({ ...claim, answer: 'answer', receivedAtMs: 0, matched: { ...receipt(1), gpc: false } })
    await state.countHits([{ key: 'address', limit: 5, windowS: 86_400 }])
    await state.addUsage({ organization: 'acme', month: '2026-11', quota: null })
    expect(await sweepAfter(40 * DAY_MS)).to.deep.equal(['usage/2026-11/acme'])
    expect(await sweepAfter(800 * DAY_MS)).to.deep.equal([])
  })

  it('keeps an installation that came again although the day of its first visit is over', async () => {
    const settle = async (eventId: string): Promise<void> => {
      const claim = { organization: 'acme', website: 'acme', eventId, installationId: 'installation', owner: 'owner' }
      await state.claimInstall(claim)
      await state.settleInstall({ ...claim, answer: eventId, receivedAtMs: 0, matched: { ...receipt(1), gpc: false } })
    }
    await settle('event-1')
    clock.set(clock.nowMs() + 20 * DAY_MS)
    await settle('event-2')
    const kept = await sweepAfter(13 * DAY_MS)
    expect(kept.filter((key) => !key.startsWith('day/'))).to.have.members([
      'answer/acme/acme/event-2',
      'installation/acme/acme/installation',
    ])
  })

  it('stores day windows and usage by itself, without being closed', async () => {
    await state.countHits([{ key: 'address', limit: 5, windowS: 86_400 }])
    await state.addUsage({ organization: 'acme', month: '2026-11', quota: 5 })
    while ((await stored()).length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
    expect((await stored()).map((key) => key.split('/')[0])).to.have.members(['hits', 'usage'])
  })

  it('stores a day window from a fiftieth of its limit on, and keeps counting from there after a restart', async () => {
    const hit = { key: 'address', limit: 500, windowS: 86_400 }
    for (let count = 1; count < 10; count++) await state.countHits([hit])
    expect(await stored()).to.deep.equal([])
    await state.countHits([hit])
    await state.close()
    expect((await stored()).map((key) => key.split('/')[0])).to.deep.equal(['hits'])
    state = await lmdbHotState(environment, { sweepEveryMs: Infinity })
    expect(await state.countHits([hit])).to.deep.equal({ kind: 'counted', counts: [11] })
  })

  it('stores windows of an hour and longer, and nothing for short ones', async () => {
    for (const windowS of [60, 1_800, 3_600]) await state.countHits([{ key: `of ${windowS} s`, limit: 5, windowS }])
    await state.close()
    expect((await stored()).map((key) => key.split('/').at(-1))).to.deep.equal(['of 3600 s'])
    state = await lmdbHotState(environment, { sweepEveryMs: Infinity })
  })

  it('stores settled answers by itself, without being closed', async () => {
    const claim = {
      organization: 'acme',
      website: 'acme',
      eventId: 'event',
      installationId: 'installation',
      owner: 'owner',
    }
    await state.claimInstall(claim)
    await state.settleInstall({ ...claim, answer: 'answer', receivedAtMs: 0, matched: { ...receipt(1), gpc: false } })
    while ((await stored()).length < 3) await new Promise((resolve) => setTimeout(resolve, 2))
    expect((await stored()).filter((key) => !key.startsWith('day/'))).to.have.members([
      'answer/acme/acme/event',
      'installation/acme/acme/installation',
    ])
  })

  it('answers repeats while the disk does not answer', async () => {
    const release = await holdWriteLock(folder)
    const claim = {
      organization: 'acme',
      website: 'acme',
      eventId: 'event',
      installationId: 'installation',
      owner: 'owner',
    }
    await state.claimInstall(claim)
    await state.settleInstall({ ...claim, answer: 'answer', receivedAtMs: 0, matched: null })
    const outcome = await state.claimInstall({ ...claim, owner: 'another' })
    await release()
    expect(outcome).to.deep.equal({ kind: 'settled', answer: 'answer' })
  })

  it('deletes more answers than one transaction takes', async () => {
    for (let number = 0; number < 12_000; number++) {
      const claim = {
        organization: 'acme',
        website: 'acme',
        eventId: `event-${number}`,
        installationId: `${number}`,
        owner: 'owner',
      }
      await state.claimInstall(claim)
      await state.settleInstall({ ...claim, answer: 'answer', receivedAtMs: 0, matched: null })
    }
    while ((await stored()).length < 12_000) await new Promise((resolve) => setTimeout(resolve, 2))
    expect(await sweepAfter(40 * DAY_MS)).to.deep.equal([])
  }).timeout(20_000)
})
