/** Starts the public interface of one process, its health and its metrics. */

import { fileURLToPath } from 'node:url'
import type { Registry } from 'prom-client'
import { unlessAborted } from '../../common/deadline.ts'
import { every, type Repetition } from '../../common/every.ts'
import { createApp } from '../../api/app.ts'
import type { ApiDeps } from '../../api/deps.ts'
import { connectionPeer } from '../../api/http/client-address.ts'
import { createApiMetrics } from '../../api/metrics.ts'
import { listen, type ApiServer, type ServerParts } from '../../api/server.ts'
import type { EventLog, SpoolHealth, TopicLag } from '../../ports/event-log/event-log.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createKeyring, loadSecretFile, parseSecrets, type Keyring } from '../../runtime/keyring.ts'
import { serveMetrics, type MetricsServer } from '../../runtime/metrics.ts'
import { createRandomness } from '../../runtime/random.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { reportEngines } from './engine-metrics.ts'
import type { EngineParts } from './engines.ts'

interface ApiParts extends EngineParts {
  readonly keys: Keyring
  readonly catalog: CatalogSource
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly facts: Facts
  readonly registry: Registry
  readonly version: string
  /** Answers what the api itself does not, if it was asked for that; false otherwise. */
  readonly beside?: ApiDeps['beside']
  /** What the status contains of other parts of this process. */
  readonly healthOfParts: () => Readonly<Record<string, unknown>>
  /** Sets what `GET /status` of the metrics port answers. */
  readonly tellStatus: Probes['tellStatus']
}

const SDK_FOLDER = fileURLToPath(new URL('../../sdk/dist', import.meta.url))

export async function serveApi(parts: ApiParts): Promise<ApiServer> {
  const { settings, catalog, lifecycle, eventLog } = parts
  const health: LagNews = { lag: {}, rows: [] }
  const metrics = createApiMetrics(parts.registry)
  reportEngines(parts.registry, { ...parts, lag: () => health.rows })
  const app = createApp({
    ...parts,
    catalog: catalog.current,
    randomness: createRandomness(),
    metrics,
    options: {
      baseUrl: settings.baseUrl,
      brand: settings.brand,
      trustProxy: settings.trustProxy,
      prices: settings.prices,
      version: parts.version,
      sdkFolder: SDK_FOLDER,
      isCatalogComplete: () => catalog.problems().length === 0,
    },
  })
  parts.tellStatus(() => serviceStatus(parts, health.lag))
  await lifecycle.start(
    'lag',
    () => watchLag(eventLog, health),
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

export function serverParts(
  { connectionsPerAddress, trustProxy }: Settings,
  counting: Pick<ServerParts, 'onBroken' | 'onEnded'>,
): ServerParts {
  return { ...counting, connections: { maxPerPeer: connectionsPerAddress, peerOf: connectionPeer(trustProxy) } }
}

const PROBLEMS_MAX = 1_000

/** The state of this process and its parts, with names and figures. */
function serviceStatus(parts: ApiParts, lag: Readonly<Record<string, number>>): object {
  const { catalog, eventLog, hotState, facts } = parts
  const { version, organizations, websites } = catalog.current()
  const problems = catalog.problems().slice(0, PROBLEMS_MAX)
  return {
    version: parts.version,
    catalog: { version, organizations: organizations.size, websites: websites.size, problems },
    event_log: eventLog.health(),
    hot_state: hotState.health(),
    facts: facts.health(),
    ...spoolOf(eventLog),
    lag,
    ...parts.healthOfParts(),
  }
}

function spoolOf(eventLog: EventLog): { readonly spool?: SpoolHealth } {
  return eventLog.spool === undefined ? {} : { spool: eventLog.spool() }
}

interface Probes extends MetricsServer {
  /**
   * The process can answer from now on, while `check` returns true and it is neither draining nor stopping. No check asks whether an
   * engine is there: a process without its log still serves hook and SDK, and refuses the rest at once, where no pod at all would
   * let callers hang (ADR 53).
   */
  readonly ready: (check?: () => boolean) => void
  /** Sets what `GET /status` answers. */
  readonly tellStatus: (status: () => object) => void
}

export async function startMetrics({ lifecycle, settings }: EngineParts, registry: Registry): Promise<Probes> {
  let check: () => boolean = () => false
  let status: () => object = () => ({})
  const server = await lifecycle.start(
    'metrics',
    () =>
      serveMetrics(registry, settings.metricsListen, {
        isReady: () => !lifecycle.isDraining() && check(),
        status: () => status(),
        // As on the public port: anyone with one IPv6 address has 2 to the power of 64 of them.
        connections: { peerOf: connectionPeer([]) },
      }),
    (started) => started.close(),
  )
  return {
    ...server,
    ready: (given = () => true) => void (check = given),
    tellStatus: (given) => void (status = given),
  }
}

/** On one machine the secret file is made at the first start; elsewhere all processes must share one. */
export function keyringOf(settings: Settings, { mayCreate }: { readonly mayCreate: boolean }): Keyring {
  return createKeyring(masterSecrets(settings, { mayCreate }))
}

/** The master secrets, the one that signs first. Throws like `loadSecretFile`. */
export function masterSecrets(
  { secret, secretFile, data }: Settings,
  options: { readonly mayCreate: boolean },
): readonly string[] {
  return secret === null ? loadSecretFile(secretFile ?? `${data}/secret`, options) : parseSecrets(secret)
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
function watchLag(eventLog: EventLog, news: LagNews): Repetition {
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
