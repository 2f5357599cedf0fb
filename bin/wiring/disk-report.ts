/**
 * Reports once that a disk is full, and once that it no longer is: in the process log and, if the log accepts it, as
 * activity.
 */

import { LIMITS } from '../../domain/limits.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { createRandomness, timeOrderedId } from '../../runtime/random.ts'

interface DiskReportParts {
  readonly logger: Logger
  readonly nowMs: () => number
}

export interface DiskReport {
  /** For the folder's environment: `isFull` is the new state. */
  readonly changed: (folder: string, isFull: boolean) => void
  /** Where activity goes from now on. */
  readonly reportTo: (eventLog: LogWriter) => void
}

const FULL = 'less than 256 MB free: nothing new is accepted'

export function diskReport({ logger, nowMs }: DiskReportParts): DiskReport {
  const randomness = createRandomness()
  const fullSince = new Map<string, number>()
  let eventLog: LogWriter | null = null
  const note = (folder: string, message: string): void => {
    const atMs = nowMs()
    const id = timeOrderedId(randomness, atMs)
    const own = { id, atMs, organization: '', website: '', logRetentionDays: LIMITS.logRetentionDays.fallback }
    const record: ActivityRecord = { v: 1, kind: 'activity', ...own, type: 'disk_full', subject: folder, message }
    // The log on the full disk refuses the first entry; the second one, when there is room again, contains both times.
    eventLog?.append('activity', [{ key: recordKey(record, id), value: encodeRecord(record) }]).catch(() => undefined)
  }
  return {
    changed: (folder, isFull) => {
      if (isFull) {
        fullSince.set(folder, nowMs())
        logger.error({ folder }, FULL)
        return note(folder, FULL)
      }
      const since = new Date(fullSince.get(folder) ?? nowMs()).toISOString()
      logger.info({ folder, since }, 'there is room on the disk again')
      note(folder, `There is room on the disk again; it was full since ${since}.`)
    },
    reportTo: (log) => void (eventLog = log),
  }
}
