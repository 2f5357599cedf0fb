/**
 * The service on three Kafka brokers of which one is dead, hangs or comes back: what is running continues, and what starts can start.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import {
  ROLES,
  startDistributed,
  type Distributed,
  type Role,
  type SpooledApi,
} from '../../fixtures/service/distributed.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import type { ClusterBroker, KafkaCluster } from '../../fixtures/engines/kafka-cluster.ts'
import type { Program } from '../../fixtures/service/programs.ts'
import { hasRedisServer } from '../../fixtures/engines/redis.ts'
import { activeReceipt, eventBody, send, type Reply } from '../../fixtures/service/requests.ts'
import { until } from '../../fixtures/until.ts'
import { LONG } from './lengths.ts'

const EVERYTHING: readonly Role[] = [...ROLES, 'api']
const STOPPED_MS = 20_000
/** Kafka itself needs nine seconds to give the partitions of a broker that is gone to others. */
const ANSWER_TRIES = 60
/** Often enough to see a moment without readiness; installs are rarer, because each is delivered and waited for. */
const ROUND_MS = 100
const INSTALL_ROUNDS = 20

describe('three Kafka brokers', function () {
  this.timeout(180_000)
  let service: Distributed
  let cluster: KafkaCluster
  let spooled: SpooledApi
  let plain: SpooledApi
  let delivered = 0

  before(async function () {
    const jars = await kafkaJars()
    if (jars === null || !hasRedisServer()) return this.skip()
    service = await startDistributed({ engines: { jars, isCluster: true }, env: { WHENCE_TRUST_PROXY: '127.0.0.1' } })
    if (service.engines.cluster === null) throw new Error('no cluster was started')
    cluster = service.engines.cluster
    spooled = await service.addSpooled()
    const metrics = `127.0.0.1:${await freePort()}`
    plain = { ...(await service.add('api', { WHENCE_METRICS_LISTEN: metrics })), metricsUrl: `http://${metrics}` }
    await installAt(service.url)
  })
  after(() => service?.stop())

  const installAt = async (url: string): Promise<void> => {
    const receipt = await untilAnswered(() => activeReceipt(url))
    const body = eventBody({ receipts: [receipt] })
    const answer = await untilAnswered(async () => {
      const reply = await postEvent(url, body)
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
      return reply
    })
    expect(answer.body['ok']).to.equal(true)
    delivered += 1
  }

  /** From an address of its own: how many installs come from one in a minute is limited, and a slow start lasts for minutes. */
  const postEvent = (url: string, event: Record<string, unknown>): Promise<Reply> =>
    send(`${url}/v1/events`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': `10.1.${delivered >> 8}.${delivered & 255}` },
      body: JSON.stringify(event),
    })

  /** With a spool, nothing is refused at any moment. */
  const installSpooled = async ({ url }: SpooledApi): Promise<void> => {
    const { status, text } = await postEvent(url, eventBody({ receipts: [await activeReceipt(url)] }))
    expect(status, text).to.equal(200)
    delivered += 1
  }

  /** What websites and installers fetch before they send anything. */
  const expectReachable = async ({ url }: SpooledApi): Promise<void> => {
    for (const path of ['/v1/projects/acme-dev/report.sh', '/browser.js', '/v1/projects/acme-dev/browser-config'])
      expect((await send(url + path)).status, path).to.equal(200)
  }

  /**
   * While `fault` lasts, an api with a spool starts, and it and the one before it take visits and installs; afterwards their spools
   * get empty. These and an api without a spool are ready whenever they are asked, as a Service asks, and serve hook and SDK.
   */
  const spoolsCope = async (fault: Promise<unknown>): Promise<void> => {
    let isOver = false
    const over = fault.finally(() => (isOver = true))
    const apis = [spooled, await service.addSpooled()]
    const asked = { notReady: 0, ready: 0 }
    for (let rounds = 0; rounds === 0 || !isOver; rounds++, await wait(ROUND_MS)) {
      for (const api of [...apis, plain]) {
        asked[(await send(`${api.metricsUrl}/ready`)).status === 200 ? 'ready' : 'notReady'] += 1
        if (rounds % INSTALL_ROUNDS === 0) await expectReachable(api)
      }
      // What the one without a spool answers to these depends on the moment; that it refuses at times is no fault.
      if (rounds % INSTALL_ROUNDS === 0) await postEvent(plain.url, eventBody())
      if (rounds % INSTALL_ROUNDS === 0) for (const api of apis) await installSpooled(api)
    }
    await over
    expect(asked.notReady, `of ${asked.ready}`).to.equal(0)
    const entriesOf = async ({ metricsUrl }: SpooledApi): Promise<number> =>
      (await send(`${metricsUrl}/status`)).body['spool'].entries
    for (const api of apis) await until(async () => (await entriesOf(api)) === 0)
    await endAll(apis.slice(1))
  }

  /** Everything that was reported has reached the provider, and every role is at the end of its topics. */
  const everythingGoesOn = async (): Promise<void> => {
    await service.drain()
    const sent = (): number => new Set(service.ga4.requests().map(({ body }) => JSON.stringify(body))).size
    // What came through a spool may have been parked until its visit was there.
    await until(() => sent() >= delivered)
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
    const starting = startAll()
    await spoolsCope(starting)
    const started = await starting
    await installAt(service.url)
    await installAt(started.at(-1)?.url ?? '')
    await everythingGoesOn()
    await endAll(started)
    await cluster.heal()
  })

  it('keep working, and let everything start, while the leader of the installs hangs for 20 s', async () => {
    const victim = await cluster.leaderOf('installs', 0)
    victim.pause()
    const starting = startAll()
    const resumed = wait(STOPPED_MS).then(() => victim.resume())
    await spoolsCope(Promise.all([starting, resumed]))
    const started = await starting
    await installAt(service.url)
    await installAt(started.at(-1)?.url ?? '')
    await everythingGoesOn()
    await endAll(started)
    await cluster.heal()
  })

  it('let an api with a spool start and stay ready while one of them comes back', async () => {
    const victim = cluster.brokers[0] as ClusterBroker
    await victim.kill()
    await spoolsCope(victim.restart())
    await cluster.heal()
    await everythingGoesOn()
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
