/** The HotState contract on LMDB. */

import type { LmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'

import type { HotStateHarness } from './hot-state.contract.ts'
import { hotStateContract } from './hot-state.contract.ts'
import { sessionContract } from './session.contract.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder, testClock } from './lmdb-harness.ts'

async function openHarness(): Promise<HotStateHarness> {
  const folder = await temporaryFolder()
  const clock = testClock()
  let environment: LmdbEnvironment
  let state: LmdbHotState
  const open = async (): Promise<void> => {
    environment = await openTestEnvironment(folder, clock.nowMs)
    state = await lmdbHotState(environment, { sweepEveryMs: Infinity })
  }
  const close = async (): Promise<void> => {
    await state.close()
    await environment.close()
  }
  await open()
  return {
    get state() {
      return state
    },
    nowMs: clock.nowMs,
    setNowMs: clock.set,
    stored: async () => JSON.stringify(environment.openTable('hot').range({ start: '', end: '\uffff', limit: 10_000 })),
    reopen: () => close().then(open),
    close: () => close().then(() => deleteFolder(folder)),
  }
}

hotStateContract('LMDB', openHarness)
sessionContract('LMDB', openHarness)
