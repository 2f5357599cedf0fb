/** Everything the routes may use, passed to them once: the ports, the catalog and the process's own data. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Catalog } from '../domain/catalog.ts'
import type { LogWriter, LogTail, LogProgress, LogStatus } from '../ports/event-log/event-log.ts'
import type { FactsReader, FactsStatus } from '../ports/facts/facts.ts'
import type { HotState } from '../ports/hot-state/hot-state.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Randomness } from '../runtime/random.ts'
import type { ApiMetrics } from './metrics.ts'

/** The catalog by which requests are answered. */
export interface CatalogInForce {
  readonly catalog: () => Catalog
}

/** The keys of receipts and tokens. */
export interface KeysInForce {
  readonly keys: Keyring
}

export interface ApiDeps extends CatalogInForce, KeysInForce {
  readonly eventLog: LogWriter & LogTail & LogProgress & LogStatus
  readonly hotState: HotState
  /** Look-ups of the request path only. */
  readonly facts: FactsReader & FactsStatus
  readonly nowMs: () => number
  readonly randomness: Randomness
  readonly logger: Logger
  readonly metrics: ApiMetrics
  /** Answers what no route here does, as the dashboard of the same process; false for what it does not know either. */
  readonly beside?: ((req: IncomingMessage, res: ServerResponse) => boolean) | undefined
  readonly options: ApiOptions
}

/** What public files say of the service. */
export interface PublicSite {
  readonly baseUrl: string
  readonly brand: string
  readonly version: string
}

export interface ApiOptions {
  readonly site: PublicSite
  /** Networks whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[]
  /** Prices by plan for `/api/limits`; null if none are set. */
  readonly prices: Readonly<Record<string, unknown>> | null
  /** Folder of the built SDK. */
  readonly sdkFolder: string
  /** Whether every object of the configuration is in force. */
  readonly isCatalogComplete: () => boolean
}
