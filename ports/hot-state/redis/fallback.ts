/**
 * Serves from this process's own memory while Redis is unreachable, and replays its writes when Redis is back.
 *
 * The log stays the source of truth. What is lost here, because the list overflows or the process dies meanwhile, is noted in Redis
 * (by `noteLoss`, or since the process is not heard any more), and the role `state` restores it from the facts. Until
 * everything is replayed, verbs stay local, in the order they came.
 */

import type {
  Activation,
  ReceiptRef,
  ReceiptVerbs,
  InstallVerbs,
  LossVerbs,
  JobVerbs,
  HitVerbs,
  UsageVerbs,
} from '../hot-state.ts'
import { RedisUnavailable } from './connection.ts'
import type { LocalHotState } from './local-hot-state.ts'
import type { RedisVerbs, SharedVerbs } from './verbs.ts'
import type { SessionVerbs } from '../session-verbs.ts'

/** A write to replay when Redis is back; replaying it twice must change nothing but counts of usage. */
type Message = (shared: RedisVerbs) => Promise<unknown>

interface Fallback {
  readonly verbs: SharedVerbs
  isShared(): boolean
  /** Replays the buffered writes to Redis, then returns to it. */
  handOver(): Promise<void>
  /** Serves every verb locally from now on. */
  goAlone(): void
  /** Redis has everything that this process had to write. */
  hasHandedOver(): boolean
  /** Some writes are kept back or lost. */
  keepsSome(): boolean
  /** Since when writes have been kept back or lost (Unix ms); now if none are. */
  keptSinceMs(): number
}

const MAX_MESSAGES = 20_000
const MESSAGES_AT_ONCE = 500
/**
 * How long buffered writes are replayed before reads go to Redis again, so that a steady load cannot delay that for
 * ever.
 */
const TELL_FIRST_MS = 1_000

/** Writes that wait for Redis. */
interface KeptWrites {
  readonly tell: (message: Message) => void
  /** Writes some, the oldest first; true if Redis accepted them. Those that did not reach it stay. */
  readonly deliver: () => Promise<boolean>
  readonly isEmpty: () => boolean
  /** Since when writes have been kept back or lost (Unix ms); now if none are. */
  readonly sinceMs: () => number
}

/** `unixMs` dates what is lost. */
function keptWrites(shared: RedisVerbs, unixMs: () => number): KeptWrites {
  const messages: Message[] = []
  /** Since when the oldest write in the list waits, at the earliest. */
  let keptSinceMs = unixMs()
  /** Writes from then on are lost; null if none are. */
  let lostSinceMs: number | null = null
  return {
    tell(message) {
      if (messages.length === 0) keptSinceMs = unixMs()
      if (messages.length >= MAX_MESSAGES) {
        messages.shift()
        lostSinceMs ??= keptSinceMs
      }
      messages.push(message)
    },
    async deliver() {
      // The loss first: until it is told, an installation that Redis does not know counts as never matched.
      const sinceMs = lostSinceMs
      if (sinceMs === null) return deliverSome(messages, shared)
      lostSinceMs = null
      const isHeard = await deliverSome([(verbs) => verbs.noteLoss(sinceMs)], shared)
      if (!isHeard) lostSinceMs = sinceMs
      return isHeard
    },
    isEmpty: () => messages.length === 0 && lostSinceMs === null,
    sinceMs: () => lostSinceMs ?? (messages.length > 0 ? keptSinceMs : unixMs()),
  }
}

/** `unixMs` dates what is lost. */
export function fallBack(shared: RedisVerbs, alone: LocalHotState, unixMs: () => number): Fallback {
  const kept = keptWrites(shared, unixMs)
  let isShared = false
  let isHandingOver = false
  let isWanted = false
  const either: Either = async (ask, instead) => {
    if (isShared) {
      try {
        return await ask(shared)
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error
      }
    }
    return instead(alone, kept.tell)
  }
  return {
    verbs: {
      ...eitherReceipts(either, alone),
      ...eitherInstalls(either),
      ...eitherCounts(either, alone),
      ...sharedSessions(shared),
    },
    isShared: () => isShared,
    goAlone() {
      isShared = false
    },
    hasHandedOver: () => isShared && kept.isEmpty(),
    keepsSome: () => !kept.isEmpty(),
    keptSinceMs: kept.sinceMs,
    async handOver() {
      isWanted = true
      if (isHandingOver) return
      isHandingOver = true
      // Redis may fail and recover during the replay; the rest is then replayed.
      while (isWanted) {
        isWanted = false
        const firstUntilMs = performance.now() + TELL_FIRST_MS
        let isHeard = true
        while (isHeard && !kept.isEmpty()) {
          isHeard = await kept.deliver()
          if (isHeard && performance.now() >= firstUntilMs) isShared = true
        }
        if (isHeard) isShared = true
      }
      isHandingOver = false
    },
  }
}

/** Runs a verb on Redis, or `instead` locally. */
type Either = <T>(
  ask: (shared: RedisVerbs) => Promise<T>,
  instead: (alone: LocalHotState, tell: (message: Message) => void) => Promise<T>,
) => Promise<T>

/** True if Redis accepted the oldest writes; those that did not reach it stay in the list. */
async function deliverSome(messages: Message[], shared: RedisVerbs): Promise<boolean> {
  const some = messages.splice(0, MESSAGES_AT_ONCE)
  const told = await Promise.allSettled(some.map((message) => message(shared)))
  const unheard = some.filter((_, index) => {
    const outcome = told[index]
    return outcome?.status === 'rejected' && outcome.reason instanceof RedisUnavailable
  })
  messages.unshift(...unheard)
  return unheard.length === 0
}

function eitherReceipts(either: Either, known: LocalHotState): ReceiptVerbs {
  return {
    async putVisit(receipt) {
      known.noteIssued(receipt)
      // Nothing to replay: if Redis did not see a receipt issued, Facts is read when the receipt is activated.
      await either(
        (shared) => shared.putVisit(receipt),
        async () => undefined,
      )
    },
    async activate(receipt) {
      const outcome = await either(
        (shared) => shared.activate(receipt),
        async (alone, tell) => {
          const own = await alone.activate(receipt)
          if (own.kind === 'activated') tell((shared) => shared.learn({ ...receipt, previous: own.revoked }, 'active'))
          return own
        },
      )
      if (outcome.kind === 'unknown') return activateByOwnWord(receipt, either, known)
      if (outcome.kind === 'activated') known.noteActive(receipt, outcome.revoked)
      return outcome
    },
    async receiptStates(receipts) {
      const told = await either(
        (shared) => shared.receiptStates(receipts),
        (alone) => alone.receiptStates(receipts),
      )
      if (!told.includes('unknown')) return told
      // Redis may have lost what this process saw a moment ago, and Facts cannot have it yet.
      const own = await known.receiptStates(receipts)
      return told.map((state, place) => (state === 'unknown' ? (own[place] ?? state) : state))
    },
    learn: (receipt, state) =>
      either(
        (shared) => shared.learn(receipt, state),
        (alone) => alone.learn(receipt, state),
      ),
  }
}

/**
 * If Redis does not know a receipt that this process saw issued a moment ago, Redis has lost it and learns it again.
 */
async function activateByOwnWord(receipt: ReceiptRef, either: Either, known: LocalHotState): Promise<Activation> {
  const own = await known.activate(receipt)
  if (own.kind === 'unknown' || own.kind === 'revoked') return own
  const learnt = { ...receipt, previous: own.revoked }
  await either(
    (shared) => shared.learn(learnt, 'active'),
    async () => undefined,
  )
  return own
}

function eitherInstalls(either: Either): InstallVerbs & LossVerbs & JobVerbs {
  /** Runs on Redis, or locally with a replay later. */
  const told = (verb: (state: InstallVerbs) => Promise<void>): Promise<void> =>
    either(verb, async (alone, tell) => {
      // First, in the same turn as the choice to go local: after a pause everything may have been replayed already.
      tell(verb)
      await verb(alone)
    })
  return {
    claimInstall: (claim) =>
      either(
        (shared) => shared.claimInstall(claim),
        (alone) => alone.claimInstall(claim),
      ),
    keepInstall: (claim, decision) => told((state) => state.keepInstall(claim, decision)),
    settleInstall: (settlement) => told((state) => state.settleInstall(settlement)),
    decideInstall: (decision) => told((state) => state.decideInstall(decision)),
    // A claim still held in Redis would block the next first caller, which settles when Redis is back.
    releaseInstall: (claim) => told((state) => state.releaseInstall(claim)),
    forgotten: () =>
      either(
        (shared) => shared.forgotten(),
        (alone) => alone.forgotten(),
      ),
    restored: (loss) =>
      either(
        (shared) => shared.restored(loss),
        (alone) => alone.restored(loss),
      ),
    claimJob: (jobId, owner, leaseMs) =>
      either(
        (shared) => shared.claimJob(jobId, owner, leaseMs),
        (alone) => alone.claimJob(jobId, owner, leaseMs),
      ),
    releaseJob: (jobId, owner) =>
      either(
        (shared) => shared.releaseJob(jobId, owner),
        (alone) => alone.releaseJob(jobId, owner),
      ),
  }
}

function eitherCounts(either: Either, known: LocalHotState): HitVerbs & UsageVerbs {
  return {
    countHits: (hits) =>
      either(
        (shared) => shared.countHits(hits),
        (alone) => alone.countHits(hits),
      ),
    // Only Redis knows its own counts: while it is unreachable, such hits stay counted.
    returnHits: (hits, agoMs) =>
      either(
        (shared) => shared.returnHits(hits, agoMs),
        (alone) => alone.returnHits(hits, agoMs),
      ),
    async addUsage(usage) {
      const outcome = await either(
        (shared) => shared.addUsage(usage),
        async (alone, tell) => {
          const own = await alone.addUsage(usage)
          if (!own.isOver) tell((shared) => shared.addUsage({ ...usage, quota: null }))
          return own
        },
      )
      known.noteUsage(usage, outcome.used)
      return outcome
    },
    returnUsage: (usage) =>
      either(
        (shared) => shared.returnUsage(usage),
        async (alone, tell) => {
          await alone.returnUsage(usage)
          tell((shared) => shared.returnUsage(usage))
        },
      ),
    readUsage: (organization, month) =>
      either(
        (shared) => shared.readUsage(organization, month),
        (alone) => alone.readUsage(organization, month),
      ),
    raiseUsage: (usage) =>
      either(
        (shared) => shared.raiseUsage(usage),
        async (alone, tell) => {
          await alone.raiseUsage(usage)
          tell((shared) => shared.raiseUsage(usage))
        },
      ),
  }
}

/** This process must not decide alone who is signed in: while Redis is unreachable, these reject. */
function sharedSessions(shared: RedisVerbs): SessionVerbs {
  return {
    putSession: (session) => shared.putSession(session),
    readSession: (id) => shared.readSession(id),
    dropSession: (id) => shared.dropSession(id),
    dropSessionsOf: (person) => shared.dropSessionsOf(person),
    putOnce: (key, value, forMs) => shared.putOnce(key, value, forMs),
    replaceOnce: (key, value, forMs) => shared.replaceOnce(key, value, forMs),
    readOnce: (key) => shared.readOnce(key),
    takeOnce: (key) => shared.takeOnce(key),
  }
}
