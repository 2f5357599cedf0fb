/** With an SDK that sends to a collector of the test's own, one install is one trace, from its request to its provider and its row. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
import { activeReceipt, eventBody, post } from '../../fixtures/service/requests.ts'
import { MANIFESTS, TEST_SECRET } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

const CLIENT = '203.0.113.77'
const INSTALL = ['POST /v1/events', 'append installs', 'dispatch', 'deliver ga4', 'insert']

describe('traces', function () {
  this.timeout(60_000)
  const spans: Span[] = []
  const texts: string[] = []
  let folder: string
  let collector: Server
  let ga4: Ga4StandIn
  let service: Program
  let url: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-traces-'))
    const manifests = join(folder, 'manifests')
    await mkdir(manifests)
    for (const [name, text] of Object.entries(MANIFESTS)) await writeFile(join(manifests, name), text)
    collector = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        texts.push(text)
        for (const { scopeSpans } of JSON.parse(text).resourceSpans) {
          for (const scope of scopeSpans) spans.push(...scope.spans)
        }
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    ga4 = await startGa4StandIn({ port: 0 })
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    service = startProgram(['embedded', '--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0'], {
      nodeWords: ['--import', new URL('../../examples/traces/register.mjs', import.meta.url).pathname],
      env: {
        WHENCE_DATA: join(folder, 'data'),
        WHENCE_MANIFESTS: manifests,
        WHENCE_SECRET: TEST_SECRET,
        WHENCE_GA4_URL: ga4.url,
        WHENCE_TRUST_PROXY: '127.0.0.1',
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    })
    await service.ready
  })
  after(async () => {
    await service?.end('SIGTERM')
    await ga4?.close()
    collector?.closeAllConnections()
    collector?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('follow an install from its request over the log to its provider and its row', async () => {
    const receipt = await activeReceipt(url)
    const answer = await post(`${url}/v1/events`, eventBody({ receipts: [receipt] }))
    expect(answer.body).to.include({ resolution: 'matched' })
    const trace = await until(() => wholeTrace(), {
      what: () => `one whole trace among ${spans.map(({ name }) => name).join()}`,
    })
    const named = Object.fromEntries(trace.map((span) => [span.name, span]))
    expect(Object.keys(named)).to.have.members(INSTALL)
    const request = named['POST /v1/events']?.spanId
    expect(named['append installs']?.parentSpanId).to.equal(request)
    expect(named['dispatch']?.parentSpanId).to.equal(request)
    expect(named['insert']?.parentSpanId).to.equal(request)
    expect(named['deliver ga4']?.parentSpanId).to.equal(named['dispatch']?.spanId)
    expect(attributes(named['POST /v1/events'])).to.include({ 'http.response.status_code': 200 })
    expect(attributes(named['deliver ga4'])).to.include({ 'whence.outcome': 'delivered', 'whence.attempt': 1 })
  })

  it('say nothing of the client', async () => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': CLIENT, 'user-agent': 'seldom-seen/1' }
    const body = JSON.stringify(eventBody())
    const before = spans.length
    expect((await fetch(`${url}/v1/events`, { method: 'POST', headers, body })).status).to.equal(200)
    await until(() => spans.slice(before).some(({ name }) => name === 'POST /v1/events'))
    const { event_id: eventId } = JSON.parse(body)
    for (const secret of [CLIENT, 'seldom-seen', eventId, TEST_SECRET]) expect(texts.join()).not.to.include(secret)
  })

  function wholeTrace(): readonly Span[] | null {
    const traces = [...Map.groupBy(spans, ({ traceId }) => traceId).values()]
    return traces.find((each) => INSTALL.every((name) => each.some((span) => span.name === name))) ?? null
  }

  function attributes(span: Span | undefined): Readonly<Record<string, unknown>> {
    return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]))
  }
})
