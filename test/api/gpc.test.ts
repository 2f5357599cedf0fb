/** Global Privacy Control: advertising identities never become facts and are not legible in Logs. */

import { expect } from 'chai'
import { newId } from '../../fixtures/service/requests.ts'
import { logsOf, startApi, visitBody, type Api, type CallOptions } from './support/api.ts'
import { claimsOf, KEYS } from './support/keys.ts'

const HEADER: CallOptions = { headers: { 'Sec-GPC': '1' } }

describe('Global Privacy Control', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  /** Identities that occur nowhere else. */
  const identities = (mark: string) => ({
    ga4: { 'G-TEST000001': { client_id: `ga4-${mark}`, session_id: '1' } },
    google_ads: { gclid: `gclid-${mark}`, gcl_aw: `GCL.17.gclid-${mark}`, session_attributes: `attrs-${mark}` },
    meta: { fbp: `fb.1.17.${mark}`, fbclid: `fbclid/${mark}` },
    x: { twclid: `twclid ${mark}`, twclid_at: 1_795_251_875_123 },
    custom: { crm: { lead: `custom-${mark}` } },
    linkedin: { li_fat_id: `linkedin-${mark}` },
  })
  const factOf = async (receipt: string) => {
    await api.service.drain('facts-writer')
    const asked = { organizations: ['acme'], websites: ['acme-dev'], visit_ids: [claimsOf(receipt).visitId] }
    return (await api.service.facts.run('visitsByIds', asked))[0]!
  }
  const hidden = (mark: string): readonly string[] => [
    ...['gclid-', 'attrs-', 'fb.1.17.', 'fbclid/', 'fbclid%2F', 'twclid ', 'twclid%20', 'custom-', 'linkedin-'].map(
      (start) => start + mark,
    ),
  ]

  const WAYS: readonly (readonly [string, Record<string, unknown>, CallOptions])[] = [
    ['by the body', { gpc: true }, {}],
    ["by the browser's header", {}, HEADER],
    ["by the browser's header against the body", { gpc: false }, HEADER],
    ['by a header that came twice', {}, { headers: { 'Sec-GPC': '0, 1' } }],
  ]
  for (const [name, more, options] of WAYS) {
    it(`requested ${name} keeps GA4 and drops the rest, in facts and Logs`, async () => {
      const mark = newId()
      const page = `https://acme.dev/install?gclid=gclid-${mark}&fbclid=${encodeURIComponent(`fbclid/${mark}`)}`
      const { body } = await api.visit(
        { identities: identities(mark), page_url: page, note: `see gclid-${mark}`, ...more },
        options,
      )
      const { receipt } = body['marker']
      expect(claimsOf(receipt).gpc).to.equal(true)
      const fact = await factOf(receipt)
      expect(fact.gpc).to.equal(true)
      expect(JSON.parse(fact.identities)).to.deep.equal({
        ga4: { 'G-TEST000001': { client_id: `ga4-${mark}`, session_id: '1' } },
      })
      const [row] = await logsOf(api, (log) => log.body.includes(mark) && log.path === '/v1/visits')
      for (const value of hidden(mark)) expect(row!.body).to.not.include(value)
      const kept = JSON.parse(row!.body)
      expect(kept.identities.ga4['G-TEST000001'].client_id).to.equal(`ga4-${mark}`)
      expect(kept.identities.google_ads.gclid).to.equal(`hmac:${KEYS.logHash(`gclid-${mark}`)}`)
      expect(kept.note).to.equal(`hmac:${KEYS.logHash(`see gclid-${mark}`)}`)
      expect(kept.identities.custom.crm.lead).to.equal(`hmac:${KEYS.logHash(`custom-${mark}`)}`)
      expect(row!.is_redacted).to.equal(true)
    })
  }

  it('is not assumed: without it identities are facts, and Logs keep the body as it came', async () => {
    const mark = newId()
    const body = JSON.stringify(visitBody({ identities: identities(mark) }))
    const reply = await api.post('/v1/visits', body, { headers: { 'Sec-GPC': '0' } })
    expect(JSON.parse((await factOf(reply.body['marker'].receipt)).identities)).to.have.keys(
      'ga4',
      'google_ads',
      'meta',
      'custom',
    )
    expect((await logsOf(api, (log) => log.body === body))[0]).to.deep.include({ is_redacted: false })
  })

  it('applies to visits of a handoff', async () => {
    const mark = newId()
    const { receipt } = (await api.handoff(visitBody({ identities: identities(mark), gpc: true }))).body
    expect(JSON.parse((await factOf(receipt)).identities)).to.have.all.keys('ga4')
  })

  it('applies to refused bodies, whether they parse or not', async () => {
    for (const breakIt of [
      (text: string) => text.replace('"project":"acme-dev"', '"project":7'),
      (text: string) => text.slice(0, -1),
      (text: string) => `${text.slice(0, -1)},"gpc":true}`,
      (text: string) => text.replace('/install"', '/nowhere?gclid=x"').replace('url_', 'yrl_'),
    ]) {
      const mark = newId()
      const text = breakIt(JSON.stringify(visitBody({ identities: identities(mark), gpc: true })))
      expect((await api.post('/v1/visits', text)).status).to.equal(400)
      const [row] = await logsOf(api, (log) => log.body.includes(`ga4-${mark}`))
      for (const value of hidden(mark)) expect(row!.body, row!.code).to.not.include(value)
    }
  })

  it('is passed from the token to the install', async () => {
    const { receipt } = (await api.visit()).body['marker']
    const { token } = (await api.handoff({ receipt, gpc: true })).body
    const eventId = newId()
    expect((await api.event({ event_id: eventId, handoff: token })).body['resolution']).to.equal('matched')
    await api.service.drain('facts-writer')
    const [install] = await api.service.facts.run('installsByEventId', { event_id: eventId })
    expect(install!.gpc).to.equal(true)
  })
})
