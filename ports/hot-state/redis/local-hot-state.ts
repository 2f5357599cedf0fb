/**
 * The state of one process while Redis is unreachable: every verb, in bounded memory, for this process only.
 *
 * Limits have their usual sizes, but per process. Only receipt states that are final or were just seen are returned;
 * anything else is `unknown`, so that the caller reads Facts and calls `learn`.
 */

import type { ReceiptStanding } from '../../../domain/receipt-states.ts'
import type {
  ClaimOutcome,
  IssuedReceipt,
  Predecessor,
  ReceiptRef,
  UsageOutcome,
  UsageMonth,
  UsageRequest,
  ReceiptVerbs,
  UsageVerbs,
  InstallVerbs,
  HitVerbs,
  JobVerbs,
  LossVerbs,
} from '../hot-state.ts'
import { memoryLeases } from '../leases.ts'
import { openCounters } from '../lmdb/counters.ts'
import { openInstalls } from '../lmdb/installs.ts'
import { receiptName, unlessOver, type Issued, type IssuedReceipts } from '../lmdb/issued.ts'
import { openReceipts } from '../lmdb/receipts.ts'
import { memoryTable } from './memory.ts'
import { BoundedMap } from '../../../common/bounded-map.ts'

const MAX_RECEIPTS = 20_000
/** Values, of which an event has one or two: about 60 MB. */
const MAX_INSTALLS = 100_000
const MAX_DAY_COUNTS = 50_000
const MAX_USAGES = 20_000
/** About how long a record takes to reach Facts, with a margin: until then this process trusts what it saw itself. */
const TRUST_MS = 5_000
const TIDY_EVERY_MS = 1_000

/** Records what passed between this process and Redis, in case Redis becomes unreachable next. */
interface NotedReceipts extends ReceiptVerbs {
  noteIssued(receipt: IssuedReceipt): void
  noteActive(receipt: ReceiptRef, revoked: Predecessor): void
}

interface NotedUsage extends UsageVerbs {
  noteUsage(usage: UsageRequest, used: number): void
}

export interface LocalHotState extends NotedReceipts, NotedUsage, InstallVerbs, HitVerbs, JobVerbs, LossVerbs {}

export function localHotState(nowMs: () => number): LocalHotState {
  const leases = memoryLeases(nowMs)
  const installs = openInstalls(memoryTable(MAX_INSTALLS), leases, nowMs)
  const counters = openCounters(memoryTable(MAX_DAY_COUNTS), nowMs)
  let tidiedAtMs = nowMs()
  const tidied = <T>(outcome: T): T => {
    if (nowMs() - tidiedAtMs < TIDY_EVERY_MS) return outcome
    tidiedAtMs = nowMs()
    leases.sweep()
    counters.save()
    // Until then they are in a list without a bound.
    installs.save()
    return outcome
  }
  return {
    ...receiptsInMemory(nowMs),
    ...usageVerbs(),
    claimInstall: async (claim) => tidied(unsure(installs.claim(claim))),
    keepInstall: async (claim, decision) => installs.keep(claim, decision),
    async settleInstall(settlement) {
      installs.settle(settlement)
    },
    decideInstall: async (decision) => installs.decide(decision),
    releaseInstall: async (claim) => installs.release(claim),
    forgotten: async () => ({ generation: 'alone', sinceMs: null, losses: '' }),
    restored: async () => undefined,
    countHits: async (hits) => tidied(counters.countHits(hits)),
    returnHits: async (hits, agoMs) => counters.returnHits(hits, agoMs),
    claimJob: async (jobId, owner, leaseMs) => tidied(leases.take(`job/${jobId}`, owner, leaseMs)),
    releaseJob: async (jobId, owner) => leases.release(`job/${jobId}`, owner),
  }
}

/** Another process may know what this one does not. */
function unsure(outcome: ClaimOutcome): ClaimOutcome {
  if (outcome.kind !== 'first') return outcome
  const { installation } = outcome
  return { ...outcome, installation: installation.kind === 'none' ? { kind: 'unknown' } : installation, isNew: false }
}

function receiptsInMemory(nowMs: () => number): NotedReceipts {
  const issued = issuedInMemory(nowMs)
  const receipts = openReceipts(memoryTable(MAX_RECEIPTS), issued, nowMs)
  const seenAtMs = new BoundedMap<string, number>(MAX_RECEIPTS)
  const nameOf = ({ organization, website, visitId, issuedAtMs }: ReceiptRef): string =>
    `${organization}/${website}/${visitId}/${issuedAtMs}`
  const see = (receipt: ReceiptRef): void => seenAtMs.set(nameOf(receipt), nowMs())
  const isFresh = (receipt: ReceiptRef): boolean => nowMs() - (seenAtMs.get(nameOf(receipt)) ?? 0) < TRUST_MS
  const noteIssued = (receipt: IssuedReceipt): void => {
    issued.put(receipt)
    see(receipt)
  }
  return {
    noteIssued,
    noteActive(receipt, revoked) {
      receipts.learn({ ...receipt, previous: revoked }, 'active')
      see(receipt)
    },
    putVisit: async (receipt) => noteIssued(receipt),
    async activate(receipt) {
      const isFinal = isRevokedStanding(receipts.stateOf(receipt))
      return isFinal || isFresh(receipt) ? receipts.activate(receipt) : { kind: 'unknown' }
    },
    receiptStates: async (asked) =>
      asked.map((receipt) => {
        const state = receipts.stateOf(receipt)
        // Of one that is unseen, another process may know that it was active, and only the facts know what it had replaced then.
        if (isRevokedStanding(state)) return state
        // An install follows its page's activation by moments: Facts cannot have that activation yet, but may know that another
        // process has replaced the receipt since. About everything else Facts knows more.
        const isActive = state === 'active' || state === 'predecessor_unknown'
        return isActive && isFresh(receipt) ? 'predecessor_unknown' : 'unknown'
      }),
    async learn(receipt, state) {
      receipts.learn(receipt, state)
      see(receipt)
    },
  }
}

function isRevokedStanding(state: ReceiptStanding): boolean {
  return state === 'revoked' || state === 'revoked_predecessor_unknown' || state === 'revoked_unseen'
}

function issuedInMemory(nowMs: () => number): IssuedReceipts {
  const issued = new BoundedMap<string, Issued>(MAX_RECEIPTS)
  return {
    put: (receipt) => issued.set(receiptName(receipt), { putAtMs: nowMs(), previous: receipt.previous }),
    find: (receipt) => unlessOver(issued.get(receiptName(receipt)) ?? null, nowMs()),
    forget: (receipt) => issued.delete(receiptName(receipt)),
  }
}

/** Continues from Redis's last figure, so that a quota stays about right. */
function usageVerbs(): NotedUsage {
  const usages = new BoundedMap<string, { used: number; isToldOver: boolean }>(MAX_USAGES)
  const usageOf = (organization: string, month: string): { used: number; isToldOver: boolean } =>
    usages.get(`${month}/${organization}`) ?? { used: 0, isToldOver: false }
  const keep = ({ organization, month }: UsageMonth, used: number, isToldOver: boolean): void =>
    usages.set(`${month}/${organization}`, { used, isToldOver })
  return {
    noteUsage(usage, used) {
      keep(usage, used, usageOf(usage.organization, usage.month).isToldOver)
    },
    async addUsage(usage): Promise<UsageOutcome> {
      const { used, isToldOver } = usageOf(usage.organization, usage.month)
      const isOver = usage.quota !== null && used >= usage.quota
      keep(usage, isOver ? used : used + 1, isToldOver || isOver)
      return { used: isOver ? used : used + 1, isOver, isFirstOver: isOver && !isToldOver }
    },
    async returnUsage(usage) {
      const { used, isToldOver } = usageOf(usage.organization, usage.month)
      if (used > 0) keep(usage, used - 1, isToldOver)
    },
    readUsage: async (organization, month) => usageOf(organization, month).used,
    async raiseUsage({ organization, month, atLeast }) {
      const { used, isToldOver } = usageOf(organization, month)
      if (used < atLeast) keep({ organization, month }, atLeast, isToldOver)
    },
  }
}
