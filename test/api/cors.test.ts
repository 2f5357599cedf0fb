/** Which pages may read answers: those of registered origins, which are echoed, never with credentials. */

import { expect } from 'chai'
import { TEST_ORIGIN, visitBody } from './support/api.ts'
import { startLoneApi, type LoneApi } from './support/lone-api.ts'

const POSTS = ['/v1/visits', '/v1/visits/activate', '/v1/handoffs', '/v1/events']
const GETS = [
  '/v1/projects/acme-dev/browser-config',
  '/v1/projects/acme-dev/origins',
  '/v1/projects/acme-dev/report.sh',
  '/v1/projects/acme-dev/paths/cli/report.sh',
]
const REGISTERED = [TEST_ORIGIN, 'https://docs.acme.dev', 'http://localhost:8081', 'https://other.dev']
const FOREIGN = [
  'https://evil.example',
  'https://acme.dev.evil.example',
  'https://evilacme.dev',
  'http://acme.dev',
  'https://acme.dev:8443',
  'https://sub.acme.dev',
  'null',
  'file://',
  '*',
  'https://acme.dev/path',
  'https://acme.dev, https://evil.example',
  'chrome-extension://abc',
  'https://localhost:8081',
]

describe('CORS', () => {
  let api: LoneApi
  before(async () => {
    api = await startLoneApi()
    await api.service.apply({
      'other.yaml': `
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: other-dev }
spec: { organizationRef: { name: acme }, displayName: other, primaryOrigin: 'https://other.dev' }
`,
    })
  })
  after(() => api.stop())

  const preflight = (path: string, origin: string | null, method = 'POST') =>
    api.get(path, {
      method: 'OPTIONS',
      origin,
      headers: { 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'content-type' },
    })

  describe('a preflight', () => {
    it('is answered for every origin that any website has registered, for two hours', async () => {
      for (const path of POSTS) {
        for (const origin of REGISTERED) {
          const { status, headers, text } = await preflight(path, origin)
          expect(status).to.equal(204)
          expect(text).to.equal('')
          expect(headers.get('access-control-allow-origin')).to.equal(origin)
          expect(headers.get('access-control-allow-methods')).to.equal('POST')
          expect(headers.get('access-control-allow-headers')).to.equal('Content-Type')
          expect(headers.get('access-control-max-age')).to.equal('7200')
        }
      }
    })

    it('allows GET and HEAD if these are the methods', async () => {
      for (const path of GETS) {
        const { headers } = await preflight(path, TEST_ORIGIN, 'GET')
        expect(headers.get('access-control-allow-methods')).to.equal('GET, HEAD')
      }
    })

    it('allows nothing to any other origin, nor without one', async () => {
      for (const path of [...POSTS, ...GETS]) {
        for (const origin of [...FOREIGN, null]) {
          const { status, headers } = await preflight(path, origin)
          expect(status, `${path} ${origin}`).to.equal(204)
          for (const name of ['origin', 'methods', 'headers']) {
            expect(headers.get(`access-control-allow-${name}`), `${path} ${origin}`).to.equal(null)
          }
        }
      }
    })

    it('of an address that does not exist is 404', async () => {
      expect((await preflight('/v1/nothing', TEST_ORIGIN)).status).to.equal(404)
    })
  })

  describe('an answer', () => {
    it('echoes a registered origin and varies with it, even in a refusal', async () => {
      for (const origin of REGISTERED.slice(0, 3)) {
        const sound = await api.post('/v1/visits', visitBody({ page_url: `${origin}/install` }), { origin })
        const refused = await api.post('/v1/visits', '{', { origin })
        for (const { headers } of [sound, refused]) {
          expect(headers.get('access-control-allow-origin')).to.equal(origin)
          expect(headers.get('vary')).to.equal('Origin')
        }
      }
    })

    it('lets an origin of another website read the refusal, and refuses', async () => {
      const reply = await api.visit({ page_url: 'https://other.dev/install' }, { origin: 'https://other.dev' })
      expect(reply.body).to.deep.equal({ error: 'origin_not_allowed' })
      expect(reply.headers.get('access-control-allow-origin')).to.equal('https://other.dev')
    })

    it('varies with the origin even without one and with a foreign one, so that no cache mixes them up', async () => {
      for (const origin of [null, ...FOREIGN]) {
        const { headers } = await api.visit({}, { origin })
        expect(headers.get('vary'), String(origin)).to.equal('Origin')
        expect(headers.get('access-control-allow-origin'), String(origin)).to.equal(null)
      }
    })

    it('never allows credentials', async () => {
      const replies = [
        await api.visit(),
        await preflight('/v1/visits', TEST_ORIGIN),
        await api.get('/browser.js', { origin: TEST_ORIGIN }),
        await api.get(GETS[0]!, { origin: TEST_ORIGIN, headers: { Cookie: 'session=1' } }),
      ]
      for (const { headers } of replies) {
        expect(headers.get('access-control-allow-credentials')).to.equal(null)
        expect(headers.get('set-cookie')).to.equal(null)
      }
    })
  })

  describe('a change of the catalog', () => {
    it('takes effect at once for an origin that is no longer registered', async () => {
      await api.service.apply({ 'other.yaml': '' })
      expect((await preflight('/v1/visits', 'https://other.dev')).headers.get('access-control-allow-origin')).to.equal(
        null,
      )
    })
  })
})
