/** The whole service in one process: the api, every role and the dashboard on one set of engines in folders. */

import { join } from 'node:path'

import { createRecordReader } from '../delivery/record-reader.ts'
import { recallAnswers } from '../delivery/recovery/recall-answers.ts'
import { recallVisits } from '../delivery/recovery/recall-visits.ts'
import type { FactsConnection } from '../ports/facts/engine/connection.ts'
import { migrate } from '../ports/facts/migrate.ts'
import type { HotState } from '../ports/hot-state/hot-state.ts'
import { CATALOG_NUMBER_FILE } from '../runtime/catalog/last-number.ts'
import { openCatalogFolder, type CatalogSource, type FolderCatalog } from '../runtime/catalog/source.ts'
import { createKeyring } from '../runtime/keyring.ts'
import type { SettingsOf } from '../runtime/settings/settings-of.ts'
import { createReadThread, type ReadThread } from './reads/thread.ts'
import { localBackend } from './tools/backend.ts'
import { serveTools } from './tools/control.ts'
import { answerSendTest } from './tools/send-test.ts'
import { openBackupSource } from './wiring/backup.ts'
import { reportCatalog } from './wiring/catalog-report.ts'
import { openDataFolder } from './wiring/data-folder.ts'
import { lmdbFolders, openChdbFacts, openLmdbLog, openLmdbState } from './wiring/engine-folders.ts'
import { masterSecrets } from './wiring/master-secrets.ts'
import { openDashboard, toolsOf, type DashboardResources, type OpenDashboard } from './wiring/people/dashboard.ts'
import { folderResources, startAudit, startTidying } from './wiring/people/folder-resources.ts'
import { startMetrics } from './wiring/probes.ts'
import type { Process } from './wiring/process.ts'
import {
  keepStateOfOneProcess,
  startCallingWebhooks,
  startDispatching,
  startRollingUp,
  startStreamingLogs,
  startWorkers,
  startWritingFacts,
  storeLoss,
  type Stores,
} from './wiring/roles.ts'
import { serveApi } from './wiring/serve-api.ts'

type Settings = SettingsOf<'embedded'>
type Env = Readonly<Record<string, string | undefined>>

export interface Service {
  readonly port: number
  readonly metricsPort: number
  readonly catalog: CatalogSource
  readonly stores: Stores
  readonly signInLink: OpenDashboard['signInLink']
}

/** Opens a hot state, which says when its store has lost something. */
export type OpenHotState = (own: Process, onLost: () => void) => Promise<HotState>

/**
 * The order of the starts is that of the dependencies; all ends in reverse. The hot state is in the data folder; tests put another one in
 * its place.
 */
export async function startService(
  own: Process,
  settings: Settings,
  env: Env,
  openOther?: OpenHotState,
): Promise<Service> {
  const { lifecycle, nowMs } = own
  openDataFolder(settings.data, own.logger)
  const secrets = masterSecrets(settings, { mayCreate: true })
  // An unusable secret ends the start before anything is opened.
  const keys = createKeyring(secrets)
  const catalog = await openFolder(own, settings, env)
  const loss = storeLoss()
  const { stores, connection } = await openStores(own, settings, openOther && (() => openOther(own, loss.tell)))
  const { eventLog, hotState, facts } = stores
  await recallRecent(own, stores)
  reportCatalog({ catalog, eventLog, nowMs })

  const resources = folderResources({ ...settings, env }, catalog, hotState, nowMs)
  const reads = await openReads(own, settings, { secrets, connection, stores, resources })
  await startWritingFacts(own, { eventLog, facts })
  await keepStateOfOneProcess(own, stores, loss)
  await startDispatching(own, { eventLog, hotState, facts, catalog })
  await startRollingUp(own, { eventLog, facts, catalog }, reads.runReplays)
  await startStreamingLogs(own, settings, { eventLog, hotState, facts, catalog })
  await startCallingWebhooks(own, settings, { eventLog, hotState, facts, catalog })
  const workers = await startWorkers(own, settings, { eventLog, hotState, catalog })

  await startTidying(own, settings.dashboardFolder, catalog, resources)
  const readingHandlers = reads.handlers
  const dashboard = await openDashboard(own, settings, { keys, stores, resources, signUpPlace: HERE, readingHandlers })
  await startAudit(own, settings.data, catalog, { eventLog, keys })
  const backend = {
    ...localBackend({ facts, eventLog, isWriterRunning: true }),
    ...toolsOf(dashboard),
    sendTest: (request: Parameters<typeof answerSendTest>[1]) =>
      answerSendTest({ settings, catalog: catalog.current(), credentials: catalog.credentials() }, request),
    stageBackup: openBackupSource({ data: settings.data, eventLog, connection, nowMs }).stage,
  }
  await lifecycle.start(
    'tools',
    () => serveTools(settings.data, backend),
    (server) => server.close(),
  )
  const probes = await startMetrics(own, settings.metricsListen)
  const healthOfParts = () => ({
    workers: Object.fromEntries([...workers].map(([id, worker]) => [id, worker.health()])),
  })
  const beside = dashboard.serve
  const api = await serveApi(own, settings, { keys, catalog, stores, probes, beside, healthOfParts })
  await lifecycle.start(
    'streams of events',
    () => dashboard.streams,
    (streams) => streams.close(),
  )
  probes.ready()
  return { port: api.port, metricsPort: probes.port, catalog, stores, signInLink: dashboard.signInLink }
}

/** Of objects of people who sign up: one folder has one installation. */
const HERE = { namespace: 'default', installation: null } as const

function openFolder({ lifecycle, logger, nowMs }: Process, settings: Settings, env: Env): Promise<FolderCatalog> {
  const { manifests: folder, dashboardFolder: written, data } = settings
  const numberFile = join(data, CATALOG_NUMBER_FILE)
  return lifecycle.start(
    'catalog',
    () => openCatalogFolder({ folder, written, env, logger, nowMs, numberFile }),
    (source) => source.close(),
  )
}

interface OpenStores {
  readonly stores: Stores
  readonly connection: FactsConnection
}

async function openStores(
  own: Process,
  { data, eventLog: log, facts: place }: Settings,
  openOther?: () => Promise<HotState>,
): Promise<OpenStores> {
  const folders = lmdbFolders(own)
  const eventLog = await openLmdbLog(own, folders, log.location)
  const { facts, connection } = await openChdbFacts(own, place.location)
  await migrate(connection)
  const hotState = await (openOther?.() ?? openLmdbState(own, folders, join(data, 'lmdb')))
  return { stores: { eventLog, hotState, facts }, connection }
}

/** What the hot state had not stored when a process before this one ended. */
async function recallRecent({ logger, registry }: Process, { eventLog, hotState }: Stores): Promise<void> {
  const read = createRecordReader({ logger, registry }, 'recall')
  await recallVisits({ eventLog, hotState, read })
  const recalled = await recallAnswers({ eventLog, hotState, read })
  // New records would push those out of the window that the next start reads.
  await hotState.flush()
  if (recalled > 0) logger.info({ recalled }, 'restored answers that a crash had cut off')
}

interface ReadGround extends OpenStores {
  readonly secrets: readonly string[]
  readonly resources: DashboardResources
}

function openReads(
  { lifecycle, nowMs }: Process,
  settings: Settings,
  { secrets, connection, stores, resources }: ReadGround,
): Promise<ReadThread> {
  const onFailure = (error: Error): void => lifecycle.fail('reads', error)
  return lifecycle.start(
    'reads',
    () =>
      createReadThread(
        { settings, secrets, connection },
        { facts: stores.facts, websites: resources.directory.websites, nowMs, onFailure },
      ),
    (thread) => thread.close(),
  )
}
