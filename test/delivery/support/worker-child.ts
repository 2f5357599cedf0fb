/**
 * Workers for GA4 and Meta in a process of their own, to be killed: opens the log, says `ready`, and delivers until it is
 * ended. `node worker-child.ts FOLDER GA4_URL META_URL [KAFKA_URL]`
 */

import { flushCompileCache } from 'node:module'

import { destinationKey } from '../../../domain/catalog.ts'
import { ga4 } from '../../../delivery/providers/ga4.ts'
import { meta } from '../../../delivery/providers/meta.ts'
import { startWorker } from '../../../delivery/worker/worker.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { AD_DESTINATIONS } from '../../../fixtures/delivery/ad-install.ts'
import { catalogOf, destinationOf, WEBSITE } from '../../../fixtures/delivery/builders.ts'
import { credentialsOf } from '../../../fixtures/delivery/harness.ts'
import { openLoadStore } from './kill-load.ts'

const [folder = '', ga4Url = '', metaUrl = '', kafkaUrl = null] = process.argv.slice(2)

const store = await openLoadStore(folder, kafkaUrl)
const catalog = catalogOf([destinationOf(), AD_DESTINATIONS.meta])
const metaKey = destinationKey({ organization: 'acme', website: WEBSITE }, AD_DESTINATIONS.meta.id)
const credentials = new Map([...credentialsOf([destinationOf()]), [metaKey, { accessToken: 'token' }]])
const common = {
  eventLog: store.log,
  hotState: store.hotState,
  catalog: { current: () => catalog, credentials: () => credentials },
  nowMs: Date.now,
  random: Math.random,
  telemetry: { logger: SILENT_LOGGER },
}
const workers = await Promise.all([
  startWorker({ provider: ga4, baseUrl: ga4Url }, common),
  startWorker({ provider: meta, baseUrl: metaUrl }, common),
])
// Who is killed would never leave it for the next.
flushCompileCache()
process.stdout.write('ready')
process.on('SIGTERM', () => {
  void Promise.all(workers.map((worker) => worker.close()))
    .then(() => store.close())
    .then(() => process.exit(0))
})
