/** `whencectl api`: the collection endpoints as a separate process; any number may run. */

import { createKeyring } from '../runtime/keyring.ts'
import type { RunOutcome } from '../runtime/settings/settings.ts'
import { reportCatalog } from './wiring/catalog-report.ts'
import { openCatalog } from './wiring/cluster.ts'
import { openClickHouseFacts, openKafka, openRedis } from './wiring/engine-servers.ts'
import { masterSecrets } from './wiring/master-secrets.ts'
import { startMetrics } from './wiring/probes.ts'
import { runProgram } from './wiring/process.ts'
import { serveApi } from './wiring/serve-api.ts'

export function api({ settings }: RunOutcome<'api'>, env: NodeJS.ProcessEnv): Promise<number> {
  return runProgram('api', settings, async (own) => {
    const { logger, nowMs } = own
    const keys = createKeyring(masterSecrets(settings, { mayCreate: false }))
    const catalog = await openCatalog(own, settings, { program: 'api', holder: null, env })
    // Hook, SDK and configurations need no Kafka; what must be durable is refused until it is there, or goes to the spool.
    const spool = settings.spool === null ? null : { folder: settings.spool, megabytes: settings.spoolMegabytes }
    const eventLog = await openKafka(own, settings.eventLog, { mayWait: true, spool })
    const hotState = await openRedis(own, settings.hotState)
    const facts = await openClickHouseFacts(own, settings.facts)
    reportCatalog({ catalog, eventLog, nowMs })
    const probes = await startMetrics(own, settings.metricsListen)
    const server = await serveApi(own, settings, { keys, catalog, stores: { eventLog, hotState, facts }, probes })
    probes.ready()
    logger.info({ listen: `${settings.listen.host}:${server.port}`, baseUrl: settings.baseUrl }, 'collecting')
  })
}
