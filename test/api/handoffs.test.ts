/** `POST /v1/handoffs`: a token for a visit that has a receipt, or for a visit made only for the handoff. */

import { expect } from 'chai'
import { issueReceipt } from '../../domain/receipt.ts'
import { startApi, TEST_ORIGIN, visitBody, type Api } from './support/api.ts'
import { claimsOf, KEYS, tokenClaimsOf } from './support/keys.ts'

const DAY_MS = 86_400_000

describe('POST /v1/handoffs', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  const visited = async (): Promise<Record<string, any>> => (await api.visit()).body['marker']
  const install = async (handoff: string): Promise<Record<string, any>> => (await api.event({ handoff })).body

  describe('200 for a visit that has a receipt', () => {
    it('answers with a token that lives as long as the visit', async () => {
      const marker = await visited()
      const { body } = await api.handoff({ receipt: marker['receipt'] })
      expect(Object.keys(body)).to.have.members(['ok', 'token', 'expires_at'])
      expect(body['token']).to.match(/^wht_[A-Za-z0-9_-]{43}$/)
      expect(body['expires_at']).to.equal(marker['expires_at'])
      expect(tokenClaimsOf(body['token']).visitId).to.equal(claimsOf(marker['receipt']).visitId)
    })

    it('gives the same token again', async () => {
      const { receipt } = await visited()
      const tokens = await Promise.all([1, 2, 3].map(() => api.handoff({ receipt })))
      expect(new Set(tokens.map(({ body }) => body['token'])).size).to.equal(1)
    })

    it('matches an install whether the receipt is active or not', async () => {
      const { receipt } = await visited()
      const { token } = (await api.handoff({ receipt })).body
      const expected = { resolution: 'matched', candidate_count: 1, selection_policy: 'handoff' }
      expect(await install(token)).to.deep.include(expected)
      await api.activate(receipt)
      expect(await install(token)).to.deep.include(expected)
    })

    it('still matches after its receipt was revoked', async () => {
      const first = await api.activeReceipt()
      const { token } = (await api.handoff({ receipt: first })).body
      await api.activeReceipt({ previous_receipt: first })
      expect(await install(token)).to.deep.include({ resolution: 'matched', selection_policy: 'handoff' })
    })

    it('gives another token under GPC, which is marked with it', async () => {
      const { receipt } = await visited()
      const plain = (await api.handoff({ receipt })).body['token']
      const inBody = (await api.handoff({ receipt, gpc: true })).body['token']
      const inHeader = (await api.handoff({ receipt }, { headers: { 'Sec-GPC': '1' } })).body['token']
      expect(tokenClaimsOf(plain).gpc).to.equal(false)
      expect(tokenClaimsOf(inBody).gpc).to.equal(true)
      expect(inHeader).to.equal(inBody)
    })

    it('gives the same token at the copy, which counts as one and as no tracked event', async () => {
      const alone = (await api.handoff(visitBody())).body
      const { receipt } = await visited()
      const month = new Date(api.service.nowMs()).toISOString().slice(0, 7)
      const used = () => api.service.hotState.readUsage('acme', month)
      const before = await used()
      for (const each of [receipt, alone['receipt']]) {
        const { token } = (await api.handoff({ receipt: each })).body
        const copied = await api.handoff({ receipt: each, copied: true })
        expect(copied.body['token']).to.equal(token)
        await api.handoff({ receipt: each, copied: false })
      }
      expect(await used()).to.deep.equal(before)
      await api.service.drain('facts-writer')
      const rows = await api.service.facts.run('handoffsOfVisits', {
        organizations: ['acme', 'acme'],
        websites: ['acme-dev', 'acme-dev'],
        visit_ids: [receipt, alone['receipt']].map((each) => claimsOf(each).visitId),
      })
      const said = rows.map((row) => [row.is_copied, row.is_handoff_only])
      expect(said).to.have.deep.members([
        [true, false],
        [true, true],
      ])
    })

    it('is no copy without saying so, and copied is true or false', async () => {
      const { receipt } = await visited()
      await api.handoff({ receipt })
      await api.service.drain('facts-writer')
      const asked = { organizations: ['acme'], websites: ['acme-dev'], visit_ids: [claimsOf(receipt).visitId] }
      expect((await api.service.facts.run('handoffsOfVisits', asked)).map((row) => row.is_copied)).to.deep.equal([
        false,
      ])
      const { status, body } = await api.handoff({ receipt, copied: 'yes' })
      expect([status, body['error'], body['field']]).to.deep.equal([400, 'invalid_field', '/copied'])
    })

    it('serves the receipt of a visit made for a handoff, for another scope of the page', async () => {
      const { receipt, token } = (await api.handoff(visitBody())).body
      expect((await api.handoff({ receipt })).body['token']).to.equal(token)
    })
  })

  describe('200 for a separate visit', () => {
    it('also answers with the receipt, and the token matches', async () => {
      const { body } = await api.handoff(visitBody())
      expect(Object.keys(body)).to.have.members(['ok', 'token', 'expires_at', 'receipt'])
      expect(claimsOf(body['receipt']).isHandoffOnly).to.equal(true)
      expect(await install(body['token'])).to.deep.include({ resolution: 'matched', selection_policy: 'handoff' })
    })

    it('leaves the visit as a fact', async () => {
      const { receipt } = (await api.handoff(visitBody({ referrer: 'https://only.example/here' }))).body
      await api.service.drain('facts-writer')
      const [row] = await api.service.facts.run('visitsByIds', {
        organizations: ['acme'],
        websites: ['acme-dev'],
        visit_ids: [claimsOf(receipt).visitId],
      })
      expect(row).to.deep.include({
        is_handoff_only: true,
        referrer: 'https://only.example/here',
        previous_visit_id: '',
      })
    })

    it('gives a receipt that never matches by itself', async () => {
      const { receipt } = (await api.handoff(visitBody())).body
      const { body } = await api.event({ receipts: [receipt] })
      expect(body).to.deep.include({ resolution: 'unmatched', candidate_count: 0 })
    })

    it('ignores previous_receipt', async () => {
      const first = await api.activeReceipt()
      await api.handoff(visitBody({ previous_receipt: first }))
      expect((await api.event({ receipts: [first] })).body['resolution']).to.equal('matched')
    })

    it('refuses everything that a visit would be refused for', async () => {
      const replies = [
        await api.handoff(visitBody({ page_url: 'install' })),
        await api.handoff(visitBody({ url_id: 'x' })),
        await api.handoff(visitBody({ source: { landed_at: 'soon' } })),
        await api.handoff(visitBody({ page_url: 'https://evil.example/' })),
        await api.handoff(visitBody(), { origin: null }),
      ]
      const answers = replies.map(({ body }) => body['field'] ?? body['error'])
      expect(answers).to.deep.equal([
        '/page_url',
        '/url_id',
        '/source/landed_at',
        'origin_not_allowed',
        'origin_not_allowed',
      ])
    })
  })

  describe('refusals of a receipt', () => {
    it('are 404 receipt_not_found if it is forged or belongs to another website', async () => {
      const { receipt } = await visited()
      for (const forged of ['x', 'A'.repeat(43), receipt.slice(0, -1) + (receipt.endsWith('A') ? 'E' : 'A')]) {
        const reply = await api.handoff({ receipt: forged })
        expect(reply.status).to.equal(404)
        expect(reply.body).to.deep.equal({ error: 'receipt_not_found' })
      }
    })

    it('are 403 origin_mismatch from another origin', async () => {
      const { receipt } = await visited()
      const reply = await api.handoff({ receipt }, { origin: 'https://docs.acme.dev' })
      expect(reply.status).to.equal(403)
      expect(reply.body).to.deep.equal({ error: 'origin_mismatch' })
    })

    it('are 409 receipt_revoked once it was replaced, even if only ClickHouse remembers it', async () => {
      const first = await api.activeReceipt()
      await api.activeReceipt({ previous_receipt: first })
      const reply = await api.handoff({ receipt: first })
      expect(reply.status).to.equal(409)
      expect(reply.body).to.deep.equal({ error: 'receipt_revoked' })
    })

    it('are 410 receipt_expired past 30 days', async () => {
      const old = issueReceipt(KEYS, {
        organization: 'acme',
        website: 'acme-dev',
        origin: TEST_ORIGIN,
        issuedAtMs: api.service.nowMs() - 30 * DAY_MS - 1_000,
        random: new Uint8Array(5),
        isHandoffOnly: false,
        isUnrecorded: false,
        gpc: false,
      })
      const reply = await api.handoff({ receipt: old.text })
      expect(reply.status).to.equal(410)
      expect(reply.body).to.deep.equal({ error: 'receipt_expired' })
    })
  })
})
