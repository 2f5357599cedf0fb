/** The verbs of HotState as calls of Redis scripts. Each rejects if Redis does not answer in time. */

import type { SessionVerbs } from '../session-verbs.ts'
import { LIMITS } from '../../../domain/limits.ts'
import type { ReceiptStanding } from '../../../domain/receipt-states.ts'

import type {
  Activation,
  Claim,
  ClaimOutcome,
  Hit,
  HitOutcome,
  HitVerbs,
  HotState,
  InstallVerbs,
  JobVerbs,
  Loss,
  LossVerbs,
  ReceiptRef,
  ReceiptVerbs,
  UsageVerbs,
} from '../hot-state.ts'
import {
  decodeInstallation,
  decodePredecessor,
  encodePrevious,
  encodeVisit,
  eventHash,
  installationKey,
  receiptDay,
  receiptId,
} from './codec.ts'
import type { RunScript } from './scripts.ts'
import { sessionVerbs } from './sessions.ts'
import { DAY_MS } from '../../../domain/durations.ts'

/** An ID of the data's present generation: it changes after a restart or failover, and if the store was emptied. */
export interface StoreGeneration {
  readonly name: string
  /** The part of the ID that the store itself holds. */
  readonly mark: string
}

export interface SharedVerbs
  extends ReceiptVerbs, InstallVerbs, HitVerbs, UsageVerbs, JobVerbs, LossVerbs, SessionVerbs {}

interface SharedLossVerbs extends LossVerbs {
  /** Answers to installs that were received from then on (Unix ms) may be missing. */
  readonly noteLoss: (sinceMs: number) => Promise<void>
  /** The process ends, and has written everything here that it had to write. */
  readonly leave: (process: Buffer) => Promise<void>
}

export interface RedisVerbs extends SharedVerbs, SharedLossVerbs {}

/** A day's states expire with its last receipt, with a margin for clocks that are late. */
const KEEP_PAST_DAY_MS = LIMITS.receiptLifetimeMs + LIMITS.clockSkewMs
const ANSWER_MEMORY_MS = LIMITS.answerMemoryDays * DAY_MS
const USAGE_MEMORY_MS = 2 * 366 * DAY_MS
const STATES: readonly ReceiptStanding[] = [
  'unknown',
  'issued',
  'active',
  'revoked',
  'predecessor_unknown',
  'revoked_predecessor_unknown',
  'revoked_unseen',
]

/** How it is known that the store has lost something. */
interface LossRules {
  readonly generation: () => StoreGeneration
  /** After how long a process that is not heard any more counts as gone. */
  readonly goneAfterMs: number
}

interface VerbsOptions extends LossRules {
  /** Replaces the server's time; for tests only. */
  readonly clock: (() => number) | undefined
}

export function redisVerbs(run: RunScript, { generation, goneAfterMs, clock }: VerbsOptions): RedisVerbs {
  const now = (): string => (clock === undefined ? '' : String(clock()))
  return {
    ...receiptVerbs(run, now),
    ...installVerbs(run, now, generation),
    ...lossVerbs(run, now, { generation, goneAfterMs }),
    ...countVerbs(run, now),
    ...jobVerbs(run, now),
    ...sessionVerbs(run, now),
  }
}

type Now = () => string

function receiptVerbs(run: RunScript, now: Now): ReceiptVerbs {
  const putVisit: HotState['putVisit'] = async (receipt) => {
    const previous = encodePrevious(receipt.previous)
    await run('put_visit', [now(), receiptId(receipt), receiptDay(receipt), LIMITS.issuedMemoryMs, previous])
  }
  return {
    putVisit,
    async activate(receipt) {
      const reply = await run('activate', [now(), receiptId(receipt), receiptDay(receipt), KEEP_PAST_DAY_MS])
      return activationOf(receipt, buffersIn(reply))
    },
    async receiptStates(receipts) {
      if (receipts.length === 0) return []
      const asked = receipts.flatMap((receipt) => [receiptId(receipt), receiptDay(receipt)])
      const codes = numbersIn(await run('receipt_states', [now(), ...asked]))
      return codes.map((code) => STATES[code] ?? 'unknown')
    },
    async learn(receipt, state) {
      if (state === 'issued') return putVisit(receipt)
      const previous = encodePrevious(receipt.previous)
      await run('learn', [now(), receiptId(receipt), receiptDay(receipt), KEEP_PAST_DAY_MS, state, previous])
    },
  }
}

function activationOf(receipt: ReceiptRef, [kind, revoked]: readonly Buffer[]): Activation {
  const text = String(kind)
  if (text !== 'activated' && text !== 'already_active') return { kind: text === 'revoked' ? 'revoked' : 'unknown' }
  return { kind: text, revoked: revoked === undefined ? null : decodePredecessor(receipt, revoked) }
}

function installVerbs(run: RunScript, now: Now, generation: () => StoreGeneration): InstallVerbs {
  return {
    async claimInstall(claim) {
      const keys = [eventHash(claim), installationKey(claim)]
      const reply = await run('claim_install', [now(), ...keys, claim.owner, LIMITS.claimLeaseMs, ANSWER_MEMORY_MS])
      return claimOutcomeOf(claim, buffersIn(reply), generation().name)
    },
    async keepInstall(claim, decision) {
      const keys = [eventHash(claim), installationKey(claim)]
      await run('keep_install', [now(), ...keys, claim.owner, LIMITS.claimLeaseMs, ANSWER_MEMORY_MS, decision()])
    },
    async settleInstall(settlement) {
      const keys = [eventHash(settlement), installationKey(settlement)]
      const { owner, answer, isPending, receivedAtMs, matched } = settlement
      const told = [answer, isPending === true ? 1 : 0, receivedAtMs, encodeVisit(matched)]
      await run('settle_install', [now(), ...keys, owner, ANSWER_MEMORY_MS, ...told])
    },
    async decideInstall(decision) {
      const keys = [eventHash(decision), installationKey(decision)]
      const { answer, receivedAtMs, matched, isStored } = decision
      const told = [answer, receivedAtMs, encodeVisit(matched), isStored === true ? 1 : 0]
      await run('decide_install', [now(), ...keys, ANSWER_MEMORY_MS, ...told])
    },
    async releaseInstall(claim) {
      await run('release_install', [now(), eventHash(claim), claim.owner, ANSWER_MEMORY_MS])
    },
  }
}

function lossVerbs(run: RunScript, now: Now, { generation, goneAfterMs }: LossRules): SharedLossVerbs {
  return {
    async forgotten() {
      const { name } = generation()
      const [whole, since, losses] = buffersIn(await run('read_whole', [now(), name, goneAfterMs]))
      return String(whole) === name ? null : lossOf(name, String(since), String(losses))
    },
    async restored({ generation: name, losses }) {
      const present = generation()
      if (name === present.name) await run('mark_whole', [now(), present.mark, name, losses])
    },
    async noteLoss(sinceMs) {
      await run('note_loss', [now(), generation().name, sinceMs])
    },
    async leave(process) {
      await run('leave', [now(), process])
    },
  }
}

function lossOf(generation: string, since: string, losses: string): Loss {
  return { generation, sinceMs: since === '' ? null : Number(since), losses }
}

function claimOutcomeOf(claim: Claim, reply: readonly Buffer[], generation: string): ClaimOutcome {
  const [kind, value, installation, whole] = reply
  const text = String(kind)
  if (text === 'settled') return { kind: 'settled', answer: String(value) }
  if (text === 'busy') return { kind: 'busy' }
  const kept = value === undefined || value.length === 0 ? null : String(value)
  const known = installation === undefined ? null : decodeInstallation(claim, installation)
  const isWhole = String(whole) === generation
  return { kind: 'first', installation: known ?? { kind: isWhole ? 'none' : 'unknown' }, kept, isNew: isWhole }
}

function countVerbs(run: RunScript, now: Now): HitVerbs & UsageVerbs {
  const monthOf = (organization: string, month: string): string => `${month}:${organization}`
  return {
    async countHits(hits) {
      if (hits.length === 0) return { kind: 'counted', counts: [] }
      const asked = hits.flatMap(({ key, limit, windowS }: Hit) => [key, limit, windowS])
      return hitOutcomeOf(numbersIn(await run('count_hits', [now(), ...asked])))
    },
    async returnHits(hits, agoMs) {
      if (hits.length === 0) return
      const asked = hits.flatMap(({ key, windowS }: Hit) => [key, windowS])
      await run('return_hits', [now(), Math.round(agoMs), ...asked])
    },
    async addUsage({ organization, month, quota }) {
      const args = [now(), monthOf(organization, month), quota ?? '', 1, USAGE_MEMORY_MS]
      const [used = 0, isOver, isFirstOver] = numbersIn(await run('add_usage', args))
      return { used, isOver: isOver === 1, isFirstOver: isFirstOver === 1 }
    },
    async returnUsage({ organization, month }) {
      await run('return_usage', [now(), monthOf(organization, month)])
    },
    async readUsage(organization, month) {
      const [used = 0] = numbersIn([await run('read_usage', [now(), monthOf(organization, month)])])
      return used
    },
    async raiseUsage({ organization, month, atLeast }) {
      await run('raise_usage', [now(), monthOf(organization, month), atLeast, USAGE_MEMORY_MS])
    },
  }
}

function hitOutcomeOf([isExceeded, ...numbers]: readonly number[]): HitOutcome {
  if (isExceeded === 0) return { kind: 'counted', counts: numbers }
  const [retryAfterS = 1, isFirst, ...exceeded] = numbers
  return { kind: 'exceeded', exceeded, retryAfterS, isFirst: isFirst === 1 }
}

function jobVerbs(run: RunScript, now: Now): JobVerbs {
  return {
    claimJob: async (jobId, owner, leaseMs) => (await run('claim_job', [now(), jobId, owner, leaseMs])) === 1,
    async releaseJob(jobId, owner) {
      await run('release_job', [now(), jobId, owner])
    },
  }
}

/** What a script answered. @throws Error if it is anything else: the scripts of another release have other names. */
function buffersIn(reply: unknown): Buffer[] {
  if (Array.isArray(reply) && reply.every((each) => Buffer.isBuffer(each))) return reply
  throw new Error('a script of the hot state answered no texts')
}

function numbersIn(reply: unknown): number[] {
  if (Array.isArray(reply) && reply.every((each) => typeof each === 'number')) return reply
  throw new Error('a script of the hot state answered no numbers')
}
