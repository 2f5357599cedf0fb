/** Turns records of the log into jobs, one for each webhook that wants the event. */

import { sha256Hex } from '../../common/digest.ts'
import type { NumberedCatalog, CatalogOrganizations } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import { catalogNumberOf, type WebhookJob } from '../../domain/records.ts'
import {
  eventOfActivity,
  eventOfDecision,
  eventOfDelivery,
  eventOfInstall,
  type NoticedEvent,
} from '../../domain/webhooks/events.ts'
import { webhookEntry, webhookJobs } from '../../domain/webhooks/jobs.ts'
import type { Batch, BatchOutcome, StoredEntry, LogWriter } from '../../ports/event-log/event-log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { CatalogWaits } from '../catalog-waits.ts'
import type { ReadEntry } from '../record-reader.ts'

/** Topics whose records are events. */
export const NOTICED_TOPICS = ['installs', 'install_decisions', 'deliveries', 'activity'] as const
type NoticedTopic = (typeof NOTICED_TOPICS)[number]

interface NoticeParts {
  /** Makes the jobs of a batch durable. */
  readonly writeJobs: (batch: Batch) => Promise<void>
  readonly waits: CatalogWaits
  readonly nowMs: () => number
}

interface JobParts {
  readonly eventLog: LogWriter
  readonly catalog: () => NumberedCatalog & CatalogOrganizations
  readonly read: ReadEntry
  readonly logger: Logger
  readonly nowMs: () => number
  readonly onJob: (job: WebhookJob) => void
}

const APPEND_DEADLINE_MS = 5_000

/**
 * A batch is done once the jobs of all entries are durable. Rejects like the log. An entry that was made with a newer catalog than the one
 * here, and all after it, come again: a webhook that wants it may be missing here.
 */
export async function noticeEvents(parts: NoticeParts, batch: Batch): Promise<BatchOutcome> {
  const { entries } = batch
  const isHeld = ({ value, appendedAtMs }: StoredEntry): boolean =>
    parts.waits.isBehind(catalogNumberOf(value)) && appendedAtMs + LIMITS.webhookTryMs > parts.nowMs()
  const held = entries.find(isHeld)
  if (held === undefined) {
    await parts.writeJobs(batch)
    return { done: entries.length }
  }
  const ready = entries.slice(0, entries.indexOf(held))
  if (ready.length > 0) await parts.writeJobs({ ...batch, entries: ready })
  const behindMs = parts.waits.waitFor(catalogNumberOf(held.value))
  const pauseMs = Math.min(Math.max(behindMs / 10, CATCH_UP_MS.least), CATCH_UP_MS.most)
  return { done: ready.length, resumeAtMs: parts.nowMs() + pauseMs }
}

/** Between two looks whether the catalog has come. */
const CATCH_UP_MS = { least: 50, most: 1_000 }

/** Rejects like the log. */
export async function writeWebhookJobs(parts: JobParts, batch: Batch): Promise<void> {
  const catalog = parts.catalog()
  // Most installations have no webhook: nothing is read for them.
  if (![...catalog.organizations.values()].some(({ webhooks }) => webhooks.length > 0)) return
  const topic = NOTICED_TOPICS.find((each) => each === batch.topic)
  const jobs = batch.entries.flatMap((entry) => {
    const event = topic === undefined ? null : eventIn(parts, topic, entry)
    const organization = event === null ? undefined : catalog.organizations.get(event.organization)
    return event === null || organization === undefined
      ? []
      : webhookJobs(event, organization, { sha256Hex, catalogNumber: catalog.number })
  })
  if (jobs.length === 0) return
  await parts.eventLog.append('webhooks', jobs.map(webhookEntry), { deadlineMs: APPEND_DEADLINE_MS })
  for (const job of jobs) parts.onJob(job)
}

/** Null for an entry that is not an event, cannot be read, or is too old to be sent. */
function eventIn(parts: JobParts, topic: NoticedTopic, entry: StoredEntry): NoticedEvent | null {
  try {
    const event = readEvent(parts, topic, entry)
    return event !== null && event.happenedAtMs + LIMITS.webhookTryMs > parts.nowMs() ? event : null
  } catch {
    // One damaged record must not block the others forever.
    parts.logger.error({ topic, offset: entry.offset }, 'no event could be made of an entry')
    return null
  }
}

function readEvent({ read, catalog }: JobParts, topic: NoticedTopic, entry: StoredEntry): NoticedEvent | null {
  switch (topic) {
    case 'installs':
      return ifRead(read('install', entry, topic), eventOfInstall)
    case 'install_decisions':
      return ifRead(read('decision', entry, topic), eventOfDecision)
    case 'deliveries':
      return ifRead(read('delivery', entry, topic), eventOfDelivery)
    case 'activity':
      return ifRead(read('activity', entry, topic), (record) => eventOfActivity(record, catalog()))
  }
}

function ifRead<T>(record: T | null, toEvent: (record: T) => NoticedEvent | null): NoticedEvent | null {
  return record === null ? null : toEvent(record)
}
