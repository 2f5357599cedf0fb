/**
 * Role `webhooks`: sends events to the webhooks of organisations. An event becomes one job for each webhook; a job that is not
 * accepted waits in tiers of the log and is retried until its deadline. A crash in between repeats an attempt under the same ID.
 */

import type { Registry } from 'prom-client'

import type { Credentials, NumberedCatalog, CatalogOrganizations } from '../../domain/catalog.ts'
import { TIER_NAMES, type TierName, type WebhookJob } from '../../domain/records.ts'
import type {
  Batch,
  BatchOutcome,
  Consumer,
  LogWriter,
  LogConsumers,
  LogTail,
} from '../../ports/event-log/event-log.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Randomness } from '../../runtime/random.ts'
import type { OutboundParts } from '../outbound/call.ts'
import { createCatalogWaits } from '../catalog-waits.ts'
import { createRecordReader } from '../record-reader.ts'
import { takeDue } from '../tiers.ts'
import { consumeReadable } from '../version-guard.ts'
import { DestinationGate } from '../worker/destination-gate.ts'
import { WebhookCalls } from './calls.ts'
import type { DeliverParts } from './deliver.ts'
import { createWebhookNews } from './news.ts'
import { NOTICED_TOPICS, noticeEvents } from './notice.ts'
import { recallAttempts } from './recalled-attempts.ts'
import { recipientOf } from './recipient.ts'

interface WebhooksDeps {
  readonly eventLog: LogWriter & LogConsumers & LogTail
  readonly hotState: JobVerbs
  readonly catalog: () => NumberedCatalog & CatalogOrganizations
  readonly catalogAsOf?: () => number
  readonly credentials: () => Credentials
  readonly logger: Logger
  readonly nowMs: () => number
  readonly randomness: Randomness
  readonly registry?: Registry
  /** How tenants' addresses are reached; tests set it. */
  readonly outbound?: OutboundParts
}

const GROUP = 'webhooks'
const NOTICED_ENTRIES = 1_000
const BATCH_JOBS = 50

/** Resolves once it consumes. `close` resolves when calls in flight have ended. */
export async function startWebhooks(deps: WebhooksDeps): Promise<{ readonly close: () => Promise<void> }> {
  const read = createRecordReader(deps, GROUP)
  const news = createWebhookNews(deps)
  const waits = createCatalogWaits(deps, GROUP)
  const { outbound = {}, randomness } = deps
  const stopping = new AbortController()
  const parts: DeliverParts = {
    ...deps,
    outbound,
    news,
    waits,
    gate: new DestinationGate(),
    random: randomness.fraction,
    signal: stopping.signal,
    recipientOf: (job) => recipientOf(deps, job),
  }
  const calls = new WebhookCalls(parts, await recallAttempts(deps.eventLog))
  const notice = (batch: Batch): Promise<BatchOutcome> =>
    noticeEvents({ ...deps, read, waits, onJob: news.noticed }, batch)
  const deliver = async (batch: Batch, tier: TierName | null): Promise<BatchOutcome> => {
    const reading = {
      tier,
      nowMs: deps.nowMs,
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
