/** Redis emptied, frozen, killed and failed over under load: no second row, no second delivery, and no long refusal. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { brokenWithoutMemory, type Operation } from '../crash/service.history.ts'
import { Clients } from '../crash/service.load.ts'
import { LOAD_MANIFESTS, LOAD_WEBSITES } from '../crash/service.manifests.ts'
import { readStored } from '../crash/service.stored.ts'
import { startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import { startRedis, startSentinel, type RedisServer } from '../../fixtures/engines/redis.ts'
import { KEEP_HITS, LOAD_ENV, type FaultParts } from './breaking.suite.ts'
import { LONG } from './lengths.ts'
import { settled } from './settled.ts'

const NAME = 'whence'
const CLIENTS = 8
const BEAT_MS = 1_000

export function losingRedis({ place }: FaultParts): void {
  describe('when Redis is lost', function () {
    this.timeout(LONG.isLong ? 1_200_000 : 240_000)
    let service: Distributed
    let servers: readonly [RedisServer, RedisServer]
    let sentinel: RedisServer

    before(async () => {
      servers = [await startRedis(), await startRedis()]
      servers[1].cli('replicaof', '127.0.0.1', String(servers[0].port))
      await until(() => servers[1].cli('info', 'replication').includes('master_link_status:up'))
      sentinel = await startSentinel(NAME, servers[0].port)
      // A Sentinel that knows of no replica yet cannot promote one.
      await until(() => sentinel.cli('sentinel', 'replicas', NAME).includes(String(servers[1].port)))
      const WHENCE_HOT_STATE = `redis://127.0.0.1:${sentinel.port}/0?sentinel=${NAME}`
      service = await startDistributed({
        engines: await place(),
        manifests: { 'load.yaml': LOAD_MANIFESTS },
        keepHits: KEEP_HITS,
        env: { WHENCE_HOT_STATE },
        envOf: { api: LOAD_ENV },
      })
    })
    after(async () => {
      await service?.stop()
      await sentinel?.stop()
      for (const server of servers ?? []) await server.stop()
    })

    it('stores and delivers everything once, and refuses no request for long', async () => {
      const clients = new Clients()
      const load = clients.start({ url: service.url, websites: LOAD_WEBSITES, clients: CLIENTS })
      for (let round = 0; round < LONG.rounds; round++) await loseRedis(servers, sentinel)
      await load.stop()
      await settled(service)
      const stored = await readStored(service.facts, service.ga4, clients.operations)
      const refusedMs = longestRefusalMs(clients.operations)
      const outcomes = Map.groupBy(clients.operations, ({ outcome }) => outcome)
      const told = [...outcomes].map(([outcome, some]) => `${some.length} ${outcome}`).join(', ')
      console.log(`        ${told}; 5xx for ${refusedMs.toFixed(0)} ms at most`)
      expect(service.program('api').stderr()).to.include('hot state unavailable')
      expect(brokenWithoutMemory(clients.operations, stored)).to.deep.equal([])
      expect(refusedMs).to.be.lessThan(LONG.refusedMs)
      expect(outcomes.get('ok')?.length).to.be.greaterThan(100)
    })
  })
}

async function loseRedis(servers: readonly [RedisServer, RedisServer], sentinel: RedisServer): Promise<void> {
  const addressOf = (): string => sentinel.cli('sentinel', 'get-master-addr-by-name', NAME).split('\n')[1] ?? ''
  const primary = (): RedisServer => (String(servers[0].port) === addressOf() ? servers[0] : servers[1])
  await wait(BEAT_MS)
  primary().cli('flushall')
  await wait(BEAT_MS)
  const killed = primary()
  await killed.kill()
  await until(() => addressOf() !== String(killed.port))
  await wait(BEAT_MS)
  await killed.restart()
  const [first, second] = servers
  const other = killed === first ? second : first
  await until(() => killed.cli('info', 'replication').includes('master_link_status:up'))
  // Frozen for less than Sentinel takes to notice: unreachable without a failover.
  other.freeze()
  await wait(BEAT_MS / 4)
  other.thaw()
  await wait(BEAT_MS)
}

/** The longest time over which every answer was a 5xx. */
function longestRefusalMs(operations: readonly Operation[]): number {
  let longestMs = 0
  let sinceMs: number | null = null
  for (const { status, beganAt, endedAt } of operations.toSorted((one, two) => one.endedAt - two.endedAt)) {
    if (status < 500) sinceMs = null
    else {
      sinceMs ??= beganAt
      longestMs = Math.max(longestMs, endedAt - sinceMs)
    }
  }
  return longestMs
}
