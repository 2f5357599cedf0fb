/** Opens the engines that several processes share: Kafka for the event log, Redis for the hot state, ClickHouse for the facts. */

import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { EngineUrl } from '../../runtime/settings/parse.ts'
import { handlerFailure, lmdbFolders, trimFailure } from './engine-folders.ts'
import type { Process } from './process.ts'

/** Where what Kafka cannot take now is kept. */
interface SpoolPlace {
  readonly folder: string
  readonly megabytes: number
}

interface KafkaUse {
  /** Kafka may be unavailable at the start: its topics are then checked later. */
  readonly mayWait?: boolean
  readonly spool?: SpoolPlace | null
}

export async function openKafka(
  own: Process,
  { url }: EngineUrl,
  { mayWait = false, spool = null }: KafkaUse = {},
): Promise<EventLog> {
  const { lifecycle, logger, nowMs } = own
  const { kafkaEventLog } = await import('../../ports/event-log/kafka/kafka.ts')
  const { parseKafkaUrl } = await import('../../ports/event-log/kafka/url.ts')
  const parsed = parseKafkaUrl(url)
  if (!parsed.ok) throw new Error(`the event log's address ${parsed.why}`)
  const { checkTopics } = await import('./topics.ts')
  await checkTopics(parsed.value, { lifecycle, logger, mayWait })
  const open = (): Promise<EventLog> =>
    kafkaEventLog(parsed.value, {
      nowMs,
      listener: {
        onHandlerFailure: handlerFailure(logger),
        onAppendFailure: (error, topic) => logger.warn({ err: error, topic }, 'batch not stored'),
        onBroken: (error) => lifecycle.fail('event log', error),
      },
    })
  const openSpool = spool === null ? null : await spoolBefore(own, spool)
  return lifecycle.start(
    'event log',
    async () => (openSpool === null ? open() : openSpool(await open())),
    (log) => log.close(),
  )
}

/** Gives what puts the spool before a log. */
async function spoolBefore(
  own: Process,
  { folder, megabytes }: SpoolPlace,
): Promise<(log: EventLog) => Promise<EventLog>> {
  const { logger, nowMs } = own
  const { lmdbEventLog } = await import('../../ports/event-log/lmdb/lmdb.ts')
  const { SPOOL_LOG_OPTIONS, spooledEventLog } = await import('../../ports/event-log/spool/spooled.ts')
  const folders = lmdbFolders(own)
  const environment = await folders.open(folder)
  return async (log) => {
    const spool = await lmdbEventLog(environment, { ...SPOOL_LOG_OPTIONS, onTrimFailure: trimFailure(logger) })
    const spooled = await spooledEventLog(log, spool, {
      maxBytes: megabytes * 1_000_000,
      nowMs,
      onSpooling: (isSpooling) =>
        isSpooling
          ? logger.error('event log unavailable: writing to the spool')
          : logger.info('the spool is empty again'),
    })
    folders.reportTo(spooled)
    return spooled
  }
}

interface RedisUse {
  /** Whether verbs use the process's own memory while the store is unreachable, or reject. */
  readonly whenAway: 'alone' | 'reject'
  /** Called if the store came back with other data: restarted, failed over or emptied. */
  readonly onLost?: () => void
}

export async function openRedis(
  { lifecycle, logger }: Process,
  { url }: EngineUrl,
  { whenAway, onLost = () => undefined }: RedisUse = { whenAway: 'alone' },
): Promise<HotState> {
  const { redisHotState } = await import('../../ports/hot-state/redis/redis.ts')
  return lifecycle.start(
    'hot state',
    () =>
      redisHotState(url, {
        whenAway,
        news: {
          onUnreachable: (reason) => logger.error({ reason }, 'hot state unavailable: limits count per process'),
          onReachable: () => logger.info('hot state reachable'),
          onNewRun: (run, before) => {
            if (before === null) return
            logger.warn({ run }, 'hot state was restarted or emptied')
            onLost()
          },
        },
      }),
    (state) => state.close(),
  )
}

/** `isReadOnly`: the server then refuses whatever changes data. */
export async function openClickHouseFacts(
  { lifecycle, nowMs }: Process,
  { url }: EngineUrl,
  options: { readonly isReadOnly: boolean } = { isReadOnly: false },
): Promise<Facts> {
  const connection = await lifecycle.start(
    'clickhouse',
    () => openClickHouse(url, options),
    (opened) => opened.close(),
  )
  return clickhouseFacts(connection, { nowMs })
}
