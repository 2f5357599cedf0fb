/** Clients without a pause at a service that stores and merges facts meanwhile: no request that could wait is refused. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { randomInt } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect } from 'chai'
import { startGa4StandIn } from '../../stand-ins/ga4.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { hasRedisServer } from '../../fixtures/engines/redis.ts'
import { startDistributed } from '../../fixtures/service/distributed.ts'
import { loadManifests } from '../../fixtures/service/load-manifests.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { eventBody, visitBody } from '../../fixtures/service/requests.ts'
import { TEST_ORIGIN } from '../../fixtures/service/service.ts'

/** Enough for many inserts into each table, which the engine then merges. */
const EVENTS = 6_000
const VISITS = 200
const WEBSITES = Array.from({ length: 12 }, (_, number) => `site-${number}`)
/** Of the largest plan and many websites: the test looks for refusals for lack of time, not for rate. */
const MANIFESTS = loadManifests({
  organization: 'acme',
  installPath: 'cli',
  origin: TEST_ORIGIN,
  websites: WEBSITES,
  measurementId: 'G-TEST000001',
  secrets: { ga4: 'secret-of-the-ga4-stream' },
})

const TRUSTED_PROXIES = '127.0.0.0/8'

interface LoadedService {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Each gives null if its engines are not installed. */
const STARTS = { embedded: startEmbedded, distributed: startOnEngines } as const

/** What an install may be told. If Redis is not asked in time, because the machine does other work, dispatch decides it. */
const TAKEN = { embedded: ['matched'], distributed: ['matched', 'pending'] }

export function refusingNobody(clients: number, kind: keyof typeof STARTS): void {
  describe(`${kind === 'embedded' ? 'an' : 'a'} ${kind} service at full load, with ${clients} clients`, function () {
    this.timeout(180_000)
    let service: LoadedService
    let port: number
    const agent = new Agent({ keepAlive: true })

    before(async function () {
      this.timeout(400_000)
      const started = await STARTS[kind]()
      if (started === null) return this.skip()
      service = started
      port = service.port
    })
    after(async () => {
      agent.destroy()
      await service?.stop()
    })

    /** From an address of its own, so that no address has used up its share. */
    const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answered> => {
      const from = [10, 0, 0, 0].map((first) => first || randomInt(256)).join('.')
      const options = {
        port,
        path,
        agent,
        method: 'POST',
        headers: { ...JSON_TYPE, 'x-forwarded-for': from, ...headers },
      }
      return new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', ...options }, (response) => {
          json(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer: answer as Json }), reject)
        })
          .once('error', reject)
          .end(JSON.stringify(body))
      })
    }

    it('refuses no install, however many clients report without a pause', async () => {
      const receipts: Activated[] = []
      await inParallel(clients, VISITS, async (number) => {
        const body = visitBody({ project: WEBSITES[number % WEBSITES.length] })
        const { answer } = await post('/v1/visits', body, { origin: TEST_ORIGIN })
        const { project, receipt } = answer['marker'] as Activated
        const activated = await post('/v1/visits/activate', { project, receipt }, { origin: TEST_ORIGIN })
        expect(activated.status).to.equal(200)
        receipts.push({ project, receipt })
      })
      const outcomes = new Map<string, number>()
      await inParallel(clients, EVENTS, async (number) => {
        const { project, receipt } = receipts[number % receipts.length] as Activated
        const { status, answer } = await post('/v1/events', eventBody({ project, receipts: [receipt] }))
        const told = String(answer['resolution'] ?? answer['error'])
        const outcome = status === 200 && TAKEN[kind].includes(told) ? 'taken' : `${status} ${told}`
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      })
      expect(Object.fromEntries(outcomes)).to.deep.equal({ taken: EVENTS })
    })
  })
}

async function startEmbedded(): Promise<LoadedService> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-saturation-'))
  const manifests = join(folder, 'manifests')
  await mkdir(manifests)
  await writeFile(join(manifests, 'all.yaml'), MANIFESTS)
  const ga4 = await startGa4StandIn({ port: 0, keep: 1 })
  const port = await freePort()
  const places = ['--data', join(folder, 'data'), '--manifests', manifests, '--trust-proxy', TRUSTED_PROXIES]
  const listens = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
  const program = startProgram(['embedded', ...listens, ...places], { env: { WHENCE_GA4_URL: ga4.url } })
  const stop = async (): Promise<void> => {
    await program.end('SIGTERM')
    await ga4.close()
    await rm(folder, { recursive: true, force: true })
  }
  await program.ready.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { port, stop }
}

/** On Kafka, Redis and ClickHouse, with one process of each role. */
async function startOnEngines(): Promise<LoadedService | null> {
  const jars = await kafkaJars()
  if (jars === null || !hasRedisServer()) return null
  const { url, stop } = await startDistributed({
    engines: { jars },
    manifests: { 'all.yaml': MANIFESTS },
    keepHits: 1,
    envOf: { api: { WHENCE_TRUST_PROXY: TRUSTED_PROXIES } },
  })
  return { port: Number(new URL(url).port), stop }
}

interface Activated {
  readonly project: string
  readonly receipt: string
}

type Json = Readonly<Record<string, unknown>>

interface Answered {
  readonly status: number
  readonly answer: Json
}

const JSON_TYPE = { 'content-type': 'application/json' }

/** Each client begins the next one as soon as its last one is answered. */
async function inParallel(clients: number, count: number, act: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const client = async (): Promise<void> => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: clients }, client))
}
