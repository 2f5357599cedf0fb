/** A website's ID whose owner changes: nothing of the former organisation reaches the present one, and it finds its own again. */

import { expect } from 'chai'
import { newId } from '../../fixtures/service/requests.ts'
import { Registry } from 'prom-client'
import { createApp } from '../../api/app.ts'
import { createApiMetrics } from '../../api/metrics.ts'
import { listen } from '../../api/server.ts'
import { ownedWebsite, type Catalog } from '../../domain/catalog.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { bareDeps } from './support/bare-api.ts'
import { callsTo, manifestsWith, MANIFESTS, startApi, type Api } from './support/api.ts'

const ACME = MANIFESTS['acme.yaml'] ?? ''
/** Another pod on the same log, hot state and facts, whose copy of the catalog stays as it is. */
async function startPod({ service }: Api, catalog: Catalog) {
  const { eventLog, hotState, facts, nowMs } = service
  const own = { eventLog, hotState, facts, nowMs, keys: createKeyring([TEST_SECRET]) }
  const deps = { ...bareDeps(catalog), ...own, metrics: createApiMetrics(new Registry()) }
  const server = await listen(createApp(deps), { host: '127.0.0.1', port: 0 })
  return { ...callsTo(`http://127.0.0.1:${server.port}`), stop: () => server.close() }
}

/** The same objects under another organisation with another GA4 stream. */
const ofBravo = (text: string): string =>
  text
    .replace('kind: Organization\nmetadata: { name: acme }', 'kind: Organization\nmetadata: { name: bravo }')
    .replaceAll('organizationRef: { name: acme }', 'organizationRef: { name: bravo }')
    .replace('measurementId: G-TEST000001', 'measurementId: G-BRAVO00002')
const inNamespace = (text: string): string =>
  text.replaceAll(/metadata: \{ name: ([a-z0-9-]+) \}/g, 'metadata: { name: $1, namespace: team }')
const withTenant = (text: string): string =>
  text
    .replaceAll(/^spec:$/gm, 'spec:\n  tenant: t1')
    .replaceAll('spec: { ', 'spec: { tenant: t1, ')
    .replace(
      'metadata: { name: acme-ga4 }\nstringData',
      'metadata: { name: acme-ga4, labels: { whence.dev/tenant: t1 } }\nstringData',
    )

const OWNERS: Readonly<Record<string, readonly [text: string, organization: string]>> = {
  'another organisation that the website refers to': [ofBravo(ACME), 'bravo'],
  'an organisation of the same name in another namespace': [inNamespace(ACME), 'team/acme'],
  'an organisation of the same name with a tenant': [withTenant(ACME), 'acme@t1'],
}

describe('a website whose ID gets another owner', function () {
  this.timeout(120_000)
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api?.stop())

  const owner = (): string => {
    const website = api.service.catalog.current().websites.get('acme-dev')
    return website === undefined ? '' : ownedWebsite(website).organization
  }

  for (const [name, [present, organization]] of Object.entries(OWNERS)) {
    it(`keeps everything of the former one from ${name}, and gives it back to itself`, async () => {
      const clientId = `777000777.${1_795_000_000 + Object.keys(OWNERS).indexOf(name)}`
      const identities = { ga4: { 'G-TEST000001': { client_id: clientId }, 'G-BRAVO00002': { client_id: clientId } } }
      const receipt = await api.activeReceipt({ identities })
      const later = (await api.visit({ identities })).body['marker']['receipt'] as string
      const { token } = (await api.handoff({ receipt })).body
      const eventId = newId()
      const installationId = newId()
      const event = { event_id: eventId, installation_id: installationId, receipts: [receipt] }
      expect((await api.event(event)).body).to.include({ resolution: 'matched', duplicate: false })
      await api.service.drain()

      await api.service.apply({ 'acme.yaml': present })
      expect(owner()).to.equal(organization)
      const sent = api.service.ga4.requests().length
      expect((await api.activate(later)).body['error']).to.equal('receipt_not_found')
      expect((await api.handoff({ receipt })).body['error']).to.equal('receipt_not_found')
      const nothing = { resolution: 'unmatched', candidate_count: 0, selection_policy: 'none', duplicate: false }
      expect((await api.event({ receipts: [receipt] })).body).to.include(nothing)
      expect((await api.event({ handoff: token })).body).to.include(nothing)
      const follows = { event_type: 'first_run', installation_id: installationId }
      expect((await api.event(follows)).body).to.include(nothing)
      expect((await api.event(event)).body, 'the former answer is no answer to it').to.include(nothing)
      // A receipt of the former one that its browser still holds is no predecessor.
      await api.activeReceipt({ previous_receipt: receipt, identities: {} })
      await api.service.drain()
      const told = api.service.ga4.requests().slice(sent)
      expect(told.filter(({ body }) => JSON.stringify(body).includes(clientId))).to.deep.equal([])

      await api.service.apply({ 'acme.yaml': ACME })
      expect((await api.event(event)).body).to.include({ resolution: 'matched', duplicate: true })
      expect((await api.event({ receipts: [receipt] })).body).to.include({ resolution: 'matched', candidate_count: 1 })
      expect((await api.event({ handoff: token })).body).to.include({ resolution: 'matched' })
      expect((await api.event(follows)).body).to.include({ selection_policy: 'same_installation' })
    })
  }

  it('has no figures of the former one', async () => {
    await api.service.apply({ 'acme.yaml': ofBravo(ACME) })
    await api.visit()
    await api.service.drain()
    const period = { since_ms: api.service.nowMs() - 7_200_000, until_ms: api.service.nowMs() + 7_200_000 }
    const visitsOf = async (organization: string): Promise<number> => {
      const rows = await api.service.facts.run('visitSteps', { organization, websites: ['acme-dev'], ...period })
      return rows.reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0)
    }
    expect(await visitsOf('bravo')).to.equal(1 + 1)
    expect(await visitsOf('acme')).to.be.greaterThan(3)
    await api.service.apply({ 'acme.yaml': ACME })
  })

  it('keeps what pods of both owners store at the same moment apart', async () => {
    const former = await startPod(api, api.service.catalog.current())
    try {
      await api.service.apply({ 'acme.yaml': ofBravo(ACME) })
      const eventId = newId()
      const installationId = newId()
      const receipts = [await former.activeReceipt()]
      const { token: handoff } = (await former.handoff({ receipt: receipts[0] })).body
      const own = [await api.activeReceipt()]
      const event = { event_id: eventId, installation_id: installationId }
      const unmatched = { resolution: 'unmatched', candidate_count: 0, duplicate: false }
      const follows = { event_type: 'first_run', installation_id: installationId }
      expect((await former.event({ ...event, receipts })).body).to.include({ resolution: 'matched', duplicate: false })
      expect((await api.event(follows)).body, 'the installation of the former one').to.include(unmatched)
      expect((await api.event({ handoff })).body).to.include(unmatched)
      expect((await former.event({ receipts: own })).body).to.include(unmatched)
      // The same ID of an event of each owner: two events, each with its own answer.
      expect((await api.event({ ...event, receipts: own })).body).to.include({
        resolution: 'matched',
        duplicate: false,
      })
      await api.service.drain()
      for (const pod of [former, api])
        expect((await pod.event({ ...event, receipts: [] })).body).to.include({
          resolution: 'matched',
          duplicate: true,
        })
    } finally {
      await former.stop()
      await api.service.apply({ 'acme.yaml': ACME })
    }
  })

  it('keeps an install event that dispatch had not seen yet from the present owner', async () => {
    const clientId = '888000888.1795000000'
    const receipt = await api.activeReceipt({ identities: { ga4: { 'G-TEST000001': { client_id: clientId } } } })
    await api.service.drain()
    const event = { event_id: newId(), receipts: [receipt] }
    const [answer] = await Promise.all([
      api.event(event),
      api.service.apply(
        manifestsWith(
          [
            'metadata: { name: acme }\nspec: { displayName: Acme, plan: Standard }',
            'metadata: { name: bravo }\nspec: { displayName: Bravo, plan: Standard }',
          ],
          [
            'organizationRef: { name: acme }, displayName: Acme CLI',
            'organizationRef: { name: bravo }, displayName: CLI',
          ],
          ['organizationRef: { name: acme }', 'organizationRef: { name: bravo }'],
        ),
      ),
    ])
    expect(answer.status).to.equal(200)
    await api.service.drain()
    const rows = await api.service.facts.run('listDeliveries', {
      since_ms: 0,
      until_ms: api.service.nowMs() + 60_000,
      organization: 'bravo',
      limit: 10_000,
    })
    expect(rows.filter((row) => row.event_id === event.event_id && row.status === 'delivered')).to.deep.equal([])
    await api.service.apply({ 'acme.yaml': ACME })
  })
})
