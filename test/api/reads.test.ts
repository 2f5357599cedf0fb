/** The GET endpoints that name a website: what the SDK reads at start, and the hook. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { LIMITS } from '../../domain/limits.ts'
import { bareCatalog, startBareApi } from './support/bare-api.ts'
import { logsOf, startApi, TEST_ORIGIN, type Api } from './support/api.ts'

const CONFIG = '/v1/projects/acme-dev/browser-config'
const ORIGINS = '/v1/projects/acme-dev/origins'
const HOOKS = ['/v1/projects/acme-dev/report.sh', '/v1/projects/acme-dev/paths/cli/report.sh']

describe('GET endpoints of a website', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  describe('GET /v1/projects/{website}/browser-config', () => {
    it('returns the measurement IDs of the GA4 destinations and the providers', async () => {
      const { status, body } = await api.get(CONFIG)
      expect(status).to.equal(200)
      expect(body).to.deep.equal({ measurementIds: ['G-TEST000001'], providers: ['ga4', 'google_ads', 'meta'] })
    })

    it('names as many measurement IDs as a visit has room for', async () => {
      const catalog = bareCatalog()
      const measurementIds = Array.from({ length: LIMITS.measurementIdsPerVisit + 1 }, (_, index) => `G-ID${index}`)
      const websites = new Map([...catalog.websites].map(([id, website]) => [id, { ...website, measurementIds }]))
      const bare = await startBareApi({ ...catalog, websites })
      try {
        const reply = await fetch(`http://127.0.0.1:${bare.port}${CONFIG}`)
        expect(await reply.json()).to.deep.include({ measurementIds: measurementIds.slice(0, -1) })
      } finally {
        await bare.close()
      }
    })

    it('answers without an origin, and echoes a registered one', async () => {
      const bare = await api.get(CONFIG)
      expect(bare.headers.get('access-control-allow-origin')).to.equal(null)
      expect(bare.headers.get('vary')).to.equal('Origin')
      const known = await api.get(CONFIG, { origin: TEST_ORIGIN })
      expect(known.headers.get('access-control-allow-origin')).to.equal(TEST_ORIGIN)
      const foreign = await api.get(CONFIG, { origin: 'https://evil.example' })
      expect(foreign.status).to.equal(200)
      expect(foreign.headers.get('access-control-allow-origin')).to.equal(null)
    })

    it('may be cached for a minute and is not sent again if it has not changed', async () => {
      const first = await api.get(CONFIG)
      expect(first.headers.get('cache-control')).to.equal('public, max-age=60')
      const etag = first.headers.get('etag')!
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const reply = await api.get(CONFIG, { headers: { 'If-None-Match': known } })
        expect(reply.status, known).to.equal(304)
        expect(reply.text).to.equal('')
        expect(reply.headers.get('etag')).to.equal(etag)
      }
      expect((await api.get(CONFIG, { headers: { 'If-None-Match': '"other"' } })).status).to.equal(200)
    })

    it('answers HEAD with the same headers and no body', async () => {
      const head = await api.get(CONFIG, { method: 'HEAD' })
      const get = await api.get(CONFIG)
      expect(head.status).to.equal(200)
      expect(head.text).to.equal('')
      expect(head.headers.get('content-length')).to.equal(String(get.text.length))
      expect(head.headers.get('etag')).to.equal(get.headers.get('etag'))
    })

    it('is 404 website_not_found for any other ID, readable for registered origins', async () => {
      for (const id of [
        'nobody',
        'ACME-DEV',
        '__proto__',
        '%00',
        '%20',
        'acme-dev%2f',
        encodeURIComponent('🚀'),
        'a'.repeat(2_000),
      ]) {
        const reply = await api.get(`/v1/projects/${id}/browser-config`, { origin: TEST_ORIGIN })
        expect(reply.status, id.slice(0, 20)).to.equal(404)
        expect(reply.body).to.deep.equal({ error: 'website_not_found' })
        expect(reply.headers.get('access-control-allow-origin')).to.equal(TEST_ORIGIN)
      }
    })

    it('leaves a record in Logs', async () => {
      await api.get(CONFIG, { headers: { 'User-Agent': 'reads-config' } })
      const [row] = await logsOf(api, ({ user_agent }) => user_agent === 'reads-config')
      expect(row).to.deep.include({ website: 'acme-dev', method: 'GET', path: CONFIG, status: 200, code: '', body: '' })
    })
  })

  describe('GET /v1/projects/{website}/origins', () => {
    it('returns all origins of the website, the hosts that are no source, and whether landings are carried', async () => {
      const { status, body } = await api.get(ORIGINS, { origin: TEST_ORIGIN })
      expect(status).to.equal(200)
      expect(body).to.deep.equal({
        origins: [TEST_ORIGIN, 'https://docs.acme.dev', 'http://localhost:8081'],
        ignoredReferrers: [],
        crossOrigin: 'Carry',
      })
    })

    it('may be cached for five minutes and is not sent again if it has not changed', async () => {
      const first = await api.get(ORIGINS)
      expect(first.headers.get('cache-control')).to.equal('public, max-age=300')
      expect(first.headers.get('vary')).to.equal('Origin')
      const reply = await api.get(ORIGINS, { headers: { 'If-None-Match': first.headers.get('etag')! } })
      expect(reply.status).to.equal(304)
    })

    it('is 404 website_not_found for any other ID', async () => {
      expect((await api.get('/v1/projects/nobody/origins')).body).to.deep.equal({ error: 'website_not_found' })
    })
  })

  describe('GET .../report.sh', () => {
    it('serves a script for the website that ends with the body of /report.sh, byte for byte', async () => {
      const source = (await api.get('/report.sh')).text
      for (const path of HOOKS) {
        const { status, text, headers } = await api.get(path)
        expect(status).to.equal(200)
        expect(headers.get('content-type')).to.equal('text/x-shellscript; charset=utf-8')
        expect(text.endsWith(source)).to.equal(true)
        const block = text.slice(0, -source.length)
        expect(block).to.include("whence_website='acme-dev'")
        expect(block).to.include(`whence_base_url='${api.service.url}'`)
        expect(block).to.include(`whence_origins='${TEST_ORIGIN} https://docs.acme.dev http://localhost:8081'`)
        expect(block).to.include(`whence_path='${path.includes('paths') ? 'cli' : ''}'`)
        const check = spawnSync('sh', ['-n'], { input: text })
        expect(String(check.stderr)).to.equal('')
      }
    })

    it('is the same for every client and has an ETag', async () => {
      for (const path of HOOKS) {
        const one = await api.get(path, { headers: { 'User-Agent': 'curl/8' } })
        const other = await api.get(path, { origin: TEST_ORIGIN, headers: { 'Accept-Language': 'de' } })
        expect(other.text).to.equal(one.text)
        expect(other.headers.get('etag')).to.equal(one.headers.get('etag'))
        const known = await api.get(path, { headers: { 'If-None-Match': one.headers.get('etag')! } })
        expect(known.status).to.equal(304)
        expect((await api.get(path, { method: 'HEAD' })).headers.get('content-length')).to.equal(
          String(Buffer.byteLength(one.text)),
        )
      }
    })

    it('is 404 install_path_not_found for a path that the organisation does not have', async () => {
      for (const id of ['nothing', 'CLI', '__proto__', '%27%3Breboot%3B%27', 'cli%20']) {
        const reply = await api.get(`/v1/projects/acme-dev/paths/${id}/report.sh`)
        expect(reply.status).to.equal(404)
        expect(reply.body).to.deep.equal({ error: 'install_path_not_found' })
      }
    })

    it('is 404 website_not_found before the path is checked', async () => {
      for (const path of ['/v1/projects/nobody/report.sh', '/v1/projects/nobody/paths/cli/report.sh']) {
        expect((await api.get(path)).body).to.deep.equal({ error: 'website_not_found' })
      }
    })
  })

  it('are 405 for other methods', async () => {
    for (const path of [CONFIG, ORIGINS, ...HOOKS]) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const reply = await api.get(path, { method })
        expect(reply.status).to.equal(405)
        expect(reply.body).to.deep.equal({ error: 'method_not_allowed' })
        expect(reply.headers.get('allow')).to.equal('GET, HEAD, OPTIONS')
      }
    }
  })
})

describe('GET .../report.sh after a change of the website', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  it('contains the change at once, under another ETag', async () => {
    const before = await api.get(HOOKS[0]!)
    await api.service.apply({
      'paths.yaml': '',
      'acme.yaml': (await import('../../fixtures/service/service.ts')).MANIFESTS['acme.yaml']!.replace(
        'providers:',
        'hook: { scan: Disabled }\n  providers:',
      ),
    })
    const after = await api.get(HOOKS[0]!)
    expect(after.text).to.include("whence_scan='Disabled'")
    expect(after.headers.get('etag')).to.not.equal(before.headers.get('etag'))
    expect(createHash('sha256').update(after.text).digest('base64url')).to.equal(
      after.headers.get('etag')!.replaceAll('"', ''),
    )
  })
})
