/** Programs read what the service on one machine collected, at the address of collection and beside its windows. */

import { expect } from 'chai'

import { sha256Hex } from '../../common/digest.ts'
import { API_KEY_BYTES, apiKeyText, hashOfKey } from '../../domain/people/api-key.ts'
import { RATE_RULES } from '../../domain/limits.ts'
import { eventBody, post } from '../../fixtures/service/requests.ts'
import { MANIFESTS, startTestService, type TestService } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'

const KEY = apiKeyText(new Uint8Array(API_KEY_BYTES).fill(3))
const EXPIRES_AT = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}Z`
const MANIFEST = `
apiVersion: whence.dev/v1alpha1
kind: ApiKey
metadata: { name: reader }
spec: { organizationRef: { name: acme }, scopes: [figures, installs], expiresAt: '${EXPIRES_AT}', keyHash: '${hashOfKey(KEY, sha256Hex)}' }
`

describe('programs that read from one machine', function () {
  this.timeout(60_000)
  let service: TestService
  before(async () => {
    service = await startTestService({ manifests: { ...MANIFESTS, 'key.yaml': MANIFEST } })
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
})
