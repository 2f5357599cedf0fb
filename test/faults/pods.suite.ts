/** Several api processes: one limit over all of them whatever their clocks say, new catalogs and restarts without a failure. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { RATE_RULES } from '../../domain/limits.ts'
import { startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import type { Program } from '../../fixtures/service/programs.ts'
import { visitBody } from '../../fixtures/service/requests.ts'
import { MANIFESTS, TEST_ORIGIN } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { LOAD_ENV, type FaultParts } from './breaking.suite.ts'
import { LONG } from './lengths.ts'

/** On a busy machine more would take longer than a window. */
const REQUESTS = LONG.isLong ? 10_000 : 2_000
/** To each pod; the rest waits here and not in the pods, in which Redis would seem slow for lack of processor time. */
const SOCKETS = 16
const UNAVAILABLE = 'hot state unavailable'
const REACHABLE = 'hot state reachable'
const PODS = 4
const WARM_UP = 400
/** Addresses are hashed with another key each day, so a pod whose clock shows another day counts separately: near midnight no clock is moved across it. */
const NEAR_MIDNIGHT_MS = 2 * HOUR_MS
const TRIES = 6
const SWAPS = 10
const SWAP_PAUSE_MS = 150
const CLIENTS = 8
/**
 * Between two visits of a client. Eight clients send 64 a second at most, so that a minute has fewer than the 6,000 of a
 * website together with the admitted ones of the test before (400 to warm up, 240 for each try), however fast the machine.
 */
const CLIENT_PAUSE_MS = 125

/** How far ahead or behind each pod's clock is; the limits use Redis's. */
function skewsMs(ofDayMs: number): readonly number[] {
  if (ofDayMs > DAY_MS - NEAR_MIDNIGHT_MS) return [0, -20_000, -40_000, -HOUR_MS]
  return ofDayMs < NEAR_MIDNIGHT_MS ? [0, 20_000, 40_000, HOUR_MS] : [0, 40_000, -40_000, HOUR_MS]
}

type Pod = Program & { readonly url: string }

export function manyPods({ place }: FaultParts): void {
  describe('as several api processes', function () {
    this.timeout(240_000)
    let service: Distributed
    let pods: readonly Pod[]
    let folder: string
    const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'whence-pods-'))
      service = await startDistributed({ engines: await place(), envOf: { api: LOAD_ENV } })
      pods = await Promise.all(
        skewsMs(Date.now() % DAY_MS).map(async (skewMs) => {
          const MOVED_CLOCK = join(folder, `clock-${skewMs}`)
          await writeFile(MOVED_CLOCK, String(skewMs))
          return service.add('api', { MOVED_CLOCK })
        }),
      )
    })
    after(async () => {
      agent.destroy()
      await service?.stop()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    })

    const visit = (url: string, address = randomAddress()): Promise<number> =>
      sendVisit(`${url}/v1/visits`, agent, address)

    it(`admits exactly a limit of ${REQUESTS} requests at once, with clocks that differ`, async () => {
      const { limit, windowS } = RATE_RULES.collection
      const outages = (): number => pods.reduce((sum, pod) => sum + pod.stderr().split(UNAVAILABLE).length - 1, 0)
      const isAlone = (pod: Pod): boolean => pod.stderr().lastIndexOf(UNAVAILABLE) > pod.stderr().lastIndexOf(REACHABLE)
      // A process compiles what it runs often; meanwhile it is too busy to read Redis's answers in time.
      await Promise.all(Array.from({ length: WARM_UP }, (_, index) => visit(pods[index % PODS]?.url ?? '')))
      for (let tries = 1; ; tries++) {
        // An outage of the last try may still last, and is said only when it begins.
        await until(() => !pods.some(isAlone))
        const address = randomAddress()
        const windowAt = (): number => Math.floor(Date.now() / 1_000 / windowS)
        const before = { window: windowAt(), outages: outages() }
        const all = Array.from({ length: REQUESTS }, (_, index) => visit(pods[index % PODS]?.url ?? '', address))
        const statuses = Map.groupBy(await Promise.all(all), (status) => status)
        // Across the end of a window twice as many are right; and if a busy machine made Redis seem unreachable, each pod
        // counted alone.
        const isTold = windowAt() === before.window && outages() === before.outages
        if (!isTold && tries < TRIES) continue
        const counts = Object.fromEntries([...statuses].map(([status, some]) => [status, some.length]))
        expect(counts).to.deep.equal({ 200: limit, 429: REQUESTS - limit })
        return
      }
    })

    /** Visits in a steady stream until `act` has ended; the statuses of all. */
    const whileActing = async (url: string, act: () => Promise<void>): Promise<readonly number[]> => {
      const statuses: number[] = []
      let isOver = false
      const client = async (): Promise<void> => {
        while (!isOver) {
          statuses.push(await visit(url))
          await wait(CLIENT_PAUSE_MS)
        }
      }
      const load = Array.from({ length: CLIENTS }, client)
      await act().finally(() => (isOver = true))
      await Promise.all(load)
      return statuses
    }

    it('drops no request while catalogs are swapped', async () => {
      const [pod] = pods
      const versions = new Set<unknown>()
      const statuses = await whileActing(pod?.url ?? '', async () => {
        for (let swap = 0; swap < SWAPS; swap++) {
          const text = (MANIFESTS['acme.yaml'] ?? '').replace('displayName: acme.dev', `displayName: swap ${swap}`)
          await service.apply({ 'acme.yaml': text })
          await wait(SWAP_PAUSE_MS)
          const health = (await (await fetch(`${pod?.url}/health`)).json()) as { catalog: { version: unknown } }
          versions.add(health.catalog.version)
        }
      })
      expect(versions.size).to.be.greaterThan(2)
      expect(statuses.length).to.be.greaterThan(SWAPS)
      expect(new Set(statuses)).to.deep.equal(new Set([200]))
    })

    it('fails no request while one process after the other is replaced', async () => {
      const balancer = await startBalancer(pods.map(({ url }) => url))
      let replaced = 0
      const statuses = await whileActing(balancer.url, async () => {
        for (const old of pods.slice(0, 2)) {
          const fresh = await service.add('api')
          balancer.swap(old.url, fresh.url)
          expect(await old.end('SIGTERM')).to.equal(0)
          replaced++
        }
      })
      await balancer.close()
      expect(replaced).to.equal(2)
      expect(statuses.length).to.be.greaterThan(20)
      expect(new Set(statuses)).to.deep.equal(new Set([200]))
    })
  })
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`
}

/** The status, or 0 if no answer came. */
function sendVisit(url: string, agent: Agent, address: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', Origin: TEST_ORIGIN, 'X-Forwarded-For': address }
  return new Promise((resolve) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0))
    })
    outgoing.on('error', () => resolve(0))
    outgoing.end(JSON.stringify(visitBody()))
  })
}

interface Balancer {
  readonly url: string
  /** New requests go to the other one from now on; those in flight stay. */
  readonly swap: (from: string, to: string) => void
  readonly close: () => Promise<void>
}

/** Takes turns over several servers, with kept connections; it repeats nothing. */
async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const targets = [...urls]
  const agent = new Agent({ keepAlive: true })
  let turn = 0
  const server: Server = createServer((req, res) => {
    const target = targets[(turn += 1) % targets.length]
    const onward = request(
      `${target}${req.url}`,
      { method: req.method ?? 'GET', headers: req.headers, agent },
      (answer) => {
        res.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(res)
      },
    )
    onward.on('error', () => res.writeHead(502).end())
    req.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swap: (from, to) => void targets.splice(targets.indexOf(from), 1, to),
    close: async () => {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
