/** Wires the whole service into one process: LMDB and chDB below, every role and the api above them. */

import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Registry } from 'prom-client'
import { createApp } from '../api/app.ts'
import type { HealthParts } from '../api/deps.ts'
import { createApiMetrics } from '../api/metrics.ts'
import { listen, type ApiServer } from '../api/server.ts'
import { startDispatch } from '../delivery/dispatch.ts'
import { startFactsWriter } from '../delivery/facts-writer.ts'
import { PROVIDERS } from '../delivery/providers/index.ts'
import type { Provider } from '../delivery/provider.ts'
import { startWorker, type Worker } from '../delivery/worker.ts'
import type { ProviderId } from '../domain/model.ts'
import type { EventLog } from '../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../ports/event-log/lmdb.ts'
import { clickhouseFacts } from '../ports/facts/clickhouse.ts'
import { openChdb } from '../ports/facts/connect-chdb.ts'
import type { Facts } from '../ports/facts/facts.ts'
import { migrate } from '../ports/facts/migrate.ts'
import type { HotState } from '../ports/hot-state/hot-state.ts'
import { lmdbHotState } from '../ports/hot-state/lmdb.ts'
import { openLmdb } from '../ports/lmdb/environment.ts'
import { openCatalogFolder, type CatalogSource } from '../runtime/catalog-source.ts'
import { createKeyring, loadSecretFile, parseSecrets, type Keyring } from '../runtime/keyring.ts'
import type { Lifecycle } from '../runtime/lifecycle.ts'
import type { Logger } from '../runtime/logger.ts'
import { createRegistry, serveMetrics } from '../runtime/metrics.ts'
import { createRandomness } from '../runtime/random.ts'
import type { Settings } from '../runtime/settings.ts'
import { reportCatalog } from './catalog-report.ts'
import { recallAnswers } from './recall-answers.ts'
import { serveTools } from './tools/control.ts'
import { localBackend } from './tools/backend.ts'

export interface ServiceOptions {
  readonly settings: Settings
  readonly env: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  readonly lifecycle: Lifecycle
  readonly nowMs: () => number
  readonly version: string
}

export interface Service {
  readonly port: number
  readonly metricsPort: number
  readonly catalog: CatalogSource
  readonly eventLog: EventLog
  readonly facts: Facts
  readonly hotState: HotState
}

/** What every part above the engines is made from. */
interface Foundation extends ServiceOptions {
  readonly keys: Keyring
  readonly catalog: CatalogSource
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly facts: Facts
  readonly registry: Registry
}

const SDK_FOLDER = fileURLToPath(new URL('../sdk/dist', import.meta.url))

export async function startService(options: ServiceOptions): Promise<Service> {
  const foundation = await layFoundation(options)
  const { catalog, eventLog, facts, hotState, lifecycle, settings } = foundation
  const workers = await startRoles(foundation)
  const backend = localBackend({ facts, eventLog })
  await lifecycle.start(
    'tools',
    () => serveTools(settings.data, backend),
    (server) => server.close(),
  )
  const metrics = await lifecycle.start(
    'metrics',
    () => serveMetrics(foundation.registry, settings.metricsListen),
    (server) => server.close(),
  )
  const api = await startApi(foundation, workers)
  return { port: api.port, metricsPort: metrics.port, catalog, eventLog, facts, hotState }
}

/** Engines, keys and catalog, in the order in which they need each other. */
async function layFoundation(options: ServiceOptions): Promise<Foundation> {
  const { settings, lifecycle, logger, nowMs } = options
  await mkdir(settings.data, { recursive: true })
  const keys = createKeyring(secretsOf(settings))
  const catalog = await lifecycle.start(
    'catalog',
    () => openCatalogFolder({ folder: settings.manifests, env: options.env, logger, nowMs }),
    (source) => source.close(),
  )
  const onFatal = (error: Error): void => lifecycle.fail('lmdb', error)
  const environment = await lifecycle.start(
    'lmdb',
    () => openLmdb(folderOf(settings.eventLog), { onFatal, nowMs }),
    (opened) => opened.close(),
  )
  const connection = await lifecycle.start(
    'chdb',
    () => openChdb(folderOf(settings.facts)),
    (opened) => opened.close(),
  )
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs })
  const onHandlerFailure = (error: unknown, topic: string, group: string): void =>
    logger.warn({ err: error, topic, group }, 'batch failed and comes again')
  const eventLog = await lifecycle.start(
    'event log',
    () => lmdbEventLog(environment, { onHandlerFailure }),
    (log) => log.close(),
  )
  const hotState = await lifecycle.start(
    'hot state',
    () => lmdbHotState(environment),
    (state) => state.close(),
  )
  const recalled = await recallAnswers({ eventLog, hotState })
  if (recalled > 0) logger.info({ recalled }, 'answers recalled that a crash had cut off')
  reportCatalog({ catalog, eventLog, nowMs })
  const registry = createRegistry('embedded', options.version)
  return { ...options, keys, catalog, eventLog, hotState, facts, registry }
}

/** Facts-writer, dispatch and one worker for each provider there is. */
async function startRoles(foundation: Foundation): Promise<ReadonlyMap<ProviderId, Worker>> {
  const { eventLog, facts, hotState, catalog, nowMs, logger, lifecycle, registry } = foundation
  const random = Math.random
  await lifecycle.start(
    'facts-writer',
    () => startFactsWriter({ eventLog, facts, logger, nowMs, registry }),
    (role) => role.stop(),
  )
  await lifecycle.start(
    'dispatch',
    () => startDispatch({ eventLog, facts, catalog: catalog.current, nowMs, random, logger }),
    (role) => role.stop(),
  )
  const workers = new Map<ProviderId, Worker>()
  for (const provider of Object.values(PROVIDERS)) {
    const worker = await lifecycle.start(
      provider.id,
      () =>
        startWorker({
          provider,
          baseUrl: baseUrlOf(provider, foundation.settings),
          tokenUrl: foundation.settings.googleOauthUrl ?? GOOGLE_OAUTH_URL,
          eventLog,
          hotState,
          catalog: catalog.current,
          credentials: catalog.credentials,
          nowMs,
          random,
          logger,
          registry,
        }),
      (role) => role.stop(),
    )
    workers.set(provider.id, worker)
  }
  return workers
}

async function startApi(foundation: Foundation, workers: ReadonlyMap<ProviderId, Worker>): Promise<ApiServer> {
  const { settings, catalog, lifecycle, eventLog, hotState, facts, keys, nowMs, logger } = foundation
  const health = { lag: {} as Record<string, number> }
  const metrics = createApiMetrics(foundation.registry)
  const app = createApp({
    eventLog,
    hotState,
    facts,
    keys,
    nowMs,
    logger,
    catalog: catalog.current,
    randomness: createRandomness(),
    metrics,
    options: {
      baseUrl: settings.baseUrl,
      brand: settings.brand,
      trustProxy: settings.trustProxy,
      prices: settings.prices,
      version: foundation.version,
      sdkFolder: SDK_FOLDER,
      healthParts: (): HealthParts => ({
        problems: catalog.problems(),
        parts: {
          lag: health.lag,
          workers: Object.fromEntries([...workers].map(([id, worker]) => [id, worker.health()])),
        },
      }),
    },
  })
  await lifecycle.start(
    'lag',
    () => watchLag(eventLog, health),
    (timer) => clearInterval(timer),
  )
  const onBroken = (status: number, code: string): void => metrics.answered('', status, code, 0)
  return lifecycle.start(
    'api',
    () => listen(app, settings.listen, onBroken),
    (server) => server.close(),
  )
}

const LAG_EVERY_MS = 1_000

/** Keeps what `/health` says of the roles' lag no older than a second. */
function watchLag(eventLog: EventLog, health: { lag: Record<string, number> }): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    const rows = await eventLog.lag()
    const lag: Record<string, number> = {}
    for (const { group, entries } of rows) lag[group] = (lag[group] ?? 0) + entries
    health.lag = lag
  }
  // While the process stops the log answers no more; the last figure stands.
  return setInterval(() => void look().catch(() => undefined), LAG_EVERY_MS).unref()
}

function secretsOf(settings: Settings): readonly string[] {
  return settings.secret === null
    ? loadSecretFile(settings.secretFile ?? `${settings.data}/secret`, { mayCreate: true })
    : parseSecrets(settings.secret)
}

function folderOf(engine: Settings['eventLog']): string {
  if (engine === null) throw new Error('no engine is set')
  return engine.location
}

const PROVIDER_URLS: Readonly<Record<ProviderId, { readonly own: string; readonly setting: keyof Settings }>> = {
  ga4: { own: 'https://www.google-analytics.com', setting: 'ga4Url' },
  google_ads: { own: 'https://datamanager.googleapis.com', setting: 'googleAdsUrl' },
  meta: { own: 'https://graph.facebook.com', setting: 'metaUrl' },
  tiktok: { own: 'https://business-api.tiktok.com', setting: 'tiktokUrl' },
  x: { own: 'https://ads-api.x.com', setting: 'xUrl' },
}

/** Google's is the only provider that wants access tokens. */
const GOOGLE_OAUTH_URL = 'https://oauth2.googleapis.com'

function baseUrlOf(provider: Provider, settings: Settings): string {
  const { own, setting } = PROVIDER_URLS[provider.id]
  const value = settings[setting]
  return typeof value === 'string' ? value : own
}
