/** Opens the engines of a single process in folders of its machine: LMDB for event log and hot state, chDB for the facts. */

import { resolve } from 'node:path'

import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import type { Logger } from '../../runtime/logger.ts'
import { diskReport, type DiskReport } from './disk-report.ts'
import type { Process } from './process.ts'

/** Opens folders of LMDB, each once: an event log and a hot state in one folder share its commits. */
interface LmdbFolders {
  readonly open: (folder: string) => Promise<LmdbEnvironment>
  /** The log takes the activity about full disks from now on. */
  readonly reportTo: DiskReport['reportTo']
}

/**
 * Lets positions be stored and entries be deleted on a disk that others have filled to its last byte: a failed write would end the
 * process, and a spool could not be emptied into Kafka.
 */
const HEAD_ROOM_BYTES = 16 * 1024 * 1024

export function lmdbFolders({ lifecycle, logger, nowMs }: Process): LmdbFolders {
  const disk = diskReport({ logger, nowMs })
  const opened = new Map<string, Promise<LmdbEnvironment>>()
  const open = async (folder: string): Promise<LmdbEnvironment> => {
    const { openLmdb } = await import('../../ports/shared/lmdb/environment.ts')
    const onFatal = (error: Error): void => lifecycle.fail('lmdb', error)
    const onSpace = (isFull: boolean): void => disk.changed(folder, isFull)
    return lifecycle.start(
      'lmdb',
      () => openLmdb(folder, { onFatal, onSpace, nowMs, headRoomBytes: HEAD_ROOM_BYTES }),
      (environment) => environment.close(),
    )
  }
  return {
    open: (folder) => {
      const environment = opened.get(resolve(folder)) ?? open(folder)
      opened.set(resolve(folder), environment)
      return environment
    },
    reportTo: disk.reportTo,
  }
}

export async function openLmdbLog({ lifecycle, logger }: Process, folders: LmdbFolders, folder: string) {
  const { lmdbEventLog } = await import('../../ports/event-log/lmdb/lmdb.ts')
  const environment = await folders.open(folder)
  const log: EventLog = await lifecycle.start(
    'event log',
    () => lmdbEventLog(environment, { onHandlerFailure: handlerFailure(logger), onTrimFailure: trimFailure(logger) }),
    (opened) => opened.close(),
  )
  folders.reportTo(log)
  return log
}

export async function openLmdbState(
  { lifecycle, logger }: Process,
  folders: LmdbFolders,
  folder: string,
): Promise<HotState> {
  const { lmdbHotState } = await import('../../ports/hot-state/lmdb/lmdb.ts')
  const environment = await folders.open(folder)
  return lifecycle.start(
    'hot state',
    () =>
      lmdbHotState(environment, {
        onFailure: (err) => logger.error({ err, task: 'sweep' }, 'expired state was not deleted'),
      }),
    (state) => state.close(),
  )
}

export async function openChdbFacts(
  { lifecycle, nowMs }: Process,
  folder: string,
): Promise<{ readonly facts: Facts; readonly connection: FactsConnection }> {
  const { openChdb } = await import('../../ports/facts/engine/connect-chdb.ts')
  const connection = await lifecycle.start(
    'chdb',
    () => openChdb(folder),
    (opened) => opened.close(),
  )
  return { connection, facts: clickhouseFacts(connection, { nowMs }) }
}

export function handlerFailure(logger: Logger): (error: unknown, topic: string, group: string) => void {
  return (error, topic, group) => logger.warn({ err: error, topic, group }, 'batch failed and will be retried')
}

export function trimFailure(logger: Logger): (error: unknown) => void {
  return (err) => logger.error({ err, task: 'trim' }, 'passed entries of the log were not deleted: the folder grows')
}
