/** Opens the engines in the settings. A URL's scheme picks the adapter, only here. */

import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import type { Lifecycle } from '../../runtime/lifecycle.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { diskReport, type DiskReport } from './disk-report.ts'

export interface EngineParts {
  readonly settings: Settings
  readonly lifecycle: Lifecycle
  readonly logger: Logger
  readonly nowMs: () => number
}

interface HotStateOptions {
  readonly whenAway: 'alone' | 'reject'
  /** Called if the store came back with other data: restarted, failed over or emptied. */
  readonly onLost?: () => void
}

interface FactsOptions {
  readonly isReadOnly: boolean
}

export interface Engines {
  /**
   * `hasSpool`: what Kafka cannot take now goes to the spool folder, if the settings name one. `mayWait`: Kafka may be unavailable at
   * the start.
   */
  readonly eventLog: (options?: { readonly hasSpool?: boolean; readonly mayWait?: boolean }) => Promise<EventLog>
  /** `whenAway`: whether verbs use the process's own memory while the store is unreachable, or reject. */
  readonly hotState: (options?: HotStateOptions) => Promise<HotState>
  /** `isReadOnly`: a server then refuses whatever changes data. */
  readonly facts: (options?: FactsOptions) => Promise<{ readonly facts: Facts; readonly connection: FactsConnection }>
}

/**
 * Lets positions be stored and entries be deleted on a disk that others have filled to its last byte: a failed write would end the
 * process, and a spool could not be emptied into Kafka.
 */
const HEAD_ROOM_BYTES = 16 * 1024 * 1024

/** Engines are opened on first use; the lifecycle closes them in reverse. */
export function engines(parts: EngineParts): Engines {
  const disk = diskReport(parts)
  const environmentAt = lmdbEnvironments(parts, disk)
  const { settings } = parts
  return {
    eventLog: async ({ hasSpool = false, mayWait = false } = {}) => {
      const { scheme, location, url } = required(settings.eventLog, 'event log')
      const folder = hasSpool ? settings.spool : null
      const log =
        scheme === 'kafka'
          ? await openKafka(url, { spool: folder === null ? null : { folder, environmentAt }, mayWait }, parts)
          : await openLmdbLog(await environmentAt(location), parts)
      disk.reportTo(log)
      return log
    },
    hotState: async (options = { whenAway: 'alone' }) => {
      const { scheme, location, url } = required(settings.hotState, 'hot state')
      return scheme === 'lmdb' ? openLmdbState(await environmentAt(location), parts) : openRedis(url, options, parts)
    },
    facts: async (options = { isReadOnly: false }) => {
      const { scheme, location, url } = required(settings.facts, 'facts')
      const connection = scheme === 'chdb' ? await openChdbAt(location, parts) : await openServer(url, options, parts)
      return { connection, facts: clickhouseFacts(connection, { nowMs: parts.nowMs }) }
    },
  }
}

type EnvironmentAt = (location: string) => Promise<LmdbEnvironment>

/** One environment per folder: the event log and the hot state share its commits. */
function lmdbEnvironments({ lifecycle, nowMs }: EngineParts, disk: DiskReport): EnvironmentAt {
  const opened = new Map<string, Promise<LmdbEnvironment>>()
  const open = async (location: string): Promise<LmdbEnvironment> => {
    const { openLmdb } = await import('../../ports/shared/lmdb/environment.ts')
    const onFatal = (error: Error): void => lifecycle.fail('lmdb', error)
    const onSpace = (isFull: boolean): void => disk.changed(location, isFull)
    return lifecycle.start(
      'lmdb',
      () => openLmdb(location, { onFatal, onSpace, nowMs, headRoomBytes: HEAD_ROOM_BYTES }),
      (environment) => environment.close(),
    )
  }
  return (location) => {
    const environment = opened.get(location) ?? open(location)
    opened.set(location, environment)
    return environment
  }
}

async function openLmdbLog(environment: LmdbEnvironment, { lifecycle, logger }: EngineParts): Promise<EventLog> {
  const { lmdbEventLog } = await import('../../ports/event-log/lmdb/lmdb.ts')
  return lifecycle.start(
    'event log',
    () => lmdbEventLog(environment, { onHandlerFailure: handlerFailure(logger), onTrimFailure: trimFailure(logger) }),
    (log) => log.close(),
  )
}

interface SpoolFolder {
  readonly folder: string
  readonly environmentAt: EnvironmentAt
}

interface KafkaWish {
  readonly spool: SpoolFolder | null
  readonly mayWait: boolean
}

/** Whoever serves while Kafka is unreachable checks its topics later. */
async function openKafka(url: string, { spool, mayWait }: KafkaWish, parts: EngineParts): Promise<EventLog> {
  const { lifecycle, logger, nowMs } = parts
  const { kafkaEventLog } = await import('../../ports/event-log/kafka/kafka.ts')
  const { parseKafkaUrl } = await import('../../ports/event-log/kafka/url.ts')
  const parsed = parseKafkaUrl(url)
  if (!parsed.ok) throw new Error(`the event log's address ${parsed.why}`)
  const { checkTopics } = await import('./topics.ts')
  await checkTopics(parsed.value, { ...parts, mayWait })
  const open = (): Promise<EventLog> =>
    kafkaEventLog(parsed.value, {
      nowMs,
      onHandlerFailure: handlerFailure(logger),
      onAppendFailure: (error, topic) => logger.warn({ err: error, topic }, 'batch not stored'),
      onBroken: (error) => lifecycle.fail('event log', error),
    })
  const environment = spool === null ? null : await spool.environmentAt(spool.folder)
  return lifecycle.start(
    'event log',
    async () => (environment === null ? open() : openSpooled(await open(), environment, parts)),
    (log) => log.close(),
  )
}

async function openSpooled(log: EventLog, environment: LmdbEnvironment, parts: EngineParts): Promise<EventLog> {
  const { lmdbEventLog } = await import('../../ports/event-log/lmdb/lmdb.ts')
  const { SPOOL_LOG_OPTIONS, spooledEventLog } = await import('../../ports/event-log/spool/spooled.ts')
  const { settings, logger, nowMs } = parts
  const spool = await lmdbEventLog(environment, { ...SPOOL_LOG_OPTIONS, onTrimFailure: trimFailure(logger) })
  return spooledEventLog(log, spool, {
    maxBytes: settings.spoolMegabytes * 1_000_000,
    nowMs,
    onSpooling: (isSpooling) =>
      isSpooling
        ? logger.error('event log unavailable: writing to the spool')
        : logger.info('the spool is empty again'),
  })
}

async function openLmdbState(environment: LmdbEnvironment, { lifecycle, logger }: EngineParts): Promise<HotState> {
  const { lmdbHotState } = await import('../../ports/hot-state/lmdb/lmdb.ts')
  return lifecycle.start(
    'hot state',
    () => lmdbHotState(environment, { onFailure: (err) => logger.error({ err }, 'expired state was not deleted') }),
    (state) => state.close(),
  )
}

async function openRedis(
  url: string,
  { whenAway, onLost = () => undefined }: HotStateOptions,
  { lifecycle, logger }: EngineParts,
): Promise<HotState> {
  const { redisHotState } = await import('../../ports/hot-state/redis/redis.ts')
  return lifecycle.start(
    'hot state',
    () =>
      redisHotState(url, {
        whenAway,
        onUnreachable: (reason) => logger.error({ reason }, 'hot state unavailable: limits count per process'),
        onReachable: () => logger.info('hot state reachable'),
        onNewRun: (run, before) => {
          if (before === null) return
          logger.warn({ run }, 'hot state was restarted or emptied')
          onLost()
        },
      }),
    (state) => state.close(),
  )
}

async function openChdbAt(location: string, { lifecycle }: EngineParts): Promise<FactsConnection> {
  const { openChdb } = await import('../../ports/facts/engine/connect-chdb.ts')
  return lifecycle.start(
    'chdb',
    () => openChdb(location),
    (connection) => connection.close(),
  )
}

function openServer(url: string, options: FactsOptions, { lifecycle }: EngineParts): Promise<FactsConnection> {
  return lifecycle.start(
    'clickhouse',
    () => openClickHouse(url, options),
    (connection) => connection.close(),
  )
}

function handlerFailure(logger: Logger): (error: unknown, topic: string, group: string) => void {
  return (error, topic, group) => logger.warn({ err: error, topic, group }, 'batch failed and will be retried')
}

function trimFailure(logger: Logger): (error: unknown) => void {
  return (err) => logger.error({ err }, 'passed entries of the log were not deleted: the folder grows')
}

function required<T>(engine: T | null, name: string): T {
  if (engine === null) throw new Error(`no address is set for the ${name}`)
  return engine
}
