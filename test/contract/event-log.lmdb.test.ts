/** The EventLog contract on LMDB. */

import { expect } from 'chai'

import type { LmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'

import type { EventLogBounds, EventLogHarness } from './event-log.contract.ts'
import { IN_HAND_MS } from '../../ports/event-log/event-log.ts'
import { eventLogContract } from './event-log.contract.ts'
import { until } from '../../fixtures/until.ts'
import { deleteFolder, holdWriteLock, openTestEnvironment, temporaryFolder, testClock } from './lmdb-harness.ts'

eventLogContract(
  'LMDB',
  async ({ inHandMs = IN_HAND_MS, ...bounds }: EventLogBounds = {}): Promise<EventLogHarness> => {
    const folder = await temporaryFolder()
    const clock = testClock()
    let environment: LmdbEnvironment
    let log: LmdbEventLog
    const open = async (): Promise<void> => {
      environment = await openTestEnvironment(folder, clock.nowMs)
      log = await lmdbEventLog(environment, {
        bounds,
        pace: { retryMs: { first: 1, most: 5 }, recheckMs: 5, inHandMs },
        keeping: { trimEveryMs: Infinity },
      })
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
  },
)

describe('the event log on LMDB', () => {
  it('says that passed entries are not deleted any more', async () => {
    const folder = await temporaryFolder()
    let isBroken = false
    const nowMs = (): number => {
      if (isBroken) throw new Error('it cannot be read')
      return Date.now()
    }
    const environment = await openTestEnvironment(folder, nowMs)
    const failures: unknown[] = []
    const log = await lmdbEventLog(environment, {
      keeping: { trimEveryMs: 1 },
      onTrimFailure: (error) => void failures.push(error),
    })
    try {
      await log.append('activity', [{ key: 'a', value: 'b' }])
      expect(failures).to.deep.equal([])
      isBroken = true
      await until(() => failures.length > 0)
      expect(failures[0]).to.have.property('message', 'it cannot be read')
    } finally {
      isBroken = false
      await log.close()
      await environment.close()
      await deleteFolder(folder)
    }
  })
})
