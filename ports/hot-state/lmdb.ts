/**
 * HotState on LMDB: every verb runs within one event turn on memory and stored pages, so verbs are atomic by themselves.
 *
 * Verbs resolve before their writes are stored (a state may be forgotten by a crash; the log brings it back), except
 * `settleInstall`, whose answer is on disk when it resolves.
 */

import { LIMITS } from '../../domain/limits.ts'
import type { LmdbEnvironment } from '../lmdb/environment.ts'

import type { HotState } from './hot-state.ts'
import { memoryLeases } from './leases.ts'
import { openCounters } from './lmdb-counters.ts'
import { openInstalls } from './lmdb-installs.ts'
import { openReceipts } from './lmdb-receipts.ts'

export interface LmdbHotStateOptions {
  /** Longest time that counts stay in memory alone. */
  readonly saveCountsMs?: number
  /** After this long `settleInstall` rejects; its answer may still become durable. */
  readonly settleDeadlineMs?: number
  /** Pause between two deletions of what has expired; 0 deletes nothing. */
  readonly sweepEveryMs?: number
}

export interface LmdbHotState extends HotState {
  /** Deletes everything that has expired; runs by itself too. */
  sweep(): Promise<void>
}

const DEFAULTS = { saveCountsMs: 500, settleDeadlineMs: LIMITS.appendDeadlineMs, sweepEveryMs: 60_000 }
/** Per kind and transaction: small, so that appends get their turn in between. */
const SWEEP_LIMIT = 1_000

/** Opens the hot state in an environment; close it before the environment. */
export async function lmdbHotState(
  environment: LmdbEnvironment,
  options: LmdbHotStateOptions = {},
): Promise<LmdbHotState> {
  const { saveCountsMs, settleDeadlineMs, sweepEveryMs } = { ...DEFAULTS, ...options }
  const { nowMs, committer } = environment
  const table = environment.openTable('hot')
  const leases = memoryLeases(nowMs)
  const receipts = openReceipts(table, nowMs)
  const installs = openInstalls(table, leases, nowMs)
  const counters = openCounters(table, nowMs)

  let saveTimer: NodeJS.Timeout | null = null
  const save = (): void => {
    if (saveTimer !== null) clearTimeout(saveTimer)
    saveTimer = null
    counters.save()
  }
  const saveSoon = <T>(outcome: T): T => {
    if (counters.hasUnsaved()) saveTimer ??= setTimeout(save, saveCountsMs)
    return outcome
  }
  const sweep = async (): Promise<void> => {
    leases.sweep()
    save()
    // What is deleted is found among what is stored.
    await committer.durable()
    let removed = 0
    do {
      removed = receipts.sweep(SWEEP_LIMIT) + installs.sweep(SWEEP_LIMIT) + counters.sweep(SWEEP_LIMIT)
      if (removed > 0) await committer.durable()
    } while (removed >= SWEEP_LIMIT)
  }
  const sweeper =
    sweepEveryMs > 0 ? setInterval(() => void sweep().catch(() => undefined), sweepEveryMs).unref() : undefined

  return {
    putVisit: async (receipt) => receipts.put(receipt),
    activate: async (receipt) => receipts.activate(receipt),
    receiptStates: async (asked) => asked.map((receipt) => receipts.stateOf(receipt)),
    learn: async (receipt, state) => receipts.learn(receipt, state),
    claimInstall: async (claim) => installs.claim(claim),
    async settleInstall(settlement) {
      if (installs.settle(settlement)) await committer.durableWithin(settleDeadlineMs)
    },
    releaseInstall: async (claim) => installs.release(claim),
    countHits: async (hits) => saveSoon(counters.countHits(hits)),
    addUsage: async (usage) => saveSoon(counters.addUsage(usage)),
    returnUsage: async (usage) => saveSoon(counters.returnUsage(usage)),
    readUsage: async (organization, month) => counters.readUsage(organization, month),
    claimJob: async (jobId, owner, leaseMs) => leases.take(`job/${jobId}`, owner, leaseMs),
    releaseJob: async (jobId, owner) => leases.release(`job/${jobId}`, owner),
    health: () => ({ isReachable: committer.unavailability === null, isShared: true }),
    sweep,
    async close() {
      clearInterval(sweeper)
      save()
      await committer.durable().catch(() => undefined)
    },
  }
}
