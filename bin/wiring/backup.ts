/**
 * Copies the stores of a running service without interrupting collection: first the event log and the hot state, then
 * the facts. So the copied facts contain at least what the copied log says was written; entries after the facts-writer's
 * position on that log are written again after a restore, and show once.
 */

import { mkdirSync, readdirSync, rmSync, statfsSync, statSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'

interface BackupParts {
  readonly data: string
  readonly eventLog: EventLog
  readonly connection: FactsConnection
  readonly nowMs: () => number
}

/** What a backup wrote into the staging folder. */
export interface StagedBackup {
  readonly folder: string
  /** Unix ms: the copy contains everything that was answered before. */
  readonly beganAtMs: number
}

interface BackupSource {
  /** Rejects with the reason if another backup is under way, the disk is too full, or the engines cannot be copied. */
  readonly stage: () => Promise<StagedBackup>
}

/** In the data folder, the one place that a service can surely write to. */
const STAGING = 'staging'
/** Left for collection: far above the 256 MB below which the log refuses. */
const SPARE_BYTES = 512 * 1024 * 1024

/** Removes what an interrupted backup left behind. */
export function openBackupSource(parts: BackupParts): BackupSource {
  const folder = join(parts.data, STAGING)
  rmSync(folder, { recursive: true, force: true })
  let isBusy = false
  return {
    stage: async () => {
      if (isBusy) throw new Error('another backup is under way')
      isBusy = true
      try {
        return await stageInto(folder, parts)
      } catch (error) {
        rmSync(folder, { recursive: true, force: true })
        throw error
      } finally {
        isBusy = false
      }
    },
  }
}

async function stageInto(folder: string, parts: BackupParts): Promise<StagedBackup> {
  const { data, eventLog, connection, nowMs } = parts
  const { copies } = connection
  if (copies === undefined || eventLog.copyTo === undefined)
    throw new Error('backs up engines in folders only: use the tools of Kafka and ClickHouse for theirs')
  rmSync(folder, { recursive: true, force: true })
  checkRoom(data)
  mkdirSync(join(folder, 'lmdb'), { recursive: true, mode: 0o700 })
  const beganAtMs = nowMs()
  await eventLog.copyTo(join(folder, 'lmdb'))
  await copies.write(join(folder, 'facts'))
  return { folder, beganAtMs }
}

function checkRoom(data: string): void {
  const { bavail, bsize } = statfsSync(data)
  const needed = bytesBelow(data) + SPARE_BYTES
  if (bavail * bsize >= needed) return
  throw new Error(`${data} has too little room for a copy: ${Math.ceil(needed / 2 ** 20)} MB must be free`)
}

/** Of the files that exist: merges remove files and whole folders meanwhile. */
function bytesBelow(folder: string): number {
  let bytes = 0
  for (const entry of entriesIn(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += bytesBelow(path)
    else if (entry.isFile()) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
