/** A worker in a process of its own, to be killed: opens the folder, says `ready`, and delivers until it is ended. */

import { ga4 } from '../../../delivery/providers/ga4.ts'
import { startWorker } from '../../../delivery/worker.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { catalogOf, destinationOf } from './builders.ts'
import { credentialsOf, openStore } from './harness.ts'

const [folder, baseUrl] = process.argv.slice(2)
if (folder === undefined || baseUrl === undefined) throw new Error('usage: worker-child FOLDER BASE_URL')

const store = await openStore(folder, Date.now)
const destinations = [destinationOf()]
const worker = await startWorker({
  provider: ga4,
  baseUrl,
  eventLog: store.log,
  hotState: store.hotState,
  catalog: () => catalogOf(destinations),
  credentials: () => credentialsOf(destinations),
  nowMs: Date.now,
  random: Math.random,
  logger: SILENT_LOGGER,
})
process.stdout.write('ready')
process.on('SIGTERM', () => {
  void worker
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
})
