/**
 * HotState on LMDB: every verb runs within one turn of the event loop on memory and stored pages, so verbs are atomic.
 *
 * Verbs resolve before their writes are stored: what a crash loses is on the log, and the next start restores it from there.
 */

import { every } from '../../../common/every.ts'
import type { ReceiptStanding } from '../../../domain/receipt-states.ts'
import type { LmdbEnvironment } from '../../shared/lmdb/environment.ts'

import type { HotState } from '../hot-state.ts'
import { memoryLeases } from '../leases.ts'
import { openCounters } from './counters.ts'
import { openInstalls } from './installs.ts'
import { openIssued } from './issued.ts'
import { openReceipts } from './receipts.ts'
import { openSessions } from './sessions.ts'

export interface LmdbHotStateOptions {
  /** Longest time that counts, answers and issued receipts stay in memory only. */
  readonly saveEveryMs?: number
  /** Pause between two deletions of expired data; `Infinity` disables them. */
  readonly sweepEveryMs?: number
  /** Called if such a deletion fails, or what is in memory could not be stored at the end. */
  readonly onFailure?: (error: unknown) => void
}

export interface LmdbHotState extends HotState {
  /** Deletes everything that has expired; also runs on its own. */
  sweep(): Promise<void>
}

const DEFAULTS = { saveEveryMs: 500, sweepEveryMs: 60_000, onFailure: (): void => undefined }
/** Per kind and transaction: small, so that appends run in between. */
const SWEEP_LIMIT = 1_000
/** Larger, since one index entry lists many installs; must not be less than SWEEP_LIMIT. */
const INSTALL_SWEEP_LIMIT = 5_000

/** Opens the hot state in an environment; close it before the environment. */
export async function lmdbHotState(
  environment: LmdbEnvironment,
  options: LmdbHotStateOptions = {},
): Promise<LmdbHotState> {
  const { saveEveryMs, sweepEveryMs, onFailure } = { ...DEFAULTS, ...options }
  const { nowMs, committer } = environment
  const table = environment.openTable('hot')
  const leases = memoryLeases(nowMs)
  const issued = openIssued(table, nowMs, () => committer.durable())
  const receipts = openReceipts(table, issued, nowMs)
  const installs = openInstalls(table, leases, nowMs)
  const counters = openCounters(table, nowMs)
  const sessions = openSessions(table, nowMs, () => committer.durable())
  const { save, saveSoon } = saver([counters, installs, issued], saveEveryMs)
  const flush = async (): Promise<void> => {
    save()
    await committer.durable()
  }
  const sweep = async (signal?: AbortSignal): Promise<void> => {
    leases.sweep()
    // Sweeping finds only what is stored.
    await flush()
    let removed = 0
    do {
      removed = installs.sweep(INSTALL_SWEEP_LIMIT)
      for (const part of [receipts, issued, counters, sessions]) removed += part.sweep(SWEEP_LIMIT)
      if (removed > 0) await committer.durable()
    } while (removed >= SWEEP_LIMIT && signal?.aborted !== true)
  }
  const sweeper = every(sweepEveryMs, sweep, { firstMs: sweepEveryMs, onFailure })

  return {
    putVisit: async (receipt) => saveSoon(issued.put(receipt)),
    activate: async (receipt) => receipts.activate(receipt),
    receiptStates: async (asked) => asked.map((receipt) => ofOnlyProcess(receipts.stateOf(receipt))),
    learn: async (receipt, state) => saveSoon(receipts.learn(receipt, state)),
    claimInstall: async (claim) => installs.claim(claim),
    keepInstall: async (claim, decision) => saveSoon(installs.keep(claim, decision)),
    settleInstall: async (settlement) => saveSoon(installs.settle(settlement)),
    decideInstall: async (decision) => saveSoon(installs.decide(decision)),
    // What a crash loses is restored from the log's newest records before requests are served.
    forgotten: async () => null,
    restored: async () => undefined,
    releaseInstall: async (claim) => installs.release(claim),
    countHits: async (hits) => saveSoon(counters.countHits(hits)),
    returnHits: async (hits, agoMs) => saveSoon(counters.returnHits(hits, agoMs)),
    addUsage: async (usage) => saveSoon(counters.addUsage(usage)),
    returnUsage: async (usage) => saveSoon(counters.returnUsage(usage)),
    readUsage: async (organization, month) => counters.readUsage(organization, month),
    raiseUsage: async (usage) => saveSoon(counters.raiseUsage(usage)),
    claimJob: async (jobId, owner, leaseMs) => leases.take(`job/${jobId}`, owner, leaseMs),
    releaseJob: async (jobId, owner) => leases.release(`job/${jobId}`, owner),
    ...sessions.verbs,
    health: () => ({ isReachable: committer.unavailability === null, isShared: true }),
    flush,
    sweep: () => sweep(),
    async close() {
      await sweeper.close()
      await flush().catch(onFailure)
    },
  }
}

/** No other process can know that a receipt was active. */
function ofOnlyProcess(standing: ReceiptStanding): ReceiptStanding {
  return standing === 'revoked_unseen' ? 'revoked' : standing
}

interface DeferredWrites {
  readonly hasUnsaved: () => boolean
  readonly save: () => void
}

/** Saves what is only in memory; `saveSoon` returns its argument. */
function saver(
  kept: readonly DeferredWrites[],
  saveEveryMs: number,
): { save: () => void; saveSoon: <T>(outcome: T) => T } {
  let timer: NodeJS.Timeout | null = null
  const save = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    for (const part of kept) part.save()
  }
  const saveSoon = <T>(outcome: T): T => {
    if (timer === null && kept.some((part) => part.hasUnsaved())) timer = setTimeout(save, saveEveryMs)
    return outcome
  }
  return { save, saveSoon }
}
