/** Turns records of the log into jobs, one for each webhook that wants the event. */

import type { BoundedMap } from '../../common/bounded-map.ts'
import { sha256Hex } from '../../common/digest.ts'
import type { NumberedCatalog, CatalogOrganizations } from '../../domain/catalog.ts'
import { tierFor } from '../../domain/delivery/attempts.ts'
import { LIMITS } from '../../domain/limits.ts'
import { catalogNumberOf, recordKey, type Topic, type WebhookJob } from '../../domain/records.ts'
import {
  eventOfActivity,
  eventOfAlert,
  eventOfDecision,
  eventOfDelivery,
  eventOfInstall,
  type NoticedEvent,
} from '../../domain/webhooks/events.ts'
import { wantsAny, webhookEntry, webhookJobs } from '../../domain/webhooks/jobs.ts'
import { visitToldBy, withVisit } from '../../domain/webhooks/visit-told.ts'
import type { Batch, BatchOutcome, StoredEntry, LogWriter } from '../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { CatalogWaits } from '../catalog-waits.ts'
import { readVisits } from '../dispatch/reads.ts'
import type { ReadEntry } from '../record-reader.ts'

/** Topics whose records are events. */
export const NOTICED_TOPICS = ['installs', 'install_decisions', 'deliveries', 'activity', 'alerts'] as const
type NoticedTopic = (typeof NOTICED_TOPICS)[number]

interface NoticeParts {
  /** Makes the jobs of a batch durable, as far as its entries need not wait for their visits. Resolves with how many are done. */
  readonly writeJobs: (batch: Batch) => Promise<number>
  readonly waits: CatalogWaits
  readonly nowMs: () => number
}

interface JobParts {
  readonly eventLog: LogWriter
  readonly facts: FactsReader
  readonly catalog: () => NumberedCatalog & CatalogOrganizations
  readonly reading: EventReading
  /** Messages about an hour that this process has put on the log. */
  readonly hours: BoundedMap<string, true>
  readonly onJob: (job: WebhookJob) => void
}

/** How entries are read as events. */
interface EventReading {
  readonly read: ReadEntry
  readonly logger: Logger
  readonly nowMs: () => number
}

const APPEND_DEADLINE_MS = 5_000

/**
 * A batch is done once the jobs of all entries are durable. Rejects like the log. An entry that was made with a newer catalog than the one
 * here, and all after it, come again: a webhook that wants it may be missing here. So does one whose visit is not stored yet.
 */
export async function noticeEvents(parts: NoticeParts, batch: Batch): Promise<BatchOutcome> {
  const { entries } = batch
  const isHeld = ({ value, appendedAtMs }: StoredEntry): boolean =>
    parts.waits.isBehind(catalogNumberOf(value)) && appendedAtMs + LIMITS.webhookTryMs > parts.nowMs()
  const held = entries.find(isHeld)
  const ready = held === undefined ? entries : entries.slice(0, entries.indexOf(held))
  const done = ready.length > 0 ? await parts.writeJobs({ ...batch, entries: ready }) : 0
  if (done < ready.length) return { done, resumeAtMs: parts.nowMs() + VISIT_LOOK_MS }
  if (held === undefined) return { done }
  const behindMs = parts.waits.waitFor(catalogNumberOf(held.value))
  const pauseMs = Math.min(Math.max(behindMs / 10, CATCH_UP_MS.least), CATCH_UP_MS.most)
  return { done, resumeAtMs: parts.nowMs() + pauseMs }
}

/** Between two looks whether the catalog has come. */
const CATCH_UP_MS = { least: 50, most: 1_000 }
/** Between two looks whether the visit of an install is stored: it usually is long before. */
const VISIT_LOOK_MS = 500

interface NoticedEntry {
  readonly entry: StoredEntry
  /** Null if no webhook wants it. */
  readonly event: NoticedEvent | null
}

/** Resolves with how many entries are done. Rejects like the log. */
export async function writeWebhookJobs(parts: JobParts, batch: Batch): Promise<number> {
  const { organizations, number: catalogNumber } = parts.catalog()
  const { entries } = batch
  // Most installations have no webhook: nothing is read for them.
  if (![...organizations.values()].some(({ webhooks }) => webhooks.length > 0)) return entries.length
  const topic = NOTICED_TOPICS.find((each) => each === batch.topic)
  const noticed = entries.map((entry): NoticedEntry => {
    const event = topic === undefined ? null : eventIn(parts, topic, entry)
    const organization = organizations.get(event?.organization ?? '')
    return {
      entry,
      event: event !== null && organization !== undefined && wantsAny(event, organization) ? event : null,
    }
  })
  const { events, done } = await withVisits(parts, noticed)
  const jobs = events.flatMap((event) => {
    const organization = organizations.get(event.organization)
    return organization === undefined ? [] : webhookJobs(event, organization, { sha256Hex, catalogNumber })
  })
  await appendJobs(parts, jobs)
  return done
}

/** Jobs of an hour wait in a tier until it is over. Those that this process has on the log already are left out. */
async function appendJobs({ eventLog, reading, hours, onJob }: JobParts, jobs: readonly WebhookJob[]): Promise<void> {
  const nowMs = reading.nowMs()
  const later = jobs.filter(({ dueAtMs, happenedAtMs }) => dueAtMs > happenedAtMs)
  const ofHours = new Map(later.map((job) => [job.messageId, job]))
  const fresh = [
    ...jobs.filter(({ messageId }) => !ofHours.has(messageId)),
    ...[...ofHours.values()].filter(({ messageId }) => !hours.has(messageId)),
  ]
  const byTopic = Map.groupBy(fresh, ({ dueAtMs }): Topic => {
    return dueAtMs > nowMs ? `webhooks.${tierFor(dueAtMs - nowMs)}` : 'webhooks'
  })
  for (const [topic, own] of byTopic) {
    await eventLog.append(topic, own.map(webhookEntry), { deadlineMs: APPEND_DEADLINE_MS })
    for (const job of own) {
      onJob(job)
      if (topic !== 'webhooks') hours.set(job.messageId, true)
    }
  }
}

interface ReadyEvents {
  readonly events: readonly NoticedEvent[]
  /** How many entries these are of: the rest waits. */
  readonly done: number
}

/**
 * Events with what their visits say, up to the first one whose visit may still be stored. Whoever waits too long, or asks facts that are away, is told of the
 * install alone.
 */
async function withVisits({ facts, reading }: JobParts, noticed: readonly NoticedEntry[]): Promise<ReadyEvents> {
  const refs = noticed.flatMap(({ event }) => (event === null ? [] : (visitToldBy(event) ?? [])))
  const visits = await readVisits(facts, refs).catch((error: unknown) => {
    reading.logger.warn({ err: error }, 'visits of installs cannot be read for webhooks')
    return null
  })
  const events: NoticedEvent[] = []
  for (const [place, { entry, event }] of noticed.entries()) {
    const ref = event === null ? null : visitToldBy(event)
    const visit = ref === null ? undefined : visits?.get(recordKey(ref, ref.visitId))
    const mayStillCome = entry.appendedAtMs + LIMITS.webhookVisitWaitMs > reading.nowMs()
    if (ref !== null && visit === undefined && mayStillCome) return { events, done: place }
    if (event !== null) events.push(visit === undefined ? event : withVisit(event, visit))
  }
  return { events, done: noticed.length }
}

/** Null for an entry that is not an event, cannot be read, or is too old to be sent. */
function eventIn(parts: JobParts, topic: NoticedTopic, entry: StoredEntry): NoticedEvent | null {
  const { logger, nowMs } = parts.reading
  try {
    const event = readEvent(parts, topic, entry)
    return event !== null && event.happenedAtMs + LIMITS.webhookTryMs > nowMs() ? event : null
  } catch {
    // One damaged record must not block the others forever.
    logger.error({ topic, offset: entry.offset }, 'no event could be made of an entry')
    return null
  }
}

function readEvent(
  { reading: { read }, catalog }: JobParts,
  topic: NoticedTopic,
  entry: StoredEntry,
): NoticedEvent | null {
  switch (topic) {
    case 'installs':
      return ifRead(read('install', entry, topic), eventOfInstall)
    case 'install_decisions':
      return ifRead(read('decision', entry, topic), eventOfDecision)
    case 'deliveries':
      return ifRead(read('delivery', entry, topic), eventOfDelivery)
    case 'alerts':
      return ifRead(read('alert', entry, topic), eventOfAlert)
    case 'activity':
      return ifRead(read('activity', entry, topic), (record) => eventOfActivity(record, catalog()))
  }
}

function ifRead<T>(record: T | null, toEvent: (record: T) => NoticedEvent | null): NoticedEvent | null {
  return record === null ? null : toEvent(record)
}
