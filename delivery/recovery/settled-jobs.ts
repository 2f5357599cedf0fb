/** Remembers which attempts were made lately, so that a second copy of a job on the log is dropped instead of sent. */

import type { ProviderId } from '../../domain/providers/index.ts'
import type { Job } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { ReadEntry } from '../record-reader.ts'

/** Copies come from a batch delivered again and from exchanges handed over; both turn up within minutes. */
const REMEMBERED = 100_000

/** Records of `deliveries` that are read back at the start: more than what batches in hand at a crash can have left. */
const RECALLED = 10_000
/** A record without an attempt tells of nothing that was sent; most are such, and need not be decoded. */
const WITHOUT_ATTEMPT = '"attempt":null'

/** Oldest forgotten first. What is forgotten may be sent once more if a copy turns up, under the same ID. */
export class SettledJobs {
  readonly #keys = new Set<string>()

  has(job: Job): boolean {
    return this.#keys.has(attemptKey(job))
  }

  add(job: Pick<Job, 'jobId' | 'attempts'>): void {
    this.#keys.add(attemptKey(job))
    if (this.#keys.size <= REMEMBERED) return
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest)
      break
    }
  }
}

/**
 * What was settled before this process: a crash brings whole batches again, and the log tells which of their jobs were
 * sent and written down. So only exchanges under way at the crash are made twice.
 */
export async function recallSettled(
  eventLog: Pick<EventLog, 'readLast'>,
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

/** A job and how often it was tried before: every entry of one key is the same attempt. */
export function attemptKey(job: Pick<Job, 'jobId' | 'attempts'>): string {
  return `${job.jobId}:${job.attempts}`
}
