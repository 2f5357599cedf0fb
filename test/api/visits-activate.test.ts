/** `POST /v1/visits/activate`: confirms that the marker is on disk, and from where that may be confirmed. */

import { expect } from 'chai'
import { issueReceipt } from '../../domain/receipt.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { startApi, TEST_ORIGIN, type Api } from './support/api.ts'
import { claimsOf, KEYS } from './support/keys.ts'

const DAY_MS = 86_400_000

describe('POST /v1/visits/activate', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  const newReceipt = async (): Promise<string> => (await api.visit()).body['marker'].receipt
  const resolutionOf = async (receipt: string): Promise<string> =>
    (await api.event({ receipts: [receipt] })).body['resolution']
  const madeUp = (more: Partial<Parameters<typeof issueReceipt>[1]> = {}, keys = KEYS): string =>
    issueReceipt(keys, {
      organization: 'acme',
      website: 'acme-dev',
      origin: TEST_ORIGIN,
      issuedAtMs: api.service.nowMs(),
      random: Uint8Array.from([1, 2, 3, 4, 5]),
      isHandoffOnly: false,
      isUnrecorded: false,
      gpc: false,
      ...more,
    }).text

  describe('200', () => {
    it('makes a receipt match that did not match before', async () => {
      const receipt = await newReceipt()
      expect(await resolutionOf(receipt)).to.equal('unmatched')
      expect((await api.activate(receipt)).body).to.deep.equal({ ok: true })
      expect(await resolutionOf(receipt)).to.equal('matched')
    })

    it('answers the same when it is asked again', async () => {
      const receipt = await api.activeReceipt()
      for (let time = 0; time < 3; time++) expect((await api.activate(receipt)).body).to.deep.equal({ ok: true })
    })

    it('leaves a fact of the activation and of what it revoked, once, however often it is asked', async () => {
      const first = await api.activeReceipt()
      const visit = await api.visit({ previous_receipt: first })
      const second = visit.body['marker'].receipt
      for (let time = 0; time < 3; time++) await api.activate(second)
      await api.service.drain('facts-writer')
      const asked = {
        organization: 'acme',
        website: 'acme-dev',
        visit_ids: [claimsOf(first).visitId, claimsOf(second).visitId],
      }
      const states = await api.service.facts.run('receiptFacts', asked)
      const byId = new Map(states.map((row) => [row.visit_id, row]))
      expect(byId.get(claimsOf(first).visitId)).to.deep.include({ is_active: true, is_revoked: true })
      expect(byId.get(claimsOf(second).visitId)).to.deep.include({ is_active: true, is_revoked: false })
    })

    it('accepts a genuine receipt that the hot state has forgotten', async () => {
      const receipt = madeUp()
      expect((await api.activate(receipt)).body).to.deep.equal({ ok: true })
      expect(await resolutionOf(receipt)).to.equal('matched')
    })
  })

  describe('400', () => {
    it('answers invalid_field to a receipt that is not a text', async () => {
      const reply = await api.post('/v1/visits/activate', { project: 'acme-dev', receipt: ['x'] })
      expect(reply.body).to.deep.include({ error: 'invalid_field', field: '/receipt' })
    })
  })

  describe('403 origin_mismatch', () => {
    it('answers another origin of the same website', async () => {
      const reply = await api.activate(await newReceipt(), {}, { origin: 'https://docs.acme.dev' })
      expect(reply.status).to.equal(403)
      expect(reply.body).to.deep.equal({ error: 'origin_mismatch' })
    })
  })

  describe('404 receipt_not_found', () => {
    it('answers everything that was not issued here', async () => {
      const receipt = await newReceipt()
      const flipped = (receipt.startsWith('B') ? 'C' : 'B') + receipt.slice(1)
      const last = receipt.slice(0, 42)
      const uncanonical = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
        .map((letter) => last + letter)
        .filter((text) => text !== receipt)
      const others = [
        '',
        'x',
        'A'.repeat(43),
        flipped,
        receipt.toLowerCase(),
        `${receipt}=`,
        ` ${receipt}`,
        receipt.slice(0, 42),
        `${receipt}A`,
        madeUp({ website: 'other-dev' }),
        madeUp({}, createKeyring(['another-master-secret-of-another-installation'])),
        'é'.repeat(43),
        '\u0000'.repeat(43),
      ]
      for (const forged of [...others, ...uncanonical]) {
        const reply = await api.activate(forged)
        expect(reply.status, forged).to.equal(404)
        expect(reply.body).to.deep.equal({ error: 'receipt_not_found' })
      }
    })

    it('answers a handoff token, with or without its prefix', async () => {
      const { token } = (await api.handoff({ receipt: await newReceipt() })).body
      for (const text of [token, token.slice(4)]) {
        expect((await api.activate(text)).body).to.deep.equal({ error: 'receipt_not_found' })
      }
    })
  })

  describe('409', () => {
    it('answers receipt_not_activatable to a receipt that exists only for a handoff, also when it is old', async () => {
      const old = madeUp({ isHandoffOnly: true, issuedAtMs: api.service.nowMs() - 31 * DAY_MS })
      for (const receipt of [madeUp({ isHandoffOnly: true }), old]) {
        const reply = await api.activate(receipt)
        expect(reply.status).to.equal(409)
        expect(reply.body).to.deep.equal({ error: 'receipt_not_activatable' })
      }
    })

    it('answers receipt_revoked to one that a newer one has replaced', async () => {
      const first = await api.activeReceipt()
      await api.activeReceipt({ previous_receipt: first })
      const reply = await api.activate(first)
      expect(reply.status).to.equal(409)
      expect(reply.body).to.deep.equal({ error: 'receipt_revoked' })
    })
  })

  describe('410 receipt_expired', () => {
    it('answers one that is more than 30 days old', async () => {
      const reply = await api.activate(madeUp({ issuedAtMs: api.service.nowMs() - 30 * DAY_MS - 60_000 }))
      expect(reply.status).to.equal(410)
      expect(reply.body).to.deep.equal({ error: 'receipt_expired' })
    })

    it('is not the answer on the 30th day', async () => {
      const reply = await api.activate(madeUp({ issuedAtMs: api.service.nowMs() - 30 * DAY_MS + 60_000 }))
      expect(reply.body).to.deep.equal({ ok: true })
    })
  })
})
