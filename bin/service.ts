/** Wires the whole service into one process: every role and the api on one set of engines. */

import { join } from 'node:path'

import type { Registry } from 'prom-client'
import { createRecordReader } from '../delivery/record-reader.ts'
import type { Worker } from '../delivery/worker/worker.ts'
import type { ProviderId } from '../domain/providers/index.ts'
import type { EventLog } from '../ports/event-log/event-log.ts'
import type { FactsConnection } from '../ports/facts/engine/connection.ts'
import type { Facts } from '../ports/facts/facts.ts'
import { startFolderTidying } from '../dashboard/resources/folder-tidying.ts'
import { migrate } from '../ports/facts/migrate.ts'
import type { HotState } from '../ports/hot-state/hot-state.ts'
import { CATALOG_NUMBER_FILE } from '../runtime/catalog/last-number.ts'
import { openCatalogFolder, type CatalogSource, type FolderCatalog } from '../runtime/catalog/source.ts'
import { createKeyring, type Keyring } from '../runtime/keyring.ts'
import { createRegistry } from '../runtime/metrics.ts'
import { reportCatalog } from './wiring/catalog-report.ts'
import { auditFolder, folderResources, openDashboard, toolsOf, type OpenDashboard } from './wiring/people/dashboard.ts'
import { openBackupSource } from './wiring/backup.ts'
import { openDataFolder } from './wiring/data-folder.ts'
import { createReadThread } from './reads/thread.ts'
import { engines, type EngineParts } from './wiring/engines.ts'
import { recallAnswers } from '../delivery/recovery/recall-answers.ts'
import { recallVisits } from '../delivery/recovery/recall-visits.ts'
import { startRole, startWorkers, stateOfOneProcess } from './wiring/roles.ts'
import { masterSecrets, serveApi, startMetrics } from './wiring/serve-api.ts'
import { serveTools } from './tools/control.ts'
import { localBackend } from './tools/backend.ts'
import { answerSendTest } from './tools/send-test.ts'
import type { SendTestRequest } from './tools/live.ts'

interface ServiceOptions extends EngineParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
}

export interface Service {
  readonly port: number
  readonly metricsPort: number
  readonly catalog: CatalogSource
  readonly eventLog: EventLog
  readonly facts: Facts
  readonly hotState: HotState
  readonly signInLink: OpenDashboard['signInLink']
}

/** What every part above the engines is built from. */
interface Foundation extends ServiceOptions {
  /** Master secrets of the keys. */
  readonly secrets: readonly string[]
  readonly keys: Keyring
  readonly catalog: FolderCatalog
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly store: StoreWatch
  readonly facts: Facts
  readonly connection: FactsConnection
  readonly registry: Registry
}

/** Called when the hot state's store has lost something. */
interface StoreWatch {
  onLost: () => void
}

export async function startService(options: ServiceOptions): Promise<Service> {
  const foundation = await layFoundation(options)
  const { catalog, eventLog, facts, hotState, lifecycle, settings, registry } = foundation
  const resources = folderResources(foundation)
  const reads = await lifecycle.start(
    'reads',
    () =>
      createReadThread({
        ...foundation,
        ...resources,
        factsUrl: settings.facts?.url ?? null,
        onFailure: (error) => lifecycle.fail('reads', error),
      }),
    (thread) => thread.close(),
  )
  const workers = await startRoles({ ...foundation, runReplaysElsewhere: reads.runReplays })
  const sendTest = (request: SendTestRequest) =>
    answerSendTest({ settings, catalog: catalog.current(), credentials: catalog.credentials() }, request)
  await lifecycle.start(
    'tidying of the folder',
    () => startFolderTidying({ ...foundation, ...resources, written: settings.dashboardFolder }),
    (tidying) => tidying.close(),
  )
  const dashboard = await openDashboard({ ...foundation, ...resources, readingHandlers: reads.handlers })
  await lifecycle.start(
    'audit',
    () => auditFolder(foundation),
    (audit) => audit.close(),
  )
  const backend = {
    ...localBackend({ facts, eventLog, isWriterRunning: true }),
    sendTest,
    ...toolsOf(dashboard),
    stageBackup: openBackupSource({ ...foundation, data: settings.data }).stage,
  }
  await lifecycle.start(
    'tools',
    () => serveTools(settings.data, backend),
    (server) => server.close(),
  )
  const metrics = await startMetrics(foundation, registry)
  const healthOfParts = () => ({
    workers: Object.fromEntries([...workers].map(([id, worker]) => [id, worker.health()])),
  })
  const api = await serveApi({ ...foundation, beside: dashboard.serve, healthOfParts, tellStatus: metrics.tellStatus })
  await lifecycle.start(
    'streams of events',
    () => dashboard.streams,
    (streams) => streams.close(),
  )
  metrics.ready()
  return {
    port: api.port,
    metricsPort: metrics.port,
    catalog,
    eventLog,
    facts,
    hotState,
    signInLink: dashboard.signInLink,
  }
}

/** Engines, keys and catalog, in the order of their dependencies. */
async function layFoundation(options: ServiceOptions): Promise<Foundation> {
  const { settings, lifecycle, logger, nowMs } = options
  openDataFolder(settings.data, logger)
  const secrets = masterSecrets(settings, { mayCreate: true })
  // An unusable secret ends the start before anything is opened.
  const keys = createKeyring(secrets)
  const catalog = await lifecycle.start(
    'catalog',
    () =>
      openCatalogFolder({
        folder: settings.manifests,
        written: settings.dashboardFolder,
        env: options.env,
        logger,
        nowMs,
        numberFile: join(settings.data, CATALOG_NUMBER_FILE),
      }),
    (source) => source.close(),
  )
  const open = engines(options)
  const eventLog = await open.eventLog()
  const { facts, connection } = await open.facts()
  await migrate(connection)
  const store: StoreWatch = { onLost: () => undefined }
  const hotState = await open.hotState({ whenAway: 'alone', onLost: () => store.onLost() })
  const registry = createRegistry('embedded', options.version)
  const read = createRecordReader({ logger, registry }, 'recall')
  await recallVisits({ eventLog, hotState, read })
  const recalled = await recallAnswers({ eventLog, hotState, read })
  // New records would push those out of the window that the next start reads.
  await hotState.flush()
  if (recalled > 0) logger.info({ recalled }, 'restored answers that a crash had cut off')
  reportCatalog({ catalog, eventLog, nowMs })
  return { ...options, secrets, keys, catalog, eventLog, hotState, store, facts, connection, registry }
}

/** Every role, on the engines that are open; of `state` the part that a single process needs. */
async function startRoles(
  foundation: Foundation & Pick<Parameters<typeof startRole>[1], 'runReplaysElsewhere'>,
): Promise<ReadonlyMap<ProviderId, Worker>> {
  const { eventLog, catalog, facts, hotState, store } = foundation
  const open = {
    eventLog: async () => eventLog,
    catalog: async () => catalog,
    facts: async () => facts,
    hotState: async () => hotState,
  }
  const parts = { ...foundation, open }
  await startRole('facts-writer', parts)
  const refill = await stateOfOneProcess(parts)
  store.onLost = () => refill.request()
  for (const role of ['dispatch', 'rollup', 'streams', 'webhooks'] as const) await startRole(role, parts)
  return startWorkers(parts)
}
