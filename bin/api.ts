/** `whencectl api`: the collection endpoints as a separate process; any number may run. */

import { createRegistry } from '../runtime/metrics.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import { reportCatalog } from './wiring/catalog-report.ts'
import { openCatalog } from './wiring/cluster.ts'
import { engines } from './wiring/engines.ts'
import { runProgram } from './wiring/process.ts'
import { keyringOf, serveApi, startMetrics } from './wiring/serve-api.ts'
import { version } from './wiring/version.ts'

export function api({ settings }: RunOutcome, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('api', settings, async ({ logger, lifecycle }) => {
    const nowMs = Date.now
    const parts = { settings, logger, lifecycle, nowMs }
    const keys = keyringOf(settings, { mayCreate: false })
    const registry = createRegistry('api', version())
    const catalog = await openCatalog({ ...parts, registry, env }, 'api')
    const open = engines(parts)
    // Hook, SDK and configurations need no Kafka; what must be durable is refused until it is there, or goes to the spool.
    const eventLog = await open.eventLog({ hasSpool: true, mayWait: true })
    const hotState = await open.hotState()
    const { facts } = await open.facts()
    reportCatalog({ catalog, eventLog, nowMs })
    const probes = await startMetrics(parts, registry)
    const server = await serveApi({
      ...parts,
      keys,
      catalog,
      eventLog,
      hotState,
      facts,
      registry,
      version: version(),
      healthOfParts: () => ({}),
      tellStatus: probes.tellStatus,
    })
    probes.ready()
    logger.info({ listen: `${settings.listen.host}:${server.port}`, baseUrl: settings.baseUrl }, 'collecting')
  })
}
