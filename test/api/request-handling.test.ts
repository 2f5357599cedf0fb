/** What every collection endpoint refuses in the same way, and in which order. One `describe` for each status. */

import { expect } from 'chai'
import { LIMITS } from '../../domain/limits.ts'
import type { Reply } from '../../fixtures/service/requests.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { eventBody, TEST_ORIGIN, visitBody, type CallOptions } from './support/api.ts'
import { startLoneApi, type LoneApi } from './support/lone-api.ts'

interface Endpoint {
  readonly path: string
  /** A body that is accepted. */
  readonly body: (api: LoneApi) => Promise<Record<string, unknown>>
  readonly required: readonly string[]
}

const ENDPOINTS: readonly Endpoint[] = [
  { path: '/v1/visits', body: async () => visitBody(), required: ['project', 'url_id', 'page_url'] },
  {
    path: '/v1/visits/activate',
    body: async (api) => ({ project: 'acme-dev', receipt: (await api.visit()).body['marker'].receipt }),
    required: ['project', 'receipt'],
  },
  {
    path: '/v1/handoffs',
    body: async (api) => ({ project: 'acme-dev', receipt: (await api.visit()).body['marker'].receipt }),
    required: ['project'],
  },
  {
    path: '/v1/handoffs',
    body: async () => visitBody(),
    required: ['project', 'url_id', 'page_url'],
  },
  {
    path: '/v1/events',
    body: async () => eventBody(),
    required: ['project', 'event_id', 'installation_id', 'event_type'],
  },
]

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

/** Ways to make a valid body not be one JSON object. */
const BROKEN: readonly (readonly [string, (text: string) => string | Uint8Array])[] = [
  ['an empty body', () => ''],
  ['white space', () => '  \n'],
  ['a cut object', (text) => text.slice(0, -1)],
  ['an array', (text) => `[${text}]`],
  ['a string', (text) => JSON.stringify(text)],
  ['a number', () => '1'],
  ['null', () => 'null'],
  ['two objects', (text) => text + text],
  ['form data', () => 'project=acme-dev'],
  ['a byte-order mark', (text) => `\uFEFF${text}`],
  ['a byte that is not UTF-8', (text) => new Uint8Array([...utf8(text.slice(0, -1)), 0xff, ...utf8('}')])],
  ['UTF-16', (text) => new Uint8Array(Buffer.from(text, 'utf16le'))],
  [
    'an overlong encoding',
    (text) => new Uint8Array([...utf8(`${text.slice(0, -1)},"x":"`), 0xc0, 0xaf, ...utf8('"}')]),
  ],
  [
    'a surrogate in UTF-8',
    (text) => new Uint8Array([...utf8(`${text.slice(0, -1)},"x":"`), 0xed, 0xa0, 0x80, ...utf8('"}')]),
  ],
  ['a duplicate key', (text) => `${text.slice(0, -1)},"project":"acme-dev"}`],
  ['a duplicate key behind an escape', (text) => `${text.slice(0, -1)},"pr\\u006fject":"acme-dev"}`],
  ['a duplicate key further in', (text) => `${text.slice(0, -1)},"x":{"a":{"b":1,"b":2}}}`],
  ['__proto__', (text) => `${text.slice(0, -1)},"__proto__":{}}`],
  ['constructor further in', (text) => `${text.slice(0, -1)},"x":[{"constructor":1}]}`],
  ['prototype behind an escape', (text) => `${text.slice(0, -1)},"x":{"\\u0070rototype":1}}`],
  ['nesting of nine', (text) => `${text.slice(0, -1)},"x":${nested(8)}}`],
  ['nesting of four thousand', (text) => `${text.slice(0, -1)},"x":${nested(4_000)}}`],
  ['513 members', (text) => `${text.slice(0, -1)},"x":[${'1,'.repeat(512)}1]}`],
  ['a control character inside a string', (text) => `${text.slice(0, -1)},"x":"\u0001"}`],
  ['NaN', (text) => `${text.slice(0, -1)},"x":NaN}`],
  ['a comment', (text) => `/**/${text}`],
]

const TYPES_REFUSED = [
  undefined,
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json-patch+json',
  'application/ld+json',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'application/json; charset=utf-8; charset=utf-16',
  'application/json; boundary=x',
  'application/json; charset',
  'text/plain; application/json',
]
const TYPES_TAKEN = [
  'application/json',
  'APPLICATION/JSON',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json ; charset="utf-8"',
  'application/json;',
]
const ENCODINGS_REFUSED = ['gzip', 'br', 'deflate', 'zstd', 'x-gzip', 'identity, gzip', 'GZIP', 'aws-chunked']

describe('every collection endpoint that takes a body', () => {
  let api: LoneApi
  before(async () => {
    api = await startLoneApi()
  })
  after(() => api.stop())

  for (const { path, body, required } of ENDPOINTS) {
    const form = required.includes('url_id') && path === '/v1/handoffs' ? `${path}, with a visit of its own` : path
    describe(form, () => {
      let text: string
      let sound: Record<string, unknown>
      before(async () => {
        sound = await body(api)
        text = JSON.stringify(sound)
      })
      const post = (sent: unknown, options?: CallOptions): Promise<Reply> => api.post(path, sent, options)
      const withType = (type: string | undefined): Promise<Reply> =>
        type === undefined
          ? api.post(path, utf8(text), { headers: { 'Content-Type': '' } })
          : api.post(path, text, { headers: { 'Content-Type': type } })

      describe('200', () => {
        it('accepts a valid body with every spelling of its content type', async () => {
          for (const type of TYPES_TAKEN) expect((await withType(type)).status, type).to.equal(200)
        })

        it('accepts a body of exactly 16 KB, unknown fields, eight levels and 512 members', async () => {
          const padding = LIMITS.bodyBytes - Buffer.byteLength(text) - ',"x":""'.length
          const bodies = [
            `${text.slice(0, -1)},"x":"${'a'.repeat(padding)}"}`,
            `${text.slice(0, -1)},"x":${nested(7)}}`,
            JSON.stringify({ ...sound, unknown: { deep: [1, 'two', { three: true }] }, gpc: null }),
          ]
          for (const sent of bodies) {
            const reply = await post(sent)
            expect(reply.status, reply.text).to.equal(200)
          }
        })

        it('accepts null for an absent optional field', async () => {
          const { status, text: answer } = await post({
            ...sound,
            referrer: null,
            source: null,
            handoff: null,
            platform: null,
          })
          expect(status, answer).to.equal(200)
        })

        it('accepts Content-Encoding: identity', async () => {
          expect((await post(text, { headers: { 'Content-Encoding': 'identity' } })).status).to.equal(200)
        })
      })

      describe('400', () => {
        for (const [name, breakIt] of BROKEN) {
          it(`answers invalid_json to ${name}`, async () => {
            const reply = await post(breakIt(text))
            expect(reply.status).to.equal(400)
            expect(reply.body).to.deep.equal({ error: 'invalid_json' })
          })
        }

        for (const field of required) {
          for (const [how, value] of [
            ['missing', undefined],
            ['null', null],
            ['a number', 7],
            ['an object', {}],
            ['a list', ['x']],
          ] as const) {
            it(`answers invalid_field with its pointer to a ${field} that is ${how}`, async () => {
              const reply = await post({ ...sound, [field]: value })
              expect(reply.status).to.equal(400)
              expect(reply.body).to.deep.include({ error: 'invalid_field', field: `/${field}` })
              expect(reply.body['message']).to.be.a('string')
            })
          }
        }
      })

      describe('403', () => {
        it('answers native_endpoint or origin_not_allowed to every foreign origin', async () => {
          for (const origin of [
            'https://evil.example',
            'null',
            'https://acme.dev.evil.example',
            'http://acme.dev',
            'https://acme.dev:444',
            'https://sub.acme.dev',
            'acme.dev',
            '*',
            '',
          ]) {
            const reply = await post(text, { headers: { Origin: origin }, origin: null })
            expect(reply.status, origin).to.equal(403)
            expect(reply.body['error'], origin).to.equal(
              path === '/v1/events' ? 'native_endpoint' : 'origin_not_allowed',
            )
            expect(reply.headers.get('access-control-allow-origin'), origin).to.equal(null)
          }
        })
      })

      describe('404', () => {
        it('answers website_not_found to any ID that no website has', async () => {
          for (const project of [
            'nobody',
            '',
            'acme-dev ',
            'ACME-DEV',
            '__proto__',
            'a'.repeat(5_000),
            '\u0000',
            '\ud800',
          ]) {
            const reply = await post({ ...sound, project })
            expect(reply.status, project.slice(0, 20)).to.equal(404)
            expect(reply.body).to.deep.equal({ error: 'website_not_found' })
          }
        })
      })

      describe('405', () => {
        it('names the allowed methods', async () => {
          for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
            const reply = await api.get(path, { method })
            expect(reply.status, method).to.equal(405)
            expect(reply.headers.get('allow')).to.equal('POST, OPTIONS')
            if (method !== 'HEAD') expect(reply.body).to.deep.equal({ error: 'method_not_allowed' })
          }
        })
      })

      describe('413', () => {
        it('answers body_too_large to one byte more than 16 KB and closes the connection', async () => {
          const padding = LIMITS.bodyBytes + 1 - Buffer.byteLength(text) - ',"x":""'.length
          const reply = await post(`${text.slice(0, -1)},"x":"${'a'.repeat(padding)}"}`)
          expect(reply.status).to.equal(413)
          expect(reply.body).to.deep.equal({ error: 'body_too_large' })
          expect(reply.headers.get('connection')).to.equal('close')
        })
      })

      describe('415', () => {
        for (const type of TYPES_REFUSED) {
          it(`answers unsupported_media_type to ${type === undefined ? 'no content type' : JSON.stringify(type)}`, async () => {
            const reply = await withType(type)
            expect(reply.status).to.equal(415)
            expect(reply.body).to.deep.equal({ error: 'unsupported_media_type' })
          })
        }

        it('answers unsupported_encoding to anything that would have to be decompressed', async () => {
          for (const encoding of ENCODINGS_REFUSED) {
            const reply = await post(text, { headers: { 'Content-Encoding': encoding } })
            expect(reply.status, encoding).to.equal(415)
            expect(reply.body).to.deep.equal({ error: 'unsupported_encoding' })
          }
        })
      })

      describe('the order of checks', () => {
        const tooLarge = (): string => `{"project":"${'x'.repeat(LIMITS.bodyBytes)}`
        const isNative = path === '/v1/events'
        const foreign = { origin: isNative ? 'https://acme.dev' : 'https://evil.example' }
        /** The native endpoint refuses an Origin before it reads the body. */
        const unless = (code: string): string => (isNative ? 'native_endpoint' : code)
        const rows: readonly (readonly [string, string, () => Promise<Reply>])[] = [
          [
            'method before media type',
            'method_not_allowed',
            () => post(tooLarge(), { method: 'PUT', headers: { 'Content-Type': 'text/plain' } }),
          ],
          [
            'media type before encoding',
            'unsupported_media_type',
            () => post(tooLarge(), { headers: { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' } }),
          ],
          [
            'encoding before size',
            'unsupported_encoding',
            () => post(tooLarge(), { headers: { 'Content-Encoding': 'gzip' } }),
          ],
          ['size before JSON, without an origin', 'body_too_large', () => post(tooLarge(), { origin: null })],
          [
            'JSON before fields, without an origin',
            'invalid_json',
            () => post('{"project":1,"project":2}', { origin: null }),
          ],
          ['size before JSON', unless('body_too_large'), () => post(tooLarge(), foreign)],
          ['JSON before fields', unless('invalid_json'), () => post('{"project":1,"project":2}', foreign)],
          [
            'fields before the website',
            unless('invalid_field'),
            () =>
              post(
                {
                  ...sound,
                  project: 'nobody',
                  [required.at(-1) ?? '']: 5,
                  ...(required.length === 1 ? { receipt: 5 } : {}),
                },
                foreign,
              ),
          ],
          [
            'the website before the origin',
            unless('website_not_found'),
            () => post({ ...sound, project: 'nobody' }, foreign),
          ],
          [
            'the origin before the state',
            unless('origin_not_allowed'),
            () => post({ ...sound, ...('receipt' in sound ? { receipt: 'forged' } : {}) }, foreign),
          ],
        ]
        for (const [name, code, ask] of rows) {
          it(`checks ${name}`, async () => {
            expect((await ask()).body['error']).to.equal(code)
          })
        }
      })
    })
  }

  describe('error answers', () => {
    it('never repeat a value from the request', async () => {
      const secret = `secret${newId()}`
      const replies = await Promise.all([
        api.visit({ project: secret }),
        api.visit({ gpc: secret }),
        api.visit({ url_id: secret }),
        api.visit({ identities: { custom: { [secret]: { [secret]: 'x'.repeat(300) } } } }),
        api.visit({ identities: { ga4: { [secret]: {} } } }),
        api.event({ event_type: secret, event_id: newId() }),
        api.event({ event_id: `${secret} ` }),
        api.post('/v1/visits', `{"${secret}":`),
        api.get(`/v1/projects/${secret}/report.sh`),
        api.get(`/${secret}`),
      ])
      for (const reply of replies) {
        expect(reply.status).to.be.within(400, 404)
        expect(reply.text).to.not.include(secret)
      }
    })

    it('are never stored by a cache', async () => {
      for (const reply of [
        await api.visit({}, { origin: null }),
        await api.get('/nothing'),
        await api.get('/v1/projects/x/report.sh'),
      ]) {
        expect(reply.headers.get('cache-control')).to.equal('no-store')
      }
    })
  })

  describe('addresses that do not exist', () => {
    it('are 404 not_found, also in another spelling of one that exists', async () => {
      for (const path of [
        '/v1',
        '/v1/',
        '/v2/visits',
        '/v1/visits/',
        '/v1//visits',
        '/V1/visits',
        '/v1/Visits',
        '/v1/visits/activate/x',
        '/HEALTH',
        '/health/',
        '/report.sh/',
        '/v1/projects',
        '/v1/projects/acme-dev',
        '/v1/%76isits',
        '/v1/visits%2Factivate',
        '/skills/whence-setup',
        '/skills/whence-setup/../../package.json',
        '/skills/whence-setup/%2e%2e/x',
        '/browser.js.map',
        '/metrics',
        '/api',
        '/.env',
      ]) {
        for (const method of ['GET', 'POST']) {
          const reply = await api.get(path, { method, isDocumented: false })
          expect(reply.status, `${method} ${path}`).to.equal(404)
          expect(reply.body).to.deep.equal({ error: 'not_found' })
        }
      }
    })

    it('are 400 invalid_request if the path itself is broken', async () => {
      const reply = await api.get('/v1/projects/%ff/report.sh')
      expect(reply.status).to.equal(400)
      expect(reply.body).to.deep.equal({ error: 'invalid_request' })
    })
  })

  it('serves browsers from the registered origins, however they are spelled', async () => {
    for (const origin of [
      TEST_ORIGIN,
      'https://docs.acme.dev',
      'http://localhost:8081',
      'HTTPS://ACME.DEV',
      'https://acme.dev:443',
    ]) {
      const page = `${new URL(origin).origin}/install`
      const reply = await api.visit({ page_url: page }, { origin })
      expect(reply.status, origin + reply.text).to.equal(200)
      expect(reply.headers.get('access-control-allow-origin')).to.equal(origin)
    }
  })
})
