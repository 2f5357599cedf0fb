/** Logs: one record of every request, with its exact body but without addresses and receipts. */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { newId } from '../../fixtures/service/requests.ts'
import { decodeRecord, type LogRecord, type RequestLog, type Topic } from '../../domain/records.ts'
import {
  eventBody,
  freshAddress,
  logsOf,
  manifestsWith,
  startApi,
  visitBody,
  type Api,
  type CallOptions,
} from './support/api.ts'
import { claimsOf, KEYS } from './support/keys.ts'
import { until } from '../../fixtures/until.ts'

const escapeAll = (text: string): string =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percentAll = (text: string): string => [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')

describe('Logs', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  /** A name by which the test finds its rows again. */
  const asAgent = (): { agent: string; options: CallOptions } => {
    const agent = `agent/${newId()}`
    return { agent, options: { headers: { 'User-Agent': agent } } }
  }
  const rowsOf = (agent: string, count = 1) => logsOf(api, ({ user_agent }) => user_agent === agent, count)

  it('hold one record for each request, whatever was answered', async () => {
    const { agent, options } = asAgent()
    const { receipt } = (await api.visit({}, options)).body['marker']
    await api.activate(receipt, {}, options)
    await api.handoff({ receipt }, options)
    await api.handoff(visitBody(), options)
    const event = eventBody()
    await api.post('/v1/events', event, options)
    await api.post('/v1/events', event, options)
    await api.post('/v1/visits', '{', options)
    await api.post('/v1/visits', visitBody({ project: 'nobody' }), options)
    await api.visit({}, { ...options, origin: 'https://evil.example' })
    await api.event({}, { ...options, origin: 'https://acme.dev' })
    await api.post('/v1/events', 'x'.repeat(16_385), options)
    await api.post('/v1/events', 'x', { headers: { ...options.headers, 'Content-Type': 'text/plain' } })
    await api.get('/v1/visits', options)
    await api.get('/v1/projects/acme-dev/browser-config', options)
    await api.get('/v1/projects/nobody/report.sh', options)
    await api.get('/v1/projects/acme-dev/paths/none/report.sh?query=1', options)
    await api.service.drain('facts-writer')
    const rows = await rowsOf(agent, 16)
    expect(
      rows.map(({ method, path, status, code, kind }) => `${method} ${path} ${status} ${code} ${kind}`),
    ).to.have.members([
      'POST /v1/visits 200  visit',
      'POST /v1/visits/activate 200  activation',
      'POST /v1/handoffs 200  handoff',
      'POST /v1/handoffs 200  handoff',
      'POST /v1/events 200  install',
      'POST /v1/events 200  request',
      'POST /v1/visits 400 invalid_json request',
      'POST /v1/visits 404 website_not_found request',
      'POST /v1/visits 403 origin_not_allowed request',
      'POST /v1/events 403 native_endpoint request',
      'POST /v1/events 413 body_too_large request',
      'POST /v1/events 415 unsupported_media_type request',
      'GET /v1/visits 405 method_not_allowed request',
      'GET /v1/projects/acme-dev/browser-config 200  request',
      'GET /v1/projects/nobody/report.sh 404 website_not_found request',
      'GET /v1/projects/acme-dev/paths/none/report.sh 404 install_path_not_found request',
    ])
    expect(new Set(rows.map(({ id }) => id)).size).to.equal(16)
  })

  it('name the website and the origin, if known', async () => {
    const { agent, options } = asAgent()
    await api.visit({}, { ...options, origin: 'https://evil.example' })
    await api.post('/v1/visits', '[]', options)
    const rows = await rowsOf(agent, 2)
    const [foreign] = rows.filter(({ code }) => code === 'origin_not_allowed')
    expect(foreign).to.deep.include({ website: 'acme-dev', organization: 'acme', origin: 'https://evil.example' })
    const [broken] = rows.filter(({ code }) => code === 'invalid_json')
    expect(broken).to.deep.include({ website: 'acme-dev', organization: 'acme', origin: 'https://acme.dev' })
  })

  describe('the body', () => {
    const bodies: readonly (readonly [string, string | Uint8Array, string, string])[] = [
      [
        'white space and order as they came',
        ' {\t"project" : "acme-dev",\r\n "event_id":1 } ',
        ' {\t"project" : "acme-dev",\r\n "event_id":1 } ',
        'text',
      ],
      ['text that is no JSON', '<xml/> "\\ud800" \u0000 🚀', '<xml/> "\\ud800" \u0000 🚀', 'text'],
      ['tabs, line breaks, quotes and backslashes', 'a\tb\nc\r\n\\N \\t \' " `', 'a\tb\nc\r\n\\N \\t \' " `', 'text'],
      [
        'bytes that are no text',
        Uint8Array.from([0, 255, 254, 10, 9, 128]),
        Buffer.from([0, 255, 254, 10, 9, 128]).toString('base64'),
        'base64',
      ],
      ['nothing', '', '', 'none'],
    ]
    for (const [name, sent, kept, form] of bodies) {
      it(`is kept exactly: ${name}`, async () => {
        const { agent, options } = asAgent()
        await api.post('/v1/events', sent, options)
        const [row] = await rowsOf(agent)
        expect(row).to.deep.include({
          body: kept,
          body_form: form,
          is_redacted: false,
          body_bytes: Buffer.byteLength(sent),
        })
      })
    }

    it('is cut to 16 KB if more was sent, in chunks or with a length', async () => {
      const { agent, options } = asAgent()
      const stream = ReadableStream.from(Array.from({ length: 3 }, () => new TextEncoder().encode('ab'.repeat(5_000))))
      const init = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...options.headers },
        body: stream,
        duplex: 'half',
      }
      const reply = await fetch(`${api.service.url}/v1/events`, init as RequestInit)
      expect(reply.status).to.equal(413)
      await reply.body?.cancel()
      await api.post('/v1/events', 'x'.repeat(100_000), options)
      const rows = await rowsOf(agent, 2)
      expect(rows.map(({ body_bytes }) => body_bytes)).to.have.members([16_384, 16_384])
      expect(rows.every(({ code }) => code === 'body_too_large')).to.equal(true)
    })

    it('is a digest if it was compressed, because receipts inside would be hidden', async () => {
      const { agent, options } = asAgent()
      const { receipt } = (await api.visit()).body['marker']
      const sent = gzipSync(JSON.stringify({ receipt }))
      await api.post('/v1/events', sent, { headers: { ...options.headers, 'Content-Encoding': 'gzip' } })
      const [row] = await rowsOf(agent)
      expect(row).to.deep.include({
        code: 'unsupported_encoding',
        body: `sha256:${createHash('sha256').update(sent).digest('hex')}`,
        body_form: 'digest',
        body_bytes: sent.length,
      })
    })

    it('shows receipts and tokens as keyed hashes, equal for equal ones, and the rest as it came', async () => {
      const { agent, options } = asAgent()
      const receipt = await api.activeReceipt()
      const { token } = (await api.handoff({ receipt })).body
      const one = JSON.stringify(eventBody({ receipts: [receipt] }))
      const other = JSON.stringify(eventBody({ handoff: token }))
      await api.post('/v1/events', one, options)
      await api.post('/v1/events', other, options)
      const rows = await rowsOf(agent, 2)
      expect(rows.map(({ body }) => body)).to.have.members([
        one.replace(receipt, `hmac:${KEYS.logHash(receipt)}`),
        other.replace(token, `hmac:${KEYS.logHash(token)}`),
      ])
      expect(rows.every(({ is_redacted }) => is_redacted)).to.equal(true)
    })
  })

  describe('a receipt in the headers of a request', () => {
    it('is hashed in path, user agent and origin, however it is escaped', async () => {
      const { receipt } = (await api.visit()).body['marker']
      for (const hide of [(text: string) => text, percentAll, escapeAll]) {
        const mark = newId()
        const secret = hide(receipt)
        await api.get(`/v1/projects/${hide(receipt).replaceAll('\\', '%5c')}/report.sh`, {
          headers: { 'User-Agent': `${mark} ${secret}` },
          isDocumented: false,
        })
        await api.visit(
          {},
          {
            headers: {
              'User-Agent': `${mark} ${'x'.repeat(480 - mark.length)} ${secret}`,
              Origin: `https://${secret}.example`,
            },
            origin: null,
          },
        )
        const rows = await logsOf(api, ({ user_agent }) => user_agent.startsWith(mark), 2)
        const shown = rows.map(({ path, user_agent, origin }) => `${path} ${user_agent} ${origin}`).join(' ')
        for (const reading of [
          shown,
          decodeURIComponent(shown.replaceAll(/%(?![0-9a-f]{2})/gi, '')),
          shown.replaceAll(/\\u00(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
        ]) {
          expect(reading).to.not.include(receipt.slice(0, 20))
        }
        expect(claimsOf(receipt).visitId).to.be.a('string')
      }
    })
  })

  it('show an address as a keyed hash that is the same all day and another the next day', async () => {
    const address = freshAddress()
    const { agent, options } = asAgent()
    const ask = () => api.get('/v1/projects/acme-dev/report.sh', { ...options, address })
    await ask()
    await ask()
    await api.get('/v1/projects/acme-dev/report.sh', options)
    const hashes = (await rowsOf(agent, 3)).map(({ address_hash }) => address_hash)
    expect(new Set(hashes).size).to.equal(2)
    for (const hash of hashes) expect(hash).to.match(/^[0-9a-f]{32}$/)
    api.service.advance(86_400_000)
    await ask()
    const later = (await rowsOf(agent, 4)).map(({ address_hash }) => address_hash)
    expect(new Set(later).size).to.equal(3)
  })
})

describe('Logs of an organisation with its own retention', () => {
  let api: Api
  before(async () => {
    api = await startApi({ manifests: manifestsWith(['plan: Standard', 'plan: Standard, logRetentionDays: 19']) })
  })
  after(() => api.stop())

  const keptDays = async (topic: Topic, count: number): Promise<readonly string[]> => {
    const read = () => api.service.eventLog.read(topic, 0, 10)
    await until(async () => (await read()).length >= count)
    return (await read()).map(({ value }) => {
      const { path, status, logRetentionDays } = decodeRecord<LogRecord & { request: RequestLog }>(value).request
      return `${path} ${status} ${logRetentionDays}`
    })
  }

  it('are kept as long as the plan says, and as short as possible if their owner is unknown', async () => {
    await api.visit()
    await api.event()
    await api.post('/v1/visits', visitBody({ page_url: 3 }))
    await api.post('/v1/visits', visitBody({ project: 'nobody' }), { origin: 'https://evil.example' })
    expect(await keptDays('visits', 1)).to.deep.equal(['/v1/visits 200 19'])
    expect(await keptDays('installs', 1)).to.deep.equal(['/v1/events 200 19'])
    expect(await keptDays('requests', 2)).to.have.members(['/v1/visits 400 19', '/v1/visits 404 7'])
  })
})
