/** The service as many processes as a system under end-to-end tests, with the example website and a stand-in for GA4. */

import { startExampleSite } from '../../../bin/example-site.ts'
import type { Explanation } from '../../../bin/tools/explain/explanation.ts'
import { PLAN_LIMITS } from '../../../domain/limits.ts'
import { monthOf } from '../../../domain/collection/rate.ts'
import { redisHotState } from '../../../ports/hot-state/redis/redis.ts'
import { openCatalogFolder } from '../../../runtime/catalog/source.ts'
import { createLogger } from '../../../runtime/logger.ts'
import { whencectl } from '../../bin/support/run-whencectl.ts'
import { startDistributed } from '../../../fixtures/service/distributed.ts'
import { placeIn, startEngines, type Engines } from '../../../fixtures/engines/engines.ts'
import { kafkaJars } from '../../../fixtures/engines/kafka.ts'
import { freePort } from '../../../fixtures/engines/free-port.ts'
import { manifestsFor } from './embedded-system.ts'
import { makeGate } from './gate.ts'
import type { System, SystemOptions } from './system.ts'

const ORGANIZATION = 'acme'
const WEBSITE = 'acme-dev'
const USAGE_AT_ONCE = 100
/** The machine may be busy, and no caller waits for these. */
const USAGE_DEADLINE_MS = 20_000

let shared: Promise<Engines> | null = null
let places = 0

export async function startDistributedSystem({ plan, isOverQuota = false }: SystemOptions): Promise<System> {
  const engines = await placeInShared()
  const gate = await makeGate()
  const sitePort = await freePort()
  const envOf = { api: { WHENCE_BASE_URL: gate.url } }
  const service = await startDistributed({ engines, manifests: manifestsFor(plan, sitePort), envOf })
  if (isOverQuota) await useUpQuota(engines.env.WHENCE_HOT_STATE, PLAN_LIMITS[plan].trackedEventsPerMonth)
  const port = Number(new URL(service.url).port)
  await gate.open(port)
  const logger = createLogger({ program: 'test', level: 'error' })
  const catalog = await openCatalogFolder({ folder: service.manifests, env: {}, logger, nowMs: Date.now })
  const site = await startExampleSite({
    listen: { host: '127.0.0.1', port: sitePort },
    catalog: catalog.current,
    baseUrl: gate.url,
    ga4Url: service.ga4.url,
  })
  const { WHENCE_EVENT_LOG, WHENCE_FACTS } = engines.env
  const tool = (...words: readonly string[]) => runTool(words, { WHENCE_EVENT_LOG, WHENCE_FACTS })
  return {
    gate,
    reopen: () => gate.open(port),
    website: WEBSITE,
    measurementId: 'G-TEST000001',
    pageUrl: site.pageUrl,
    command: site.command,
    drain: service.drain,
    explain: async (eventId) => JSON.parse(await tool('explain', eventId, '--json')) as Explanation,
    tool,
    ga4Hits: () => service.ga4.requests(),
    counts: async () => ({ ...(await service.facts.run('counts', {}))[0] }),
    advance: service.advance,
    stop: async () => {
      await site.close()
      await catalog.close()
      await gate.close()
      await service.stop()
    },
  }
}

/** Topics, a Redis database and a ClickHouse database of one's own on the engines that are shared. */
export async function placeInShared(): Promise<Engines> {
  shared ??= startShared()
  return placeIn(await shared, (places += 1))
}

let users = 0

/**
 * Says, while a suite is described, that its systems share engines with those of other suites: the last one ends them.
 */
export function sharesEngines(): void {
  users += 1
  after(async () => {
    users -= 1
    if (users === 0) await endSharedEngines()
  })
}

// If only some of the suites are run, none of them is the last.
after(endSharedEngines)

async function endSharedEngines(): Promise<void> {
  const ending = shared
  shared = null
  await (await ending)?.stop()
}

async function startShared(): Promise<Engines> {
  const jars = await kafkaJars()
  if (jars === null) throw new Error('the Kafka broker cannot be had: sh test/install-tools.sh')
  return startEngines({ jars })
}

/** Counts a month's events of a website, before the service gets any request. */
async function useUpQuota(redisUrl: string, quota: number): Promise<void> {
  const hotState = await redisHotState(redisUrl, { whenAway: 'reject', times: { deadlineMs: USAGE_DEADLINE_MS } })
  const usage = { organization: ORGANIZATION, month: monthOf(Date.now()), quota: null }
  for (let used = 0; used < quota; used += USAGE_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(USAGE_AT_ONCE, quota - used) }, () => hotState.addUsage(usage)))
  }
  await hotState.close()
}

async function runTool(words: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { status, stdout, stderr } = await whencectl(words, env)
  if (status !== 0) throw new Error(`whencectl ${words.join(' ')} ended with ${String(status)}: ${stderr}`)
  return stdout
}
