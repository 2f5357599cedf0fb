/**
 * Sends the mails on the log. A mail that the server does not accept waits in tiers of the log and is retried until its
 * deadline. A crash in between repeats an attempt; a mail that arrives twice has the same ID both times.
 */

import { Counter, type Registry } from 'prom-client'

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
import type { Batch, BatchOutcome, Consumer, EventLog } from '../../ports/event-log/event-log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import { createRecordReader, type ReadEntry } from '../record-reader.ts'
import { takeDue } from '../tiers.ts'
import { consumeReadable } from '../version-guard.ts'

interface MailRoleDeps {
  readonly eventLog: Pick<EventLog, 'append' | 'consume'>
  /** Writes and sends the letter; never rejects. */
  readonly post: (letter: Letter, job: Pick<MailJob, 'mailId' | 'tries' | 'createdAtMs'>) => Promise<LetterOutcome>
  readonly logger: Logger
  readonly nowMs: () => number
  readonly randomness: Randomness
  readonly registry?: Registry
}

const MAIL_GROUP = 'mail'
/** Sent at the same time; the mail server's own limits are far higher. */
const BATCH_MAILS = 10
const APPEND_DEADLINE_MS = 5_000

export async function startMailRole(deps: MailRoleDeps): Promise<{ stop(): Promise<void> }> {
  const parts = { ...deps, read: createRecordReader(deps, MAIL_GROUP), count: counterOf(deps.registry) }
  const consume = consumeReadable(deps)
  const consumers: Consumer[] = []
  const stop = async (): Promise<void> => void (await Promise.all(consumers.map((consumer) => consumer.stop())))
  const options = { maxEntries: BATCH_MAILS }
  try {
    consumers.push(await consume('mail', MAIL_GROUP, (batch) => takeMails(parts, batch, null), options))
    for (const tier of WAITING_TIERS)
      consumers.push(await consume(`mail.${tier}`, MAIL_GROUP, (batch) => takeMails(parts, batch, tier), options))
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

type MailParts = MailRoleDeps & { readonly read: ReadEntry; readonly count: Counter<'kind' | 'outcome'> | null }

/** A batch is done once each mail is sent, given up, or durable in a tier. */
async function takeMails(parts: MailParts, batch: Batch, tier: TierName | null): Promise<BatchOutcome> {
  const read: Parameters<typeof takeDue<MailJob>>[1]['read'] = (entry) => parts.read('mailJob', entry, batch.topic)
  const { due, outcome } = takeDue(batch, { tier, nowMs: parts.nowMs, read })
  await Promise.all(due.map((job) => tryMail(parts, job)))
  return outcome
}

async function tryMail(parts: MailParts, job: MailJob): Promise<void> {
  const { letter, deadlineAtMs } = job
  const outcome = parts.nowMs() >= deadlineAtMs ? 'over' : await parts.post(letter, job)
  parts.count?.inc({ kind: letter.kind, outcome })
  if (outcome === 'later') await postpone(parts, job)
  else if (outcome === 'refused' || outcome === 'over') await giveUp(parts, job, outcome)
}

async function postpone({ eventLog, nowMs, randomness }: MailParts, job: MailJob): Promise<void> {
  const waitMs = Math.round(holdMs(nowMs() - job.createdAtMs) * (1 + JITTER * randomness.fraction()))
  const dueAtMs = Math.min(nowMs() + waitMs, job.deadlineAtMs)
  const value = encodeRecord({ ...job, tries: job.tries + 1, dueAtMs })
  await eventLog.append(`mail.${tierFor(waitMs)}`, [{ key: job.mailId, value }], { deadlineMs: APPEND_DEADLINE_MS })
}

/** Members of the organisation see that a mail was lost; neither the record nor the log names the recipient. */
async function giveUp(
  { eventLog, logger, randomness, nowMs }: MailParts,
  { letter, mailId }: MailJob,
  why: 'refused' | 'over',
): Promise<void> {
  logger.error({ mail: mailId, kind: letter.kind, why }, 'mail given up')
  if (!('organization' in letter)) return
  const atMs = nowMs()
  const record: ActivityRecord = {
    ...{ v: 1, kind: 'activity', id: timeOrderedId(randomness, atMs), atMs },
    ...{ organization: letter.organization, website: '', type: 'mail_not_delivered', subject: letter.kind },
    message: why === 'refused' ? 'the mail server refused the mail' : 'the mail server did not accept the mail in time',
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  }
  const entry = { key: recordKey(record, record.id), value: encodeRecord(record) }
  await eventLog.append('activity', [entry], { deadlineMs: APPEND_DEADLINE_MS })
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
