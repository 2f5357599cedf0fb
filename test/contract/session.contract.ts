/** What every HotState adapter promises about sessions and values that can be taken once. */

import { expect } from 'chai'

import type { HotStateHarness } from './hot-state.contract.ts'

const ANNA = 'p_0123456789abcdef'
const BERT = 'p_fedcba9876543210'
const WEEK_MS = 7 * 86_400_000
const MINUTE_MS = 60_000

export function sessionContract(name: string, open: () => Promise<HotStateHarness>): void {
  describe(`HotState contract, sessions: ${name}`, () => {
    let harness: HotStateHarness
    beforeEach(async () => {
      harness = await open()
    })
    afterEach(() => harness.close())

    const put = (id: string, person = ANNA, forMs = WEEK_MS): Promise<void> =>
      harness.state.putSession({ id, person, record: `record of ${id} \u{1f600}\n|`, forMs })
    const isThere = async (id: string): Promise<boolean> => (await harness.state.readSession(id)) !== null

    it('give a record back as it was put, also after a reopening', async () => {
      await put('a')
      expect(await harness.state.readSession('a')).to.equal('record of a \u{1f600}\n|')
      await harness.reopen()
      expect(await harness.state.readSession('a')).to.equal('record of a \u{1f600}\n|')
      expect(await harness.state.readSession('b')).to.equal(null)
    })

    it('are over at their end, and reading makes none longer', async () => {
      await put('a')
      harness.setNowMs(harness.nowMs() + WEEK_MS - 1)
      expect(await isThere('a')).to.equal(true)
      harness.setNowMs(harness.nowMs() + 1)
      expect(await isThere('a')).to.equal(false)
    })

    it('end one by one', async () => {
      await put('a')
      await put('b')
      await harness.state.dropSession('a')
      await harness.state.dropSession('never')
      expect([await isThere('a'), await isThere('b')]).to.deep.equal([false, true])
      await harness.reopen()
      expect(await isThere('a')).to.equal(false)
    })

    it('end all at once for one person, who may then sign in again', async () => {
      await put('a')
      await put('b')
      await put('c', BERT)
      await harness.state.dropSessionsOf(ANNA)
      expect([await isThere('a'), await isThere('b'), await isThere('c')]).to.deep.equal([false, false, true])
      await put('d')
      await harness.reopen()
      expect([await isThere('a'), await isThere('d')]).to.deep.equal([false, true])
      await harness.state.dropSessionsOf(ANNA)
      await put('e')
      expect([await isThere('d'), await isThere('e')]).to.deep.equal([false, true])
    })

    it('leave no record behind when all of a person end, and those of others stay', async () => {
      const record = (email: string) => JSON.stringify({ email })
      for (const id of ['a', 'b', 'c'])
        await harness.state.putSession({ id, person: ANNA, record: record('anna@acme.dev'), forMs: WEEK_MS })
      await harness.state.dropSession('b')
      await harness.state.putSession({ id: 'd', person: BERT, record: record('bert@acme.dev'), forMs: WEEK_MS })
      expect(await harness.stored()).to.include('anna@acme.dev')
      await harness.reopen()
      await harness.state.dropSessionsOf(ANNA)
      const stored = await harness.stored()
      expect([stored.includes('anna@acme.dev'), stored.includes('bert@acme.dev')]).to.deep.equal([false, true])
    })

    it('stay valid for their whole time, however long ago the person signed out everywhere', async () => {
      await harness.state.dropSessionsOf(ANNA)
      harness.setNowMs(harness.nowMs() + 6 * 86_400_000)
      await put('a')
      harness.setNowMs(harness.nowMs() + WEEK_MS - 1)
      expect(await isThere('a')).to.equal(true)
    })

    it('take a value for exactly one of 100 callers at once', async () => {
      expect(await harness.state.putOnce('link', 'a value', MINUTE_MS)).to.equal(true)
      const taken = await Promise.all(Array.from({ length: 100 }, () => harness.state.takeOnce('link')))
      expect(taken.filter((value) => value !== null)).to.deep.equal(['a value'])
      await harness.reopen()
      expect(await harness.state.takeOnce('link')).to.equal(null)
    })

    it('put a value for exactly one of 100 callers at once', async () => {
      const put100 = Array.from({ length: 100 }, (_, place) => harness.state.putOnce('key', String(place), MINUTE_MS))
      const outcomes = await Promise.all(put100)
      expect(outcomes.filter((isPut) => isPut)).to.have.length(1)
      expect(await harness.state.takeOnce('key')).to.equal(String(outcomes.indexOf(true)))
    })

    it('replace a value so that nobody who reads meanwhile finds nothing, and one of many is left', async () => {
      await harness.state.putOnce('key', 'first', MINUTE_MS)
      const wanted = Array.from({ length: 50 }, (_, place) => `value ${place}`)
      const [, ...read] = await Promise.all([
        Promise.all(wanted.map((value) => harness.state.replaceOnce('key', value, MINUTE_MS))),
        ...wanted.map(() => harness.state.readOnce('key')),
      ])
      for (const value of read) expect(['first', ...wanted]).to.include(value)
      expect(await harness.state.putOnce('key', 'late', MINUTE_MS)).to.equal(false)
      await harness.reopen()
      expect(wanted).to.include(await harness.state.takeOnce('key'))
      expect(await harness.state.readOnce('key')).to.equal(null)
    })

    it('replace a value with its own time, whether or not there was one', async () => {
      await harness.state.replaceOnce('key', 'a value \u{1f600}\n|', MINUTE_MS)
      harness.setNowMs(harness.nowMs() + MINUTE_MS - 1)
      await harness.state.replaceOnce('key', 'another', 2 * MINUTE_MS)
      harness.setNowMs(harness.nowMs() + 2 * MINUTE_MS - 1)
      expect(await harness.state.readOnce('key')).to.equal('another')
      harness.setNowMs(harness.nowMs() + 1)
      expect(await harness.state.readOnce('key')).to.equal(null)
      await harness.state.replaceOnce('key', 'a third', MINUTE_MS)
      expect(await harness.state.takeOnce('key')).to.equal('a third')
    })

    it('read a value without taking it, until it is over', async () => {
      await harness.state.putOnce('key', 'value', MINUTE_MS)
      expect(await harness.state.readOnce('key')).to.equal('value')
      await harness.reopen()
      expect(await harness.state.readOnce('key')).to.equal('value')
      harness.setNowMs(harness.nowMs() + MINUTE_MS)
      expect(await harness.state.readOnce('key')).to.equal(null)
      expect(await harness.state.takeOnce('key')).to.equal(null)
      expect(await harness.state.putOnce('key', 'again', MINUTE_MS)).to.equal(true)
      expect(await harness.state.takeOnce('key')).to.equal('again')
    })
  })
}
