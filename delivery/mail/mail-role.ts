/**
 * Sends the mails on the log. A mail that the server does not accept waits in tiers of the log and is retried until its
 * deadline. A crash in between repeats an attempt; a mail that arrives twice has the same ID both times.
 */

import { Counter, type Registry } from 'prom-client'

import { endedWithin } from '../../common/deadline.ts'
import { holdMs, JITTER, tierFor } from '../../domain/delivery/attempts.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Letter, LetterOutcome } from '../../domain/people/letters.ts'
import {
  encodeRecord,
  recordKey,
  WAITING_TIERS,
  type ActivityRecord,
  type MailJob,
  type TierName,
} from '../../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, LogWriter, LogConsumers } from '../../ports/event-log/event-log.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import { createRecordReader } from '../record-reader.ts'
import { appendUntilStopped } from '../sure-appends.ts'
import { Slots } from '../slots.ts'
import { takeDue } from '../tiers.ts'
import { consumeReadable } from '../version-guard.ts'

interface MailRoleDeps {
  readonly eventLog: LogWriter & LogConsumers
  /** Writes and sends the letter; never rejects. */
  readonly post: (
    letter: Letter,
    job: { readonly mailId: string; readonly tries: number; readonly createdAtMs: number },
  ) => Promise<LetterOutcome>
  readonly telemetry: Telemetry
  readonly nowMs: () => number
  readonly randomness: Randomness
}

const MAIL_GROUP = 'mail'
const BATCH_MAILS = 10
/** Sent at the same time, which the mail server's own limits allow; the letters of one organisation never take all of it. */
const PLACES = { perKey: 5, total: 10, leavesRoom: true }
/** How long a mail waits for a place before it goes to a tier. */
const PLACE_WAIT_MS = 5_000
/** The next batch is handed over after this time, whoever waits for the mail server... */
const HAND_OVER_MS = 50
/** ...and while so many are open, none waits for a place: after a crash each of them may be sent again. */
const OPEN_MAX = 50

export async function startMailRole(deps: MailRoleDeps): Promise<{ close(): Promise<void> }> {
  const { post, telemetry, nowMs } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const count = counterOf(telemetry.registry)
  const desk = new MailDesk({ post, nowMs, count, undelivered: createUndelivered(deps, signal), signal })
  const read = createRecordReader(telemetry, MAIL_GROUP)
  const take = (batch: Batch, tier: TierName | null): Promise<BatchOutcome> => {
    const { due, outcome } = takeDue<MailJob>(batch, {
      tier,
      nowMs,
      read: (entry) => read('mailJob', entry, batch.topic),
    })
    return desk.take(due, outcome)
  }
  const consume = consumeReadable(deps)
  const consumers: Consumer[] = []
  const close = async (): Promise<void> => {
    stopping.abort()
    await Promise.all(consumers.map((consumer) => consumer.close()))
  }
  const options = { maxEntries: BATCH_MAILS }
  // The first sign-in need not wait for its topics.
  await deps.eventLog.prepare?.('mail')
  try {
    consumers.push(await consume('mail', MAIL_GROUP, (batch) => take(batch, null), options))
    for (const tier of WAITING_TIERS)
      consumers.push(await consume(`mail.${tier}`, MAIL_GROUP, (batch) => take(batch, tier), options))
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}

interface DeskParts {
  readonly post: MailRoleDeps['post']
  readonly undelivered: Undelivered
  readonly count: Counter<'kind' | 'outcome'> | null
  readonly nowMs: () => number
  /** Aborted when the process stops. */
  readonly signal: AbortSignal
}

/** Holds the mails that are not finished, and the places they take at the mail server. */
class MailDesk {
  readonly #parts: DeskParts
  readonly #places = new Slots(PLACES)
  readonly #open = new Set<Promise<void>>()

  constructor(parts: DeskParts) {
    this.#parts = parts
  }

  /** The log hands over the next batch while mails wait for the server. A mail is done once it is sent, given up, or durable in a tier. */
  async take(due: readonly MailJob[], outcome: BatchOutcome): Promise<BatchOutcome> {
    const mails = due.map((job) => {
      const ended = this.#place(job)
      this.#open.add(ended)
      ended.catch(() => undefined).finally(() => this.#open.delete(ended))
      return ended
    })
    const until = Promise.all(mails)
    await endedWithin(until, HAND_OVER_MS)
    return { ...outcome, until }
  }

  /** Letters without an organisation are those of people who sign in. */
  async #place(job: MailJob): Promise<void> {
    const organization = 'organization' in job.letter ? job.letter.organization : ''
    const claim = { key: organization, organization }
    const patience = AbortSignal.any([this.#parts.signal, AbortSignal.timeout(PLACE_WAIT_MS)])
    const mayWait = this.#open.size < OPEN_MAX
    const hasPlace = mayWait ? await this.#places.take(claim, patience) : this.#places.tryTake(claim)
    if (!hasPlace) return this.#parts.undelivered.postpone(job, job.tries)
    try {
      await this.#try(job)
    } finally {
      this.#places.give(claim)
    }
  }

  async #try(job: MailJob): Promise<void> {
    const { letter, deadlineAtMs } = job
    const { post, nowMs, count, undelivered } = this.#parts
    const outcome = nowMs() >= deadlineAtMs ? 'over' : await post(letter, job)
    count?.inc({ kind: letter.kind, outcome })
    if (outcome === 'later') await undelivered.postpone(job, job.tries + 1)
    else if (outcome === 'refused' || outcome === 'over') await undelivered.giveUp(job, outcome)
  }
}

/** What becomes of a mail that was not delivered. Resolves once that is on the log; rejects only if the process stops before. */
interface Undelivered {
  readonly postpone: (job: MailJob, tries: number) => Promise<void>
  /** Members of the organisation see that a mail was lost; neither the record nor the log names the recipient. */
  readonly giveUp: (job: MailJob, why: 'refused' | 'over') => Promise<void>
}

function createUndelivered({ eventLog, telemetry, randomness, nowMs }: MailRoleDeps, signal: AbortSignal): Undelivered {
  const log = { eventLog, signal }
  return {
    async postpone(job, tries) {
      const waitMs = Math.round(holdMs(nowMs() - job.createdAtMs) * (1 + JITTER * randomness.fraction()))
      const dueAtMs = Math.min(nowMs() + waitMs, job.deadlineAtMs)
      const value = encodeRecord({ ...job, tries, dueAtMs })
      await appendUntilStopped(log, `mail.${tierFor(waitMs)}`, { key: job.mailId, value })
    },
    async giveUp({ letter, mailId }, why) {
      telemetry.logger.error({ mail: mailId, kind: letter.kind, why }, 'mail given up')
      if (!('organization' in letter)) return
      const atMs = nowMs()
      const record: ActivityRecord = {
        v: 1,
        kind: 'activity',
        id: timeOrderedId(randomness, atMs),
        atMs,
        organization: letter.organization,
        website: '',
        type: 'mail_not_delivered',
        subject: letter.kind,
        message:
          why === 'refused' ? 'the mail server refused the mail' : 'the mail server did not accept the mail in time',
        logRetentionDays: LIMITS.logRetentionDays.fallback,
      }
      await appendUntilStopped(log, 'activity', { key: recordKey(record, record.id), value: encodeRecord(record) })
    },
  }
}

function counterOf(registry: Registry | undefined): Counter<'kind' | 'outcome'> | null {
  if (registry === undefined) return null
  return new Counter({
    name: 'whence_mails_total',
    help: 'Attempts to send a mail, by kind of mail and outcome.',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  })
}
