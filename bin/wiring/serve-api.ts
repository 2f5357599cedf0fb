/** Starts the public interface of one process, and says in its status how it does. */

import { fileURLToPath } from 'node:url'
import { unlessAborted } from '../../common/deadline.ts'
import { every, type Repetition } from '../../common/every.ts'
import { createApp } from '../../api/app.ts'
import type { ApiDeps } from '../../api/deps.ts'
import { connectionPeer } from '../../api/http/client-address.ts'
import { createApiMetrics } from '../../api/metrics.ts'
import { listen, type ApiServer, type ServerParts } from '../../api/server.ts'
import type { LogLag, LogStatus, SpoolHealth, TopicLag } from '../../ports/event-log/event-log.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import type { Keyring } from '../../runtime/keyring.ts'
import { createRandomness } from '../../runtime/random.ts'
import type { SettingsNamed } from '../../runtime/settings/settings-of.ts'
import { reportEngines } from './engine-metrics.ts'
import type { Probes } from './probes.ts'
import type { Process } from './process.ts'
import type { Stores } from './roles.ts'
import { version } from './version.ts'

type ConnectionSettings = SettingsNamed<'connectionsPerAddress' | 'trustProxy'>
type ApiSettings = ConnectionSettings & SettingsNamed<'listen' | 'baseUrl' | 'brand' | 'prices'>

interface Collection {
  readonly keys: Keyring
  readonly catalog: CatalogSource
  readonly stores: Stores
  /** Their status is that of the service. */
  readonly probes: Probes
  /** Answers what the api itself does not, if it was asked for that; false otherwise. */
  readonly beside?: ApiDeps['beside']
  /** What the status contains of other parts of this process. */
  readonly healthOfParts?: () => Readonly<Record<string, unknown>>
}

const SDK_FOLDER = fileURLToPath(new URL('../../sdk/dist', import.meta.url))

export async function serveApi(own: Process, settings: ApiSettings, collection: Collection): Promise<ApiServer> {
  const { lifecycle, logger, registry, nowMs } = own
  const { keys, catalog, stores, beside } = collection
  const health: LagNews = { lag: {}, rows: [] }
  const metrics = createApiMetrics(registry)
  reportEngines(registry, { ...stores, lag: () => health.rows })
  const app = createApp({
    eventLog: stores.eventLog,
    hotState: stores.hotState,
    facts: stores.facts,
    catalog: catalog.current,
    keys,
    nowMs,
    randomness: createRandomness(),
    logger,
    metrics,
    beside,
    options: {
      site: { baseUrl: settings.baseUrl, brand: settings.brand, version: version() },
      trustProxy: settings.trustProxy,
      prices: settings.prices,
      sdkFolder: SDK_FOLDER,
      isCatalogComplete: () => catalog.problems().length === 0,
    },
  })
  collection.probes.tellStatus(() => serviceStatus(collection, health.lag))
  await lifecycle.start(
    'lag',
    () => watchLag(stores.eventLog, health),
    (watch) => watch.close(),
  )
  const server = serverParts(settings, {
    onBroken: (status, code) => metrics.answered('', status, code, 0),
    onEnded: metrics.connectionEnded,
  })
  const api = await lifecycle.start(
    'api',
    () => listen(app, settings.listen, server),
    (opened) => opened.close(),
  )
  lifecycle.onDrain(() => api.drain())
  return api
}

/** Who counts what ends without an answer. */
interface ConnectionCounts {
  readonly onBroken: ServerParts['onBroken']
  readonly onEnded: ServerParts['onEnded']
}

export function serverParts(
  { connectionsPerAddress, trustProxy }: ConnectionSettings,
  { onBroken, onEnded }: ConnectionCounts,
): ServerParts {
  return { onBroken, onEnded, peers: { most: connectionsPerAddress, peerOf: connectionPeer(trustProxy) } }
}

const PROBLEMS_MAX = 1_000

/** The state of this process and its parts, with names and figures. */
function serviceStatus({ catalog, stores, healthOfParts }: Collection, lag: Readonly<Record<string, number>>): object {
  const { eventLog, hotState, facts } = stores
  const { version: inForce, organizations, websites } = catalog.current()
  const problems = catalog.problems().slice(0, PROBLEMS_MAX)
  return {
    version: version(),
    catalog: { version: inForce, organizations: organizations.size, websites: websites.size, problems },
    event_log: eventLog.health(),
    hot_state: hotState.health(),
    facts: facts.health(),
    ...spoolOf(eventLog),
    lag,
    ...healthOfParts?.(),
  }
}

function spoolOf(eventLog: LogStatus): { readonly spool?: SpoolHealth } {
  return eventLog.spool === undefined ? {} : { spool: eventLog.spool() }
}

interface LagNews {
  /** By group. */
  lag: Record<string, number>
  rows: readonly TopicLag[]
}

const LAG_EVERY_MS = 1_000
/** Reading the positions of all groups costs the broker work; it takes at most this share of the time. */
const LAG_PAUSE_SHARE = 20
const LAG_PAUSE_MAX_MS = 30_000

/** Keeps the lag in `/health` and the metrics no older than a second, if that costs little. */
function watchLag(eventLog: LogLag, news: LagNews): Repetition {
  const look = async (signal: AbortSignal): Promise<number> => {
    const startedMs = performance.now()
    // While the log is unreachable the last figure stays.
    const rows = await unlessAborted(signal, () => eventLog.lag()).catch(() => null)
    if (rows !== null) {
      const lag: Record<string, number> = {}
      for (const { group, entries } of rows) lag[group] = (lag[group] ?? 0) + entries
      Object.assign(news, { lag, rows })
    }
    const restMs = (performance.now() - startedMs) * LAG_PAUSE_SHARE
    return Math.min(Math.max(restMs, LAG_EVERY_MS), LAG_PAUSE_MAX_MS)
  }
  return every(LAG_EVERY_MS, look, { firstMs: LAG_EVERY_MS, onFailure: () => undefined })
}
