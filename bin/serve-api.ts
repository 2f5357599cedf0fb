/** Starts the public interface of one process, its health and its metrics. */

import { fileURLToPath } from 'node:url'
import type { Registry } from 'prom-client'
import { createApp } from '../api/app.ts'
import { createApiMetrics } from '../api/metrics.ts'
import { listen, type ApiServer } from '../api/server.ts'
import type { EventLog, SpoolHealth } from '../ports/event-log/event-log.ts'
import type { Facts } from '../ports/facts/facts.ts'
import type { HotState } from '../ports/hot-state/hot-state.ts'
import type { CatalogSource } from '../runtime/catalog-source.ts'
import { createKeyring, loadSecretFile, parseSecrets, type Keyring } from '../runtime/keyring.ts'
import { serveMetrics, type MetricsServer } from '../runtime/metrics.ts'
import { createRandomness } from '../runtime/random.ts'
import type { Settings } from '../runtime/settings.ts'
import type { EngineParts } from './engines.ts'

export interface ApiParts extends EngineParts {
  readonly keys: Keyring
  readonly catalog: CatalogSource
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly facts: Facts
  readonly registry: Registry
  readonly version: string
  /** What `/health` tells of other parts of this process. */
  readonly healthOfParts: () => Readonly<Record<string, unknown>>
}

const SDK_FOLDER = fileURLToPath(new URL('../sdk/dist', import.meta.url))

export async function serveApi(parts: ApiParts): Promise<ApiServer> {
  const { settings, catalog, lifecycle, eventLog } = parts
  const health = { lag: {} as Record<string, number> }
  const metrics = createApiMetrics(parts.registry)
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
      healthParts: () => ({
        problems: catalog.problems(),
        parts: { ...spoolOf(eventLog), lag: health.lag, ...parts.healthOfParts() },
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

function spoolOf(eventLog: EventLog): { readonly spool?: SpoolHealth } {
  return eventLog.spool === undefined ? {} : { spool: eventLog.spool() }
}

export function startMetrics({ lifecycle, settings }: EngineParts, registry: Registry): Promise<MetricsServer> {
  return lifecycle.start(
    'metrics',
    () => serveMetrics(registry, settings.metricsListen),
    (server) => server.close(),
  )
}

/** On one machine the secret file is made at the first start; elsewhere all processes must be given the same one. */
export function keyringOf(settings: Settings, { mayCreate }: { readonly mayCreate: boolean }): Keyring {
  const { secret, secretFile, data } = settings
  if (secret !== null) return createKeyring(parseSecrets(secret))
  return createKeyring(loadSecretFile(secretFile ?? `${data}/secret`, { mayCreate }))
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
