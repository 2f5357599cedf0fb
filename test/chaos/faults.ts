/** Everything that is broken in chaos runs: how it begins, how long it lasts, and how it ends. */

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Fault as ProviderFault } from '../../stand-ins/server.ts'
import type { ClusterBroker } from '../../fixtures/engines/kafka-cluster.ts'
import { IN_PEACE, ROLLING_UPGRADE, type Part } from './history.ts'
import { makeLaterRelease } from '../versions/next-release.ts'
import { PROCESS_NAMES, type ChaosService, type ProcessName } from './service.ts'

/** Ends the fault; what it waits for is no part of the fault any more. */
type Mend = () => Promise<void>

export interface Fault {
  readonly name: string
  /** Empty: it breaks nothing. */
  readonly parts: readonly Part[]
  readonly lastsMs: number
  readonly begin: (service: ChaosService) => Promise<Mend>
}

const DEAD_MS = 20_000
const STOPPED_MS = 20_000
const RESUMED_FULL_MS = 5_000
const BURNERS_PER_PROCESSOR = 2
const REDIS_AWAY_MS = 8_000
const FACTS_AWAY_MS = 10_000
const API_STOPPED_MS = 8_000
const REDIS_HANGS_MS = 20_000
const PROVIDER_MS = 12_000
const ROLE_DEAD_MS = 2_000
const SLOW_MS = 1_500
const ORDERLY_MS = 30_000
const RESTARTS = 3
const UPGRADED_MS = 10_000

const done: Mend = async () => undefined

const BROKERS: readonly { readonly who: string; readonly find: (service: ChaosService) => Promise<ClusterBroker> }[] = [
  { who: 'the leader of installs', find: ({ cluster }) => cluster.leaderOf('installs') },
  { who: 'the coordinator of dispatch', find: ({ cluster }) => cluster.coordinatorOf('dispatch:installs') },
  {
    who: 'the coordinator of the GA4 workers',
    find: ({ cluster }) => cluster.coordinatorOf('deliver.ga4:deliver.ga4'),
  },
]

const brokerFaults: readonly Fault[] = BROKERS.flatMap(({ who, find }): readonly Fault[] => [
  {
    name: `broker killed (${who})`,
    parts: ['log'],
    lastsMs: DEAD_MS,
    begin: async (service) => {
      const broker = await find(service)
      await broker.kill()
      return () => startAgain(broker)
    },
  },
  {
    name: `broker stopped (${who})`,
    parts: ['log'],
    lastsMs: STOPPED_MS,
    begin: async (service) => {
      const broker = await find(service)
      broker.pause()
      return async () => broker.resume()
    },
  },
  {
    name: `broker restarted (${who})`,
    parts: ['log'],
    lastsMs: 0,
    begin: async (service) => {
      const broker = await find(service)
      await endInPeace(broker)
      return () => startAgain(broker)
    },
  },
])

async function endInPeace(broker: ClusterBroker): Promise<void> {
  process.kill(broker.pid(), 'SIGTERM')
  const untilMs = Date.now() + ORDERLY_MS
  while (broker.isRunning() && Date.now() < untilMs) await wait(50)
  await broker.kill()
}

/** Processes that want every processor, so that whatever goes on is late. Resolves with what ends them. */
function fillMachine(): () => void {
  const count = cpus().length * BURNERS_PER_PROCESSOR
  const burners = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }))
  return () => burners.forEach((burner) => void burner.kill('SIGKILL'))
}

/**
 * Each stopped broker leads some partitions, and its leadership moves while every process is late: what the log says about its ends
 * comes from several brokers, and the facts are far behind.
 */
const fullMachineFaults: readonly Fault[] = [
  ...(['activations', 'visits', 'installs'] as const).map((topic): Fault => ({
    name: `broker stopped on a full machine (the leader of ${topic})`,
    parts: ['log'],
    lastsMs: STOPPED_MS,
    begin: async ({ cluster }) => {
      const broker = await cluster.leaderOf(topic)
      const empty = fillMachine()
      broker.pause()
      return async () => {
        broker.resume()
        // Its old belief in its leadership lasts longest while it hardly gets any time.
        await wait(RESUMED_FULL_MS)
        empty()
      }
    },
  })),
  {
    name: 'broker stopped on a full machine and Redis emptied (the leader of activations)',
    parts: ['log', 'memory'],
    lastsMs: STOPPED_MS,
    begin: async ({ cluster, engines }) => {
      const broker = await cluster.leaderOf('activations')
      const empty = fillMachine()
      broker.pause()
      await wait(STOPPED_MS / 2)
      engines.redis.cli('flushall')
      return async () => {
        broker.resume()
        await wait(RESUMED_FULL_MS)
        empty()
      }
    },
  },
]

/** On a busy machine a broker may need longer than is waited for it. */
async function startAgain(broker: ClusterBroker): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await broker.restart()
    } catch (error) {
      if (tries === RESTARTS) throw error
    }
  }
}

const redisFaults: readonly Fault[] = [
  {
    name: 'Redis emptied',
    parts: ['memory'],
    lastsMs: 0,
    begin: async ({ engines }) => {
      engines.redis.cli('flushall')
      return done
    },
  },
  {
    name: 'Redis killed, started empty later',
    parts: ['memory'],
    lastsMs: REDIS_AWAY_MS,
    begin: async ({ engines }) => {
      await engines.redis.kill()
      return () => engines.redis.restart()
    },
  },
  {
    name: 'Redis killed, started empty at once',
    parts: ['memory'],
    lastsMs: 0,
    begin: async ({ engines }) => {
      await engines.redis.kill()
      return () => engines.redis.restart()
    },
  },
]

/** Nothing is lost: connections stay open, and nothing answers. */
const hangingFaults: readonly Fault[] = [
  ...(['api with spool', 'api without spool'] as const).map((name): Fault => ({
    name: `${name} hangs`,
    parts: ['role'],
    lastsMs: API_STOPPED_MS,
    begin: async (service) => {
      const { pid } = service.program(name)
      process.kill(pid, 'SIGSTOP')
      return async () => void process.kill(pid, 'SIGCONT')
    },
  })),
  {
    name: 'Redis hangs, and an api is killed meanwhile',
    parts: ['memory'],
    lastsMs: REDIS_HANGS_MS,
    begin: async (service) => {
      const { redis } = service.engines
      redis.freeze()
      await wait(REDIS_HANGS_MS / 2)
      await service.end('api without spool', 'SIGKILL')
      return async () => {
        redis.thaw()
        await service.start('api without spool')
      }
    },
  },
]

const factsFaults: readonly Fault[] = [
  {
    name: 'ClickHouse killed',
    parts: ['facts'],
    lastsMs: FACTS_AWAY_MS,
    begin: async ({ engines }) => {
      await engines.clickhouse.kill()
      return () => engines.clickhouse.restart()
    },
  },
  {
    name: `ClickHouse slow (${SLOW_MS} ms)`,
    parts: ['facts'],
    lastsMs: FACTS_AWAY_MS,
    begin: async ({ links }) => {
      await links.delay('clickhouse', SLOW_MS)
      return () => links.delay('clickhouse', 0)
    },
  },
]

/** Facts lag and Redis has forgotten: what was just done is known to the log alone. */
const togetherFaults: readonly Fault[] = [
  {
    name: 'both facts-writers killed and Redis emptied',
    parts: ['memory'],
    lastsMs: FACTS_AWAY_MS,
    begin: async (service) => {
      const names = ['facts-writer 1', 'facts-writer 2'] as const
      await Promise.all(names.map((name) => service.end(name, 'SIGKILL')))
      await wait(FACTS_AWAY_MS / 2)
      service.engines.redis.cli('flushall')
      return async () => void (await Promise.all(names.map((name) => service.start(name))))
    },
  },
  {
    name: 'a dispatch killed and Redis emptied',
    parts: ['memory'],
    lastsMs: ROLE_DEAD_MS,
    begin: async (service) => {
      service.engines.redis.cli('flushall')
      await service.end('dispatch 1', 'SIGKILL')
      return () => service.start('dispatch 1')
    },
  },
  {
    name: 'ClickHouse killed and Redis emptied',
    parts: ['memory'],
    lastsMs: FACTS_AWAY_MS,
    begin: async ({ engines }) => {
      await engines.clickhouse.kill()
      await wait(FACTS_AWAY_MS / 2)
      engines.redis.cli('flushall')
      return () => engines.clickhouse.restart()
    },
  },
]

const PROVIDER_FAULTS: Readonly<Record<string, ProviderFault>> = {
  'answer 500': { kind: 'status', status: 500 },
  'answer 429': { kind: 'status', status: 429, headers: { 'retry-after': '2' } },
  hang: { kind: 'hang' },
}

const providerFaults: readonly Fault[] = Object.entries(PROVIDER_FAULTS).map(([name, fault]) => ({
  name: `providers ${name}`,
  parts: ['provider'],
  lastsMs: PROVIDER_MS,
  begin: async ({ ga4, meta }) => {
    for (const one of [ga4, meta]) one.fail('*', fault)
    return async () => [ga4, meta].forEach((one) => one.fail('*', null))
  },
}))

const roleFaults: readonly Fault[] = PROCESS_NAMES.filter((name) => !name.endsWith(' 2')).flatMap((name) => [
  roleFault(name, 'SIGKILL'),
  roleFault(name, 'SIGTERM'),
])

function roleFault(name: ProcessName, signal: 'SIGKILL' | 'SIGTERM'): Fault {
  return {
    name: signal === 'SIGKILL' ? `${name} killed` : `${name} ${IN_PEACE}`,
    parts: ['role'],
    lastsMs: ROLE_DEAD_MS,
    begin: async (service) => {
      await service.end(name, signal)
      return () => service.start(name)
    },
  }
}

/** Each process is replaced by one of a later release, one after the other, and later each by one of ours again. */
const releaseFault: Fault = {
  name: ROLLING_UPGRADE,
  parts: ['role'],
  lastsMs: 0,
  begin: async (service) => {
    const release = await mkdtemp(join(service.folder, 'later-release-'))
    await makeLaterRelease(release)
    await replaceAll(service, release)
    await wait(UPGRADED_MS)
    await replaceAll(service)
    await rm(release, { recursive: true, force: true })
    return done
  },
}

async function replaceAll(service: ChaosService, release?: string): Promise<void> {
  for (const name of PROCESS_NAMES) {
    await service.end(name, 'SIGTERM')
    await service.start(name, release)
  }
}

/** How long an install takes on this machine, under this load, if nothing is broken. */
const noFault: Fault = { name: 'nothing', parts: [], lastsMs: 0, begin: async () => done }

export const FAULTS: readonly Fault[] = [
  noFault,
  ...brokerFaults,
  ...fullMachineFaults,
  ...redisFaults,
  ...hangingFaults,
  ...factsFaults,
  ...togetherFaults,
  ...providerFaults,
  ...roleFaults,
  releaseFault,
]
