/** Remembers recent attempts, so that a second copy of a job on the log is dropped instead of being sent. */

import { BoundedMap } from '../../common/bounded-map.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import type { Job } from '../../domain/records.ts'
import type { LogTail } from '../../ports/event-log/event-log.ts'
import type { ReadEntry } from '../record-reader.ts'

/** Copies come from redelivered batches and from backup copies; both turn up within minutes. */
const REMEMBERED = 100_000

/**
 * Records of `deliveries` that are read at the start: more than the batches in progress at a crash can have left.
 */
const RECALLED = 10_000
/** A record without an attempt means that nothing was sent; most records are like this, and need not be decoded. */
const WITHOUT_ATTEMPT = '"attempt":null'

/** The oldest is forgotten first. A forgotten job may be sent once more if a copy turns up, under the same ID. */
export class SettledJobs {
  readonly #keys = new BoundedMap<string, true>(REMEMBERED)

  has(job: Job): boolean {
    return this.#keys.has(attemptKey(job))
  }

  add(job: { readonly attempts: number; readonly jobId: string }): void {
    this.#keys.set(attemptKey(job), true)
  }
}

/**
 * Attempts that were settled before this process started. A crash redelivers whole batches, and the log shows which of their
 * jobs were sent and recorded, so only exchanges in flight at the crash are repeated.
 */
export async function recallSettled(
  eventLog: LogTail,
  { provider, read }: { readonly provider: ProviderId; readonly read: ReadEntry },
): Promise<SettledJobs> {
  const settled = new SettledJobs()
  for await (const entries of eventLog.readLast('deliveries', { entries: RECALLED })) {
    for (const entry of entries) {
      const record = entry.value.includes(WITHOUT_ATTEMPT) ? null : read('delivery', entry, 'deliveries')
      if (record?.provider === provider) settled.add({ jobId: record.jobId, attempts: record.attempts - 1 })
    }
  }
  return settled
}

/** A job and its number of earlier tries: every entry with one key is the same attempt. */
export function attemptKey(job: { readonly attempts: number; readonly jobId: string }): string {
  return `${job.jobId}:${job.attempts}`
}
