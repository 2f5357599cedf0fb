/** Starts the roles of the delivery side on stores that are open; the lifecycle stops them. */

import { randomUUID } from 'node:crypto'

import { startAlerts } from '../../delivery/alerts/alerts.ts'
import { startDispatch } from '../../delivery/dispatch/dispatch.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { PROVIDERS } from '../../delivery/providers/index.ts'
import { createRefill } from '../../delivery/recovery/refill.ts'
import { startRetention } from '../../delivery/retention.ts'
import { startReplayJobs } from '../../delivery/rollup/replay-jobs.ts'
import { startRollup } from '../../delivery/rollup/rollup.ts'
import { startDecidedAnswers } from '../../delivery/state/decided-answers.ts'
import { startLateRevocations } from '../../delivery/state/late-revocations.ts'
import { startState } from '../../delivery/state/state.ts'
import { startStreams } from '../../delivery/streams/streams.ts'
import { startPreparingTopics } from '../../delivery/used-topics.ts'
import { startWebhooks } from '../../delivery/webhooks/webhooks.ts'
import { ownCredentials, streamCredentials, webhookCredentials } from '../../delivery/worker/own-credentials.ts'
import { startWorker, type Worker } from '../../delivery/worker/worker.ts'
import { PUBLIC_ONLY } from '../../domain/outbound/address.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { Facts, FactsReader, FactsScanner, FactsWriter } from '../../ports/facts/facts.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createRandomness } from '../../runtime/random.ts'
import type { ProxySettings, SettingsNamed } from '../../runtime/settings/settings-of.ts'
import { reportEngines } from './engine-metrics.ts'
import { baseUrlOf, outboundProxyOf, tokenUrlOf, type SendingSettings } from './outbound.ts'
import type { Process } from './process.ts'

/** All three stores, for what works on each of them. */
export interface Stores {
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly facts: Facts
}

interface FactStores {
  readonly eventLog: EventLog
  readonly facts: Facts
}

/** What a role sends from: jobs of the log, claims in the hot state, credentials of the catalog. */
interface SendingStores {
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly catalog: CatalogSource
}

interface Closable {
  readonly close: () => Promise<void> | void
}

const closing = (part: Closable): Promise<void> | void => part.close()

/** The facts-writer brings what was just answered further before it stops, as dispatch does; other parts begin to stop at once. */
export async function startWritingFacts(own: Process, { eventLog, facts }: FactStores): Promise<void> {
  const { lifecycle, logger, registry, nowMs } = own
  reportEngines(registry, { eventLog, facts })
  await lifecycle.start('facts-writer', () => startFactsWriter({ eventLog, facts, logger, registry, nowMs }), closing)
}

/** Tells whoever fills the hot state that its store has lost data; nobody at first. */
export interface StoreLoss {
  readonly tell: () => void
  readonly listen: (refill: () => void) => void
}

export function storeLoss(): StoreLoss {
  let act = (): void => undefined
  return { tell: () => act(), listen: (refill) => void (act = refill) }
}

export async function startKeepingState(own: Process, stores: Stores, loss: StoreLoss): Promise<void> {
  const { lifecycle, logger, registry, nowMs } = own
  const { eventLog, hotState, facts } = stores
  reportEngines(registry, stores)
  const chance = { random: Math.random, owner: randomUUID() }
  const state = await lifecycle.start(
    'state',
    () => startState({ eventLog, hotState, facts, telemetry: { logger, registry }, nowMs, ...chance }),
    closing,
  )
  loss.listen(() => state.storeLost())
  // The store was not watched until now: it may have lost data while this role was down or starting.
  state.storeLost()
}

/** The part of the role `state` for a single process, which need not apply what it saw itself. */
export async function keepStateOfOneProcess(
  own: Process,
  { eventLog, hotState, facts }: Stores,
  loss: StoreLoss,
): Promise<void> {
  const { lifecycle, logger, registry, nowMs } = own
  const given = { eventLog, hotState, telemetry: { logger, registry }, nowMs }
  await lifecycle.start('decided answers', () => startDecidedAnswers(given), closing)
  const random = Math.random
  await lifecycle.start('late revocations', () => startLateRevocations({ ...given, facts, random }), closing)
  const owner = randomUUID()
  const refill = await lifecycle.start('refill', () => createRefill({ ...given, facts, owner }), closing)
  loss.listen(() => refill.request())
  refill.request()
}

export async function startDispatching(
  own: Process,
  { eventLog, hotState, facts, catalog }: FactStores & { readonly hotState: HotState; readonly catalog: CatalogSource },
): Promise<void> {
  const { lifecycle, logger, registry, nowMs } = own
  reportEngines(registry, { eventLog, facts })
  const telemetry = { logger, registry }
  const dispatch = { eventLog, facts, catalog, claims: hotState, nowMs, random: Math.random, telemetry }
  await startPreparing(own, { eventLog, catalog })
  await lifecycle.start('dispatch', () => startDispatch(dispatch), closing)
  const retention = { facts, catalog: catalog.current, logger, nowMs }
  await lifecycle.startBackground('retention', () => startRetention(retention), closing)
}

async function startPreparing(
  { lifecycle, logger }: Process,
  { eventLog, catalog }: { readonly eventLog: EventLog; readonly catalog: CatalogSource },
): Promise<void> {
  const onFailure = (error: unknown): void =>
    logger.warn({ err: error, task: 'prepare_topics' }, 'topics of the catalog are not made yet; retrying')
  await lifecycle.startBackground(
    'topics of the catalog',
    () => startPreparingTopics({ eventLog, catalog, onFailure }),
    closing,
  )
}

/** What figures are counted in, and alerts judged by and written to. */
interface CountingStores {
  readonly eventLog: EventLog
  readonly facts: FactsReader & FactsScanner & FactsWriter
  readonly catalog: CatalogSource
}

/** `runReplaysElsewhere` finishes open replays of decisions in another thread; without it the role does so in this one. */
export async function startRollingUp(
  { lifecycle, logger, registry, nowMs }: Process,
  { eventLog, facts, catalog }: CountingStores,
  runReplaysElsewhere?: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await lifecycle.startBackground('rollup', () => startRollup({ facts, logger, registry, nowMs }), closing)
  const alerts = { facts, eventLog, catalog, telemetry: { logger, registry }, nowMs }
  await lifecycle.startBackground('alerts', () => startAlerts(alerts), closing)
  const elsewhere = runReplaysElsewhere === undefined ? {} : { runReplaysElsewhere }
  const replays = { facts, logger, nowMs, ...elsewhere }
  await lifecycle.startBackground('replays of decisions', () => startReplayJobs(replays), closing)
}

export async function startStreamingLogs(
  own: Process,
  settings: ProxySettings & SettingsNamed<'streamAllow'>,
  { eventLog, hotState, facts, catalog }: SendingStores & { readonly facts: Facts },
): Promise<void> {
  const { lifecycle, logger, registry, nowMs } = own
  reportEngines(registry, { eventLog, hotState, facts })
  const proxy = outboundProxyOf(settings)
  const role = () =>
    startStreams(
      {
        eventLog,
        hotState,
        facts,
        catalog: { current: catalog.current, asOf: catalog.asOf, credentials: streamCredentials(catalog) },
        telemetry: { logger, registry },
        nowMs,
      },
      { webhook: { proxy }, bucket: { proxy, policy: { ...PUBLIC_ONLY, networks: settings.streamAllow } } },
    )
  await lifecycle.startBackground('streams', role, closing)
}

export async function startCallingWebhooks(
  own: Process,
  settings: ProxySettings & SettingsNamed<'slackUrl'>,
  { eventLog, hotState, facts, catalog }: SendingStores & { readonly facts: Facts },
): Promise<void> {
  const { lifecycle, logger, registry, nowMs } = own
  reportEngines(registry, { eventLog, hotState, facts })
  const role = () =>
    startWebhooks(
      {
        eventLog,
        hotState,
        facts,
        catalog: { current: catalog.current, asOf: catalog.asOf, credentials: webhookCredentials(catalog) },
        telemetry: { logger, registry },
        nowMs,
        randomness: createRandomness(),
        slackUrl: settings.slackUrl,
      },
      { proxy: outboundProxyOf(settings) },
    )
  await startPreparing(own, { eventLog, catalog })
  await lifecycle.startBackground('webhooks', role, closing)
}

/** The worker of one provider. */
export async function startSending(
  own: Process,
  settings: SendingSettings & { readonly role: ProviderId },
  stores: SendingStores,
): Promise<void> {
  const { role } = settings
  reportEngines(own.registry, { eventLog: stores.eventLog, hotState: stores.hotState })
  await own.lifecycle.startBackground(role, () => openWorker(own, role, settings, stores), closing)
}

/** All workers of a single process. They stop at the same time: each may wait for a provider that hangs. */
export async function startWorkers(
  own: Process,
  settings: SendingSettings,
  stores: SendingStores,
): Promise<ReadonlyMap<ProviderId, Worker>> {
  const workers = new Map<ProviderId, Worker>()
  const closeAll = async (): Promise<void> =>
    void (await Promise.all([...workers.values()].map((worker) => worker.close())))
  const startAll = async (): Promise<void> => {
    try {
      for (const { id } of Object.values(PROVIDERS)) workers.set(id, await openWorker(own, id, settings, stores))
    } catch (error) {
      await closeAll()
      throw error
    }
  }
  await own.lifecycle.startBackground('workers', startAll, closeAll)
  return workers
}

function openWorker(
  { logger, registry, nowMs }: Process,
  id: ProviderId,
  settings: SendingSettings,
  { eventLog, hotState, catalog }: SendingStores,
): Promise<Worker> {
  const access = {
    provider: PROVIDERS[id],
    baseUrl: baseUrlOf(id, settings),
    tokenUrl: tokenUrlOf(id, settings),
    proxy: outboundProxyOf(settings),
  }
  return startWorker(access, {
    eventLog,
    hotState,
    catalog: { current: catalog.current, asOf: catalog.asOf, credentials: ownCredentials(id, catalog) },
    nowMs,
    random: Math.random,
    telemetry: { logger, registry },
  })
}
