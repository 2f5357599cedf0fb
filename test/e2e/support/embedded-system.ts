/** The embedded service as a system under end-to-end tests, with the example website and a stand-in for GA4. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startExampleSite } from '../../../bin/example-site.ts'
import type { Explanation } from '../../../bin/tools/explain/explanation.ts'
import { PLAN_LIMITS } from '../../../domain/limits.ts'
import { monthOf } from '../../../domain/collection/rate.ts'
import { lmdbHotState } from '../../../ports/hot-state/lmdb/lmdb.ts'
import { openLmdb } from '../../../ports/shared/lmdb/environment.ts'
import { whencectl } from '../../bin/support/run-whencectl.ts'
import { freePort } from '../../../fixtures/engines/free-port.ts'
import { MANIFESTS, startTestService } from '../../../fixtures/service/service.ts'
import { makeGate } from './gate.ts'
import type { System, SystemOptions } from './system.ts'

const ORGANIZATION = 'acme'
const WEBSITE = 'acme-dev'

export async function startEmbeddedSystem({ plan, isOverQuota = false }: SystemOptions): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-e2e-'))
  if (isOverQuota) await useUpQuota(folder, PLAN_LIMITS[plan].trackedEventsPerMonth)
  const gate = await makeGate()
  const sitePort = await freePort()
  const service = await startTestService({
    folder,
    manifests: manifestsFor(plan, sitePort),
    env: { WHENCE_BASE_URL: gate.url },
  })
  await gate.open(service.port)
  const site = await startExampleSite({
    listen: { host: '127.0.0.1', port: sitePort },
    catalog: service.catalog.current,
    baseUrl: gate.url,
    ga4Url: service.ga4.url,
  })
  const tool = (...words: readonly string[]) => runTool([...words, '--data', join(folder, 'data')])
  return {
    gate,
    reopen: () => gate.open(service.port),
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
      await gate.close()
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The tests' manifests with this plan, and the example website at this port. */
export function manifestsFor(plan: string, sitePort: number): Readonly<Record<string, string>> {
  const text = MANIFESTS['acme.yaml'] ?? ''
  const filled = text.replace('plan: Standard', `plan: ${plan}`).replace('localhost:8081', `localhost:${sitePort}`)
  return { 'acme.yaml': filled }
}

/** Counts what a month of a website would: the service that starts on this folder finds its quota used up. */
async function useUpQuota(folder: string, quota: number): Promise<void> {
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(join(folder, 'data', 'lmdb'), { onFatal, nowMs: Date.now })
  const hotState = await lmdbHotState(environment)
  for (let used = 0; used < quota; used++) {
    await hotState.addUsage({ organization: ORGANIZATION, month: monthOf(Date.now()), quota: null })
  }
  await hotState.close()
  await environment.close()
}

async function runTool(words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await whencectl(words)
  if (status !== 0) throw new Error(`whencectl ${words.join(' ')} ended with ${String(status)}: ${stderr}`)
  return stdout
}
