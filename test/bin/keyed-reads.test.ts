/** Programs, and whoever has a link, read what the service on one machine collected, at the address of collection and beside its windows. */

import { expect } from 'chai'

import { sha256Hex } from '../../common/digest.ts'
import { apiKeyText } from '../../domain/people/api-key.ts'
import { hashOfPass, PASS_BYTES } from '../../domain/people/pass.ts'
import { shareToken } from '../../domain/people/share-link.ts'
import { RATE_RULES } from '../../domain/limits.ts'
import { eventBody, post } from '../../fixtures/service/requests.ts'
import { MANIFESTS, startTestService, type TestService } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'

const KEY = apiKeyText(new Uint8Array(PASS_BYTES).fill(3))
const EXPIRES_AT = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`
const MANIFEST = `
apiVersion: whence.dev/v1alpha1
kind: ApiKey
metadata: { name: reader }
spec: { organizationRef: { name: acme }, scopes: [figures, installs], expiresAt: '${EXPIRES_AT}', keyHash: '${hashOfPass(KEY, sha256Hex)}' }
`

const TOKEN = shareToken(new Uint8Array(PASS_BYTES).fill(4))
const SHARED = `
apiVersion: whence.dev/v1alpha1
kind: ShareLink
metadata: { name: board }
spec: { websiteRef: { name: acme-dev }, period: Today, expiresAt: '${EXPIRES_AT}', tokenHash: '${hashOfPass(TOKEN, sha256Hex)}' }
`

describe('programs that read from one machine', function () {
  this.timeout(60_000)
  let service: TestService
  before(async () => {
    service = await startTestService({ manifests: { ...MANIFESTS, 'key.yaml': MANIFEST, 'link.yaml': SHARED } })
  })
  after(() => service?.stop())

  const read = (path: string, method = 'GET') =>
    fetch(`${service.url}${path}`, { method, headers: { Authorization: `Bearer ${KEY}` } })

  it('get what was reported, and use up no window of collection', async () => {
    expect((await post(`${service.url}/v1/events`, eventBody())).status).to.equal(200)
    await service.drain()
    await until(async () => {
      const { total } = (await (await read('/v1/figures')).json()) as { total: { installs: number } }
      return total.installs === 1
    })
    const { installs } = (await (await read('/v1/installs')).json()) as { installs: readonly object[] }
    expect(installs).to.have.length(1)
    for (let count = 0; count <= RATE_RULES.collection.limit; count += 1)
      expect((await read('/v1/figures?from=x')).status).to.equal(400)
    expect((await post(`${service.url}/v1/events`, eventBody())).status).to.equal(200)
  })

  it('find nothing beside these two addresses, and change nothing there', async () => {
    for (const path of ['/v1/figures/', '/v1/figures/x', '/v1/figure', '/V1/figures'])
      expect((await read(path)).status, path).to.equal(404)
    for (const method of ['POST', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await read('/v1/installs', method)
      expect([status, headers.get('allow')], method).to.deep.equal([405, 'GET, HEAD'])
    }
    const head = await read('/v1/figures', 'HEAD')
    expect([head.status, await head.text()]).to.deep.equal([200, ''])
  })

  it('leave the address of a link to whoever has it, whose requests use up no window of collection', async () => {
    const share = (path = '') => fetch(`${service.url}/share/${TOKEN}${path}`, { headers: { Accept: 'text/html' } })
    const page = await share()
    expect([page.status, page.headers.get('x-robots-tag')]).to.deep.equal([200, 'noindex, nofollow'])
    expect(await page.text())
      .to.include('<meta name="robots" content="noindex, nofollow">')
      .and.not.include(TOKEN)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'")
    const { title, figures } = (await (await share('/figures')).json()) as { title: string; figures: { total: object } }
    expect([title, Object.keys(figures.total)]).to.deep.equal(['board', ['installs', 'visits', 'ripe']])
    const statuses = new Set<number>()
    for (let count = 0; count <= RATE_RULES.collection.limit; count += 1) statuses.add((await share('/figures')).status)
    expect(statuses).to.include(429)
    expect((await post(`${service.url}/v1/events`, eventBody())).status).to.equal(200)
    for (const path of [`/share/${TOKEN}/x`, '/share/', `/Share/${TOKEN}`, `/share/${TOKEN}//figures`])
      expect((await fetch(`${service.url}${path}`)).status, path).to.equal(404)
  })
})
