/** Clients without a pause at an embedded service that stores and merges facts meanwhile: no request that could wait is refused. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { randomInt } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect } from 'chai'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { loadManifests } from '../../fixtures/service/load-manifests.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
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

export function refusingNobody(clients: number): void {
  describe(`an embedded service at full load, with ${clients} clients`, function () {
    this.timeout(180_000)
    let folder: string
    let ga4: Ga4StandIn
    let program: Program
    let port: number
    const agent = new Agent({ keepAlive: true })

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'whence-saturation-'))
      const manifests = join(folder, 'manifests')
      await mkdir(manifests)
      await writeFile(join(manifests, 'all.yaml'), MANIFESTS)
      ga4 = await startGa4StandIn({ port: 0, keep: 1 })
      port = await freePort()
      const places = ['--data', join(folder, 'data'), '--manifests', manifests, '--trust-proxy', '127.0.0.0/8']
      const listens = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
      program = startProgram(['embedded', ...listens, ...places], { env: { WHENCE_GA4_URL: ga4.url } })
      await program.ready
    })
    after(async () => {
      await program?.end('SIGTERM')
      await ga4?.stop()
      agent.destroy()
      await rm(folder, { recursive: true, force: true })
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
        const outcome = `${status} ${String(answer['resolution'] ?? answer['error'])}`
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      })
      expect(Object.fromEntries(outcomes)).to.deep.equal({ '200 matched': EVENTS })
    })
  })
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
