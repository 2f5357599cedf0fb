/** The EventLog contract on LMDB. */

import type { LmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'

import type { EventLogBounds, EventLogHarness } from './event-log.contract.ts'
import { eventLogContract } from './event-log.contract.ts'
import { deleteFolder, holdWriteLock, openTestEnvironment, temporaryFolder, testClock } from './lmdb-harness.ts'

eventLogContract('LMDB', async (bounds: EventLogBounds = {}): Promise<EventLogHarness> => {
  const folder = await temporaryFolder()
  const clock = testClock()
  let environment: LmdbEnvironment
  let log: LmdbEventLog
  const open = async (): Promise<void> => {
    environment = await openTestEnvironment(folder, clock.nowMs)
    log = await lmdbEventLog(environment, { ...bounds, retryMs: { first: 1, most: 5 }, recheckMs: 5, trimEveryMs: 0 })
  }
  const close = async (): Promise<void> => {
    await log.close()
    await environment.close()
  }
  await open()
  return {
    get log() {
      return log
    },
    nowMs: clock.nowMs,
    advance: async (ms) => clock.set(clock.nowMs() + ms),
    reopen: () => close().then(open),
    stall: () => holdWriteLock(folder),
    close: () => close().then(() => deleteFolder(folder)),
  }
})
