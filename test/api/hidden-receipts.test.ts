/** A genuine receipt is stored as a hash in any field; a text that only looks like one stays as it came. */

import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { newestInstalls } from '../../bin/tools/lists/newest-installs.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { eventBody, logsOf, MANIFESTS, startApi, type Api } from './support/api.ts'

const SIBLING = `
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: sister-dev }
spec: { organizationRef: { name: acme }, displayName: sister.dev, primaryOrigin: https://sister.dev, providers: [ga4, google_ads] }
`
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

describe('receipts in places for other values', () => {
  let api: Api
  before(async () => {
    api = await startApi({ manifests: { ...MANIFESTS, 'sister.yaml': SIBLING } })
  })
  after(() => api.stop())

  const installOf = async (event: Record<string, unknown>) => {
    await api.service.drain('facts-writer')
    const period = { since_ms: 0, until_ms: api.service.nowMs() + 1_000, limit: 1_000, website: 'acme-dev' }
    const rows = await newestInstalls(api.service.facts, period)
    return rows.filter(({ arch }) => arch === event['arch'])
  }

  it('are stored as hashes as event_id and installation_id, echoed as sent, and still name one event', async () => {
    const own = await api.activeReceipt()
    const sister = await api.activeReceipt(
      { project: 'sister-dev', page_url: 'https://sister.dev/' },
      'https://sister.dev',
    )
    const event = eventBody({ event_id: own, installation_id: sister, arch: newId() })
    const first = await api.post('/v1/events', event)
    const again = await api.post('/v1/events', { ...event, platform: 'darwin', receipts: [own] })
    expect(first.body).to.include({ event_id: own, duplicate: false, resolution: 'unmatched' })
    expect(again.body).to.deep.equal({ ...first.body, duplicate: true })
    const rows = await installOf(event)
    expect(rows.length).to.equal(1)
    expect(rows[0]!.event_id).to.match(/^hmac_[0-9a-f]{32}_?$/)
    expect(rows[0]!.installation_id).to.match(/^hmac_[0-9a-f]{32}_?$/)
    const logs = await logsOf(api, ({ body }) => body.includes(event['arch'] as string), 2)
    for (const text of [JSON.stringify(rows), JSON.stringify(logs)]) {
      expect(text).to.not.include(own)
      expect(text).to.not.include(sister)
    }
  })

  it('never become facts of a visit, whichever website of the organisation they belong to', async () => {
    const sister = await api.activeReceipt(
      { project: 'sister-dev', page_url: 'https://sister.dev/' },
      'https://sister.dev',
    )
    const mark = newId()
    expect((await api.visit({ source: { utm: { source: sister, campaign: mark } } })).status).to.equal(200)
    await api.service.drain('facts-writer')
    const logs = await logsOf(api, ({ body }) => body.includes(mark))
    expect(JSON.stringify(logs)).to.not.include(sister)
  })

  it('are distinguished from IDs of the same length, which stay as they came', async () => {
    const event = eventBody({
      event_id: digest(newId()),
      installation_id: randomBytes(32).toString('base64url'),
      arch: newId(),
    })
    expect((await api.post('/v1/events', event)).body).to.include({ event_id: event['event_id'] })
    const [row] = await installOf(event)
    expect(row).to.include({ event_id: event['event_id'], installation_id: event['installation_id'] })
    const [log] = await logsOf(api, ({ body }) => body.includes(event['arch'] as string))
    expect(log).to.include({ body: JSON.stringify(event), is_redacted: false })
  })

  it('are hashed in their own fields even if they prove nothing', async () => {
    const made = [digest(newId()), digest(newId())] as const
    const event = eventBody({ receipts: [made[0]], arch: newId() })
    await api.post('/v1/events', event)
    await api.visit({ previous_receipt: made[1], other: event['arch'] })
    const logs = await logsOf(api, ({ body }) => body.includes(event['arch'] as string), 2)
    for (const text of made) expect(JSON.stringify(logs)).to.not.include(text)
  })

  it('do not split lists of machine facts', async () => {
    const lists = { language: ['de', 'en'], timezone: ['Europe/Berlin'], default_browser: 'firefox' }
    const event = eventBody({ ...lists, arch: ['x86_64', `arm64-${newId()}`] })
    expect((await api.post('/v1/events', event)).status).to.equal(200)
    const [row] = await installOf({ arch: JSON.stringify(event['arch']) })
    expect(row).to.deep.include({ language: '["de","en"]', timezone: 'Europe/Berlin', default_browser: 'firefox' })
    expect(JSON.parse(row!.arch)).to.deep.equal(event['arch'])
  })
})
