/** Every process is told to stop while an engine or the provider hangs: each ends clean, and nothing is lost or sent twice. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { brokenWithoutMemory } from '../crash/service.history.ts'
import { Clients, type Load } from '../crash/service.load.ts'
import { LOAD_MANIFESTS, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import { readStored } from '../crash/service.stored.ts'
import { ROLES, startDistributed, type Distributed, type Role } from '../../fixtures/service/distributed.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { KEEP_HITS, LOAD_ENV, type FaultParts } from './breaking.suite.ts'
import { settled } from './settled.ts'

const ALL: readonly Role[] = [...ROLES, 'api']
const CLIENTS = 8
/** Every role is in the middle of something by then, and waits for what hangs. */
const HANG_MS = 2_000

interface Hang {
  readonly begin: () => void
  readonly end: () => void
}

export function stoppingWhileOthersHang({ place }: FaultParts): void {
  describe('told to stop', function () {
    this.timeout(240_000)
    const clients = new Clients()
    let engines: Engines
    let service: Distributed
    let load: Load

    const clickhouse: Hang = { begin: () => engines.clickhouse.pause(), end: () => engines.clickhouse.resume() }
    const redis: Hang = { begin: () => engines.redis.freeze(), end: () => engines.redis.thaw() }
    const kafka: Hang = { begin: () => engines.kafka.pause(), end: () => engines.kafka.resume() }
    const provider: Hang = {
      begin: () => service.ga4.fail('*', { kind: 'hang' }),
      end: () => service.ga4.fail('*', null),
    }
    const all = [clickhouse, redis, kafka, provider]
    const cases: readonly (readonly [string, readonly Hang[]])[] = [
      ['ClickHouse and the provider hang', [clickhouse, provider]],
      ['Redis hangs', [redis]],
      ['everything hangs', all],
    ]

    before(async () => {
      engines = await place()
      const manifests = { 'load.yaml': LOAD_MANIFESTS }
      service = await startDistributed({ engines, manifests, keepHits: KEEP_HITS, envOf: { api: LOAD_ENV } })
    })
    after(() => service?.stop())
    beforeEach(() => {
      load = clients.start({ url: service.url, websites: LOAD_WEBSITES, clients: CLIENTS })
    })
    afterEach(async () => {
      await load.stop()
      for (const { end } of all) end()
    })

    for (const [what, hangs] of cases) {
      it(`while ${what}, each process ends clean in its time, and no answer is cut off`, async () => {
        await wait(HANG_MS)
        for (const { begin } of hangs) begin()
        await wait(HANG_MS)
        const first = clients.operations.length
        // Who is told to go elsewhere does so: clients finish what they are at.
        const [codes] = await Promise.all([Promise.all(ALL.map((role) => stopped(service, role))), load.stop()])
        expect(codes).to.deep.equal(ALL.map((role) => ({ role, code: 0 })))
        const cutOff = clients.operations.slice(first).filter(({ outcome, status }) => outcome === 'unknown' && !status)
        expect(cutOff.map(({ kind, tag, brokenBy }) => `${kind} ${tag} ${String(brokenBy)}`)).to.deep.equal([])
        for (const { end } of hangs) end()
        await Promise.all(ALL.map((role) => service.restart(role)))
      })
    }

    it('has stored once whatever it answered, and delivered it once', async () => {
      await load.stop()
      await clients.start({ url: service.url, websites: [], clients: 0 }).stop()
      await settled(service)
      const stored = await readStored(service.facts, service.ga4, clients.operations)
      expect(brokenWithoutMemory(clients.operations, stored)).to.deep.equal([])
      expect(clients.operations.filter(({ outcome }) => outcome === 'ok').length).to.be.greaterThan(200)
      expect(acceptedTwice(service)).to.deep.equal([])
    })
  })
}

/** Its exit code, with what it said last if that is not 0; it is 0 only if all parts had closed in time. */
async function stopped(service: Distributed, role: Role): Promise<{ role: Role; code: unknown; said?: string }> {
  const program = service.program(role)
  const beganMs = performance.now()
  const code = await program.end('SIGTERM')
  console.log(`        ${role} ended after ${((performance.now() - beganMs) / 1_000).toFixed(1)} s`)
  return code === 0 ? { role, code } : { role, code, said: program.stderr().slice(-2_000) }
}

/** IDs of deliveries that the provider answered more than once. */
function acceptedTwice({ ga4 }: Distributed): readonly string[] {
  const accepted = ga4.requests().filter(({ answered }) => answered > 0)
  const byId = Map.groupBy(accepted, ({ body }) => String((body as any).events[0].params.install_id))
  return [...byId].flatMap(([id, hits]) => (hits.length > 1 ? [id] : []))
}
