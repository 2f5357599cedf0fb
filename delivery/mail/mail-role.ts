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
import type { Logger } from '../../runtime/logger.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import { createRecordReader, type ReadEntry } from '../record-reader.ts'
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
  readonly logger: Logger
  readonly nowMs: () => number
  readonly randomness: Randomness
  readonly registry?: Registry
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
  const stopping = new AbortController()
  const parts = {
    ...deps,
    signal: stopping.signal,
    places: new Slots(PLACES),
    open: new Set<Promise<void>>(),
    read: createRecordReader(deps, MAIL_GROUP),
    count: counterOf(deps.registry),
  }
  const consume = consumeReadable(deps)
  const consumers: Consumer[] = []
  const close = async (): Promise<void> => {
    stopping.abort()
    await Promise.all(consumers.map((consumer) => consumer.close()))
  }
  const options = { maxEntries: BATCH_MAILS }
  try {
    consumers.push(await consume('mail', MAIL_GROUP, (batch) => takeMails(parts, batch, null), options))
    for (const tier of WAITING_TIERS)
      consumers.push(await consume(`mail.${tier}`, MAIL_GROUP, (batch) => takeMails(parts, batch, tier), options))
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}

interface MailParts extends MailRoleDeps {
  readonly read: ReadEntry
  readonly count: Counter<'kind' | 'outcome'> | null
  readonly places: Slots
  /** Mails that are not finished. */
  readonly open: Set<Promise<void>>
  /** Aborted when the process stops. */
  readonly signal: AbortSignal
}

/** The log hands over the next batch while mails wait for the server. A mail is done once it is sent, given up, or durable in a tier. */
async function takeMails(parts: MailParts, batch: Batch, tier: TierName | null): Promise<BatchOutcome> {
  const read: Parameters<typeof takeDue<MailJob>>[1]['read'] = (entry) => parts.read('mailJob', entry, batch.topic)
  const { due, outcome } = takeDue(batch, { tier, nowMs: parts.nowMs, read })
  const { open } = parts
  const mails = due.map((job) => {
    const ended = placeMail(parts, job)
    open.add(ended)
    ended.catch(() => undefined).finally(() => open.delete(ended))
    return ended
  })
  const until = Promise.all(mails)
  await endedWithin(until, HAND_OVER_MS)
  return { ...outcome, until }
}

/** Letters without an organisation are those of people who sign in. */
async function placeMail(parts: MailParts, job: MailJob): Promise<void> {
  const { places, signal, open } = parts
  const organization = 'organization' in job.letter ? job.letter.organization : ''
  const claim = { key: organization, organization }
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PLACE_WAIT_MS)])
  const mayWait = open.size < OPEN_MAX
  const hasPlace = mayWait ? await places.take(claim, patience) : places.tryTake(claim)
  if (!hasPlace) return postpone(parts, job, job.tries)
  try {
    await tryMail(parts, job)
  } finally {
    places.give(claim)
  }
}

async function tryMail(parts: MailParts, job: MailJob): Promise<void> {
  const { letter, deadlineAtMs } = job
  const outcome = parts.nowMs() >= deadlineAtMs ? 'over' : await parts.post(letter, job)
  parts.count?.inc({ kind: letter.kind, outcome })
  if (outcome === 'later') await postpone(parts, job, job.tries + 1)
  else if (outcome === 'refused' || outcome === 'over') await giveUp(parts, job, outcome)
}

async function postpone(parts: MailParts, job: MailJob, tries: number): Promise<void> {
  const { nowMs, randomness } = parts
  const waitMs = Math.round(holdMs(nowMs() - job.createdAtMs) * (1 + JITTER * randomness.fraction()))
  const dueAtMs = Math.min(nowMs() + waitMs, job.deadlineAtMs)
  const value = encodeRecord({ ...job, tries, dueAtMs })
  await appendUntilStopped(parts, `mail.${tierFor(waitMs)}`, { key: job.mailId, value })
}

/** Members of the organisation see that a mail was lost; neither the record nor the log names the recipient. */
async function giveUp(parts: MailParts, { letter, mailId }: MailJob, why: 'refused' | 'over'): Promise<void> {
  const { logger, randomness, nowMs } = parts
  logger.error({ mail: mailId, kind: letter.kind, why }, 'mail given up')
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
    message: why === 'refused' ? 'the mail server refused the mail' : 'the mail server did not accept the mail in time',
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  }
  await appendUntilStopped(parts, 'activity', { key: recordKey(record, record.id), value: encodeRecord(record) })
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
