/** Every process is told to stop while an engine or the provider hangs: each ends cleanly, and nothing is lost or sent twice. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { brokenWithoutMemory } from '../crash/service.history.ts'
import { Clients, type Load } from '../crash/service.load.ts'
import { LOAD_MANIFESTS, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import { readStored } from '../crash/service.stored.ts'
import {
  ROLES,
  ROLES_BESIDE,
  startDistributed,
  type Distributed,
  type Role,
} from '../../fixtures/service/distributed.ts'
import { logStream, secret, webhook } from '../../fixtures/service/manifests.ts'
import type { Program } from '../../fixtures/service/programs.ts'
import type { Engines } from '../../fixtures/engines/engines.ts'
import { until } from '../../fixtures/until.ts'
import type { TopicLag } from '../../ports/event-log/event-log.ts'
import { KEEP_HITS, LOAD_ENV, type FaultParts } from './breaking.suite.ts'
import { settled } from './settled.ts'

const ALL: readonly Role[] = [...ROLES, 'api']
const CLIENTS = 8
/**
 * Their addresses are nobody's: the stream asks ClickHouse again and again for what it may send, and each event for the
 * webhook is put on the log as a job, as an attempt and into a tier.
 */
const SECRET_REF = { name: 'hooks', key: 'hook' }
const OUTWARDS = [
  logStream('logs', {
    organizationRef: { name: 'load' },
    webhook: { url: 'https://logs.example/in', secretRef: SECRET_REF },
  }),
  webhook('events', { organizationRef: { name: 'load' }, url: 'https://hooks.example/in', secretRef: SECRET_REF }),
  secret('hooks', { hook: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
]
  .map((manifest) => JSON.stringify(manifest))
  .join('\n---\n')
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
      const manifests = { 'load.yaml': LOAD_MANIFESTS, 'outwards.yaml': OUTWARDS }
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
      it(`while ${what}, each process ends cleanly in time, and no answer is cut off`, async () => {
        const beside = hangs.includes(clickhouse) ? ROLES_BESIDE : []
        const added = await Promise.all(beside.map(async (role) => ({ role, program: await service.add(role) })))
        if (added.length > 0) await until(async () => (await service.eventLog.lag()).some(isWebhookTier))
        await wait(HANG_MS)
        for (const { begin } of hangs) begin()
        await wait(HANG_MS)
        const first = clients.operations.length
        // Clients that are told to reconnect do so, and finish their current request.
        const programs = [...ALL.map((role) => ({ role, program: service.program(role) })), ...added]
        const [codes] = await Promise.all([Promise.all(programs.map(stopped)), load.stop()])
        expect(codes).to.deep.equal(programs.map(({ role }) => ({ role, code: 0 })))
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

/** Attempts were made at the webhook, and jobs wait for their next. */
function isWebhookTier({ group, topic, entries }: TopicLag): boolean {
  return group === 'webhooks' && topic.startsWith('webhooks.') && entries > 0
}

interface StartedRole {
  readonly role: Role
  readonly program: Program
}

/** Its exit code, with what it said last if that is not 0; it is 0 only if all parts had closed in time. */
async function stopped({ role, program }: StartedRole): Promise<{ role: Role; code: unknown; said?: string }> {
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
