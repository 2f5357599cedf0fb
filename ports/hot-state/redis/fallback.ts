/**
 * Goes on with a process's own knowledge while Redis is away, and hands over what happened meanwhile when it is back.
 *
 * The log stays the truth: what is lost here (a process that ends, more than the list holds) the role `state` and
 * `whence rebuild-state` bring back. Until everything is handed over verbs stay local, in the order they came.
 */

import type { Activation, HotState, ReceiptRef } from '../hot-state.ts'
import { RedisUnavailable } from './connection.ts'
import type { StandIn } from './stand-in.ts'
import type { RedisVerbs } from './verbs.ts'
import type { SessionVerbs } from '../session-verbs.ts'

/** Something to tell Redis when it is back; telling it twice must change nothing but counts of usage. */
export type Message = (shared: RedisVerbs) => Promise<unknown>

export interface Fallback {
  readonly verbs: RedisVerbs
  isShared(): boolean
  /** Tells Redis what it missed, then goes back to it. */
  handOver(): Promise<void>
  /** From now on everything is local. */
  goAlone(): void
}

const MAX_MESSAGES = 20_000
const MESSAGES_AT_ONCE = 500
/** So long Redis is told before it is asked again; under load what comes meanwhile must not keep it waiting for ever. */
const TELL_FIRST_MS = 1_000

/** `nowMs` bounds how long Redis is told before it is asked again. */
export function fallBack(shared: RedisVerbs, alone: StandIn, nowMs: () => number): Fallback {
  let isShared = false
  let isHandingOver = false
  let isWanted = false
  const messages: Message[] = []
  const tell = (message: Message): void => {
    if (messages.length >= MAX_MESSAGES) messages.shift()
    messages.push(message)
  }
  const either: Either = async (ask, instead) => {
    if (isShared) {
      try {
        return await ask(shared)
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error
      }
    }
    return instead(alone, tell)
  }
  return {
    verbs: {
      ...receiptVerbs(either, alone),
      ...installVerbs(either),
      ...countVerbs(either, alone),
      ...sessionVerbs(shared),
    },
    isShared: () => isShared,
    goAlone() {
      isShared = false
    },
    async handOver() {
      isWanted = true
      if (isHandingOver) return
      isHandingOver = true
      // Redis may go and come again while it is being told: then it is told the rest.
      while (isWanted) {
        isWanted = false
        const firstUntilMs = nowMs() + TELL_FIRST_MS
        let isHeard = true
        while (isHeard && messages.length > 0) {
          isHeard = await deliver(messages, shared)
          if (isHeard && nowMs() >= firstUntilMs) isShared = true
        }
        if (isHeard) isShared = true
      }
      isHandingOver = false
    },
  }
}

/** Asks Redis, or does it instead. */
type Either = <T>(
  ask: (shared: RedisVerbs) => Promise<T>,
  instead: (alone: StandIn, tell: (message: Message) => void) => Promise<T>,
) => Promise<T>

/** True when Redis was told the oldest of them; those it did not hear stay in the list. */
async function deliver(messages: Message[], shared: RedisVerbs): Promise<boolean> {
  const some = messages.splice(0, MESSAGES_AT_ONCE)
  const told = await Promise.allSettled(some.map((message) => message(shared)))
  const unheard = some.filter((_, index) => {
    const outcome = told[index]
    return outcome?.status === 'rejected' && outcome.reason instanceof RedisUnavailable
  })
  messages.unshift(...unheard)
  return unheard.length === 0
}

function receiptVerbs(
  either: Either,
  known: StandIn,
): Pick<HotState, 'putVisit' | 'activate' | 'receiptStates' | 'learn'> {
  return {
    async putVisit(receipt) {
      known.noteIssued(receipt)
      // A receipt that Redis never saw issued is asked of Facts when it is activated: nothing to hand over.
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
      // Redis may have lost what this very process saw a moment ago, and the facts cannot have it yet.
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

/** What this process saw issued a moment ago and Redis does not know: Redis has lost it, and is told. */
async function activateByOwnWord(receipt: ReceiptRef, either: Either, known: StandIn): Promise<Activation> {
  const own = await known.activate(receipt)
  if (own.kind === 'unknown' || own.kind === 'revoked') return own
  const learnt = { ...receipt, previous: own.revoked }
  await either(
    (shared) => shared.learn(learnt, 'active'),
    async () => undefined,
  )
  return own
}

type InstallNews = 'keepInstall' | 'settleInstall' | 'decideInstall'

function installVerbs(
  either: Either,
): Pick<
  HotState,
  | 'claimInstall'
  | 'keepInstall'
  | 'settleInstall'
  | 'decideInstall'
  | 'releaseInstall'
  | 'forgotten'
  | 'restored'
  | 'claimJob'
  | 'releaseJob'
> {
  /** Redis, or this process alone, which hands it over later. */
  const told = (verb: (state: Pick<HotState, InstallNews>) => Promise<void>): Promise<void> =>
    either(verb, async (alone, tell) => {
      await verb(alone)
      tell(verb)
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
    releaseInstall: (claim) =>
      either(
        (shared) => shared.releaseInstall(claim),
        (alone) => alone.releaseInstall(claim),
      ),
    forgotten: () =>
      either(
        (shared) => shared.forgotten(),
        (alone) => alone.forgotten(),
      ),
    restored: (life) =>
      either(
        (shared) => shared.restored(life),
        (alone) => alone.restored(life),
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

function countVerbs(
  either: Either,
  known: StandIn,
): Pick<HotState, 'countHits' | 'returnHits' | 'addUsage' | 'returnUsage' | 'readUsage' | 'raiseUsage'> {
  return {
    countHits: (hits) =>
      either(
        (shared) => shared.countHits(hits),
        (alone) => alone.countHits(hits),
      ),
    // What Redis counted is known to Redis alone: while it is away such hits stay counted.
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

/** Who is signed in is never this process's own word: while Redis is away these reject. */
function sessionVerbs(shared: SessionVerbs): SessionVerbs {
  return {
    putSession: (session) => shared.putSession(session),
    readSession: (id) => shared.readSession(id),
    dropSession: (id) => shared.dropSession(id),
    dropSessionsOf: (person) => shared.dropSessionsOf(person),
    putOnce: (key, value, forMs) => shared.putOnce(key, value, forMs),
    readOnce: (key) => shared.readOnce(key),
    takeOnce: (key) => shared.takeOnce(key),
  }
}
