/** In the program for one machine, an install that the service answers is sent to a webhook of its organisation. */

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { eventBody, MANIFESTS, startApi, type Api } from './support/api.ts'

const WEBHOOK = `
apiVersion: v1
kind: Secret
metadata: { name: acme-events }
stringData: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
---
apiVersion: whence.dev/v1alpha1
kind: Webhook
metadata: { name: acme-events }
spec:
  organizationRef: { name: acme }
  url: https://hooks.nowhere.example/in
  secretRef: { name: acme-events, key: secret }
  events: [install.matched]
`

describe('a webhook of the program for one machine', () => {
  let api: Api
  before(async () => {
    api = await startApi({ manifests: { ...MANIFESTS, 'webhook.yaml': WEBHOOK } })
  })
  after(() => api.stop())

  it('is called for a matched install, and only its organisation can see the result', async () => {
    const receipt = await api.activeReceipt()
    const event = eventBody({ receipts: [receipt] })
    const { body } = await api.post('/v1/events', event)
    expect(body['resolution']).to.equal('matched')
    const of = (organization: string) =>
      api.service.facts.run('webhookAttempts', { organization, webhook: 'default/acme-events', limit: 10 })
    await until(async () => (await of('acme')).length > 0)
    const [attempt] = await of('acme')
    // There is no such host: nothing leaves this machine.
    expect(attempt).to.deep.include({ type: 'install.matched', website: 'acme-dev', number: 1, status: 0 })
    expect(attempt?.state).to.equal('retrying')
    expect(await of('other')).to.deep.equal([])
    const [entry] = await api.service.eventLog.read('webhooks', 0, 10)
    expect(entry?.value).to.include(String(event['event_id']))
    expect(api.service.logLines.join('\n')).not.to.include('whsec_')
  })
})
