/**
 * Role `webhooks`: sends events to the webhooks of organisations. An event becomes one job for each webhook; a job that is not
 * accepted waits in tiers of the log and is retried until its deadline. A crash in between repeats an attempt under the same ID.
 */

import { BoundedMap } from '../../common/bounded-map.ts'
import type { CatalogOrganizations, CatalogSecrets, NumberedCatalog } from '../../domain/catalog.ts'
import type { CatalogInHand } from '../../domain/published/catalog-number.ts'
import { TIER_NAMES, type TierName, type WebhookJob } from '../../domain/records.ts'
import type {
  Batch,
  BatchOutcome,
  Consumer,
  LogWriter,
  LogConsumers,
  LogTail,
} from '../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import type { Randomness } from '../../runtime/random.ts'
import type { OutboundParts } from '../outbound/call.ts'
import { createCatalogWaits } from '../catalog-waits.ts'
import { createRecordReader } from '../record-reader.ts'
import { takeDue } from '../tiers.ts'
import { consumeReadable } from '../version-guard.ts'
import { DestinationGate } from '../worker/destination-gate.ts'
import { WebhookCalls } from './calls.ts'
import type { DeliverParts } from './deliver.ts'
import { createWebhookJournal } from './job-journal.ts'
import { createWebhookNews } from './news.ts'
import { NOTICED_TOPICS, noticeEvents, writeWebhookJobs } from './notice.ts'
import { recallAttempts } from './recalled-attempts.ts'
import { SLACK_ORIGIN } from '../../domain/webhooks/slack-address.ts'
import { createSlack } from './slack.ts'
import { createRecipients } from './recipient.ts'

interface WebhooksDeps {
  readonly eventLog: LogWriter & LogConsumers & LogTail
  readonly hotState: JobVerbs
  readonly facts: FactsReader
  readonly catalog: CatalogInHand<NumberedCatalog & CatalogOrganizations> & CatalogSecrets
  readonly telemetry: Telemetry
  readonly nowMs: () => number
  readonly randomness: Randomness
  /** Another origin for webhooks of the format Slack. */
  readonly slackUrl?: string
}

const GROUP = 'webhooks'
const NOTICED_ENTRIES = 1_000
const BATCH_JOBS = 50
/** One for each webhook of the format Slack and hour. */
const HOURS_REMEMBERED = 10_000

/** Resolves once it consumes. `close` resolves when calls in flight have ended. */
export async function startWebhooks(
  deps: WebhooksDeps,
  outbound: OutboundParts = {},
): Promise<{ readonly close: () => Promise<void> }> {
  const { eventLog, catalog, telemetry, nowMs } = deps
  const read = createRecordReader(telemetry, GROUP)
  const news = createWebhookNews(deps)
  const waits = createCatalogWaits(deps, GROUP)
  const stopping = new AbortController()
  const { signal } = stopping
  const recipients = createRecipients({ catalog, waits, nowMs })
  const slack = createSlack({ facts: deps.facts, hotState: deps.hotState, origin: deps.slackUrl ?? SLACK_ORIGIN })
  const journal = createWebhookJournal({ eventLog, news, nowMs, random: deps.randomness.fraction, signal })
  const parts: DeliverParts = { recipients, journal, gate: new DestinationGate(), news, outbound, slack, nowMs }
  const calls = new WebhookCalls(parts, await recallAttempts(eventLog), signal)
  const hours = new BoundedMap<string, true>(HOURS_REMEMBERED)
  const reading = { read, logger: telemetry.logger, nowMs }
  const jobs = { eventLog, facts: deps.facts, catalog: catalog.current, reading, hours, onJob: news.noticed }
  const writeJobs = (batch: Batch): Promise<number> => writeWebhookJobs(jobs, batch)
  const notice = (batch: Batch): Promise<BatchOutcome> => noticeEvents({ writeJobs, waits, nowMs }, batch)
  const deliver = async (batch: Batch, tier: TierName | null): Promise<BatchOutcome> => {
    const reading = {
      tier,
      nowMs,
      read: (entry: Batch['entries'][number]) => read('webhookJob', entry, batch.topic),
    }
    const { due, outcome } = takeDue<WebhookJob>(batch, reading)
    const { handedOver, finished } = calls.take(due)
    await handedOver
    return { ...outcome, until: finished }
  }
  const consume = consumeReadable(deps)
  const consumers: Consumer[] = []
  const close = async (): Promise<void> => {
    stopping.abort()
    await Promise.all(consumers.map((consumer) => consumer.close()))
  }
  try {
    // Events from before this role existed are not sent.
    for (const topic of NOTICED_TOPICS)
      consumers.push(await consume(topic, GROUP, notice, { maxEntries: NOTICED_ENTRIES, from: 'newest' }))
    const options = { maxEntries: BATCH_JOBS }
    consumers.push(await consume('webhooks', GROUP, (batch) => deliver(batch, null), options))
    for (const tier of TIER_NAMES)
      consumers.push(await consume(`webhooks.${tier}`, GROUP, (batch) => deliver(batch, tier), options))
  } catch (error) {
    await close()
    throw error
  }
  return { close }
}
