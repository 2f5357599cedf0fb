/**
 * The service on three Kafka brokers of which one is dead, hangs or comes back: what is running continues, and what starts can start.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { ROLES, startDistributed, type Distributed, type Role } from '../../fixtures/service/distributed.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import type { ClusterBroker, KafkaCluster } from '../../fixtures/engines/kafka-cluster.ts'
import type { Program } from '../../fixtures/service/programs.ts'
import { hasRedisServer } from '../../fixtures/engines/redis.ts'
import { activeReceipt, eventBody, post } from '../../fixtures/service/requests.ts'
import { LONG } from './lengths.ts'

const EVERYTHING: readonly Role[] = [...ROLES, 'api']
const STOPPED_MS = 20_000
/** Kafka itself needs nine seconds to give the partitions of a broker that is gone to others. */
const ANSWER_TRIES = 60

describe('three Kafka brokers', function () {
  this.timeout(180_000)
  let service: Distributed
  let cluster: KafkaCluster
  let delivered = 0

  before(async function () {
    const jars = await kafkaJars()
    if (jars === null || !hasRedisServer()) return this.skip()
    service = await startDistributed({ engines: { jars, isCluster: true } })
    if (service.engines.cluster === null) throw new Error('no cluster was started')
    cluster = service.engines.cluster
    await installAt(service.url)
  })
  after(() => service?.stop())

  const installAt = async (url: string): Promise<void> => {
    const receipt = await untilAnswered(() => activeReceipt(url))
    const body = eventBody({ receipts: [receipt] })
    const answer = await untilAnswered(async () => {
      const reply = await post(`${url}/v1/events`, body)
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
      return reply
    })
    expect(answer.body['ok']).to.equal(true)
    delivered += 1
  }

  /** Everything that was reported has reached the provider, and every role is at the end of its topics. */
  const everythingGoesOn = async (): Promise<void> => {
    await service.drain()
    const sent = new Set(service.ga4.requests().map(({ body }) => JSON.stringify(body)))
    expect(sent.size).to.be.at.least(delivered)
    for (const role of EVERYTHING) expect(await isRunning(service.program(role)), role).to.equal(true)
  }

  const startAll = (): Promise<(Program & { readonly url: string })[]> =>
    Promise.all(EVERYTHING.map((role) => service.add(role)))

  const endAll = async (programs: readonly Program[]): Promise<void> => {
    const codes = await Promise.all(programs.map((program) => program.end('SIGTERM')))
    expect(codes).to.deep.equal(programs.map(() => 0))
  }

  it('keep working, and let everything start, while the coordinator of the deliveries is dead', async () => {
    const victim = await cluster.coordinatorOf('deliver.ga4:deliver.ga4')
    await victim.kill()
    const started = await startAll()
    await installAt(service.url)
    await installAt(started.at(-1)?.url ?? '')
    await everythingGoesOn()
    await endAll(started)
    await cluster.heal()
  })

  it('keep working, and let everything start, while the leader of the installs hangs for 20 s', async () => {
    const victim = await cluster.leaderOf('installs', 0)
    victim.pause()
    const [started] = await Promise.all([startAll(), wait(STOPPED_MS)])
    victim.resume()
    await installAt(service.url)
    await installAt(started.at(-1)?.url ?? '')
    await everythingGoesOn()
    await endAll(started)
    await cluster.heal()
  })

  if (!LONG.isLong) return

  it('let everything start while one of them comes back', async () => {
    const victim = cluster.brokers[0] as ClusterBroker
    await victim.kill()
    const back = victim.restart()
    const started = await startAll()
    await back
    await installAt(started.at(-1)?.url ?? '')
    await everythingGoesOn()
    await endAll(started)
  })
})

/** Tries what may be refused while partitions change hands. */
async function untilAnswered<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act()
    } catch (error) {
      if (tries === ANSWER_TRIES) throw error
      await wait(500)
    }
  }
}

async function isRunning(program: Program): Promise<boolean> {
  return (await Promise.race([program.ended, wait(0, 'running')])) === 'running'
}
