/** Remembers which attempts were made lately, so that a second copy of a job on the log is dropped instead of sent. */

import type { ProviderId } from '../domain/model.ts'
import { decodeRecord, type DeliveryRecord, type Job } from '../domain/records.ts'
import type { EventLog } from '../ports/event-log/event-log.ts'

/** Copies come from a batch delivered again and from exchanges handed over; both turn up within minutes. */
const REMEMBERED = 100_000

/** Records of `deliveries` that are read back at the start: more than what batches in hand at a crash can have left. */
const RECALLED = 10_000
const READ_ENTRIES = 1_000
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
export async function recallSettled(eventLog: EventLog, provider: ProviderId): Promise<SettledJobs> {
  const settled = new SettledJobs()
  const endOffset = await endOfDeliveries(eventLog)
  let offset = Math.max(0, endOffset - RECALLED)
  while (offset < endOffset) {
    const entries = await eventLog.read('deliveries', offset, READ_ENTRIES)
    // A log of several partitions has several entries at one offset: a page may end before as many offsets as entries.
    offset = (entries.at(-1)?.offset ?? endOffset) + 1
    for (const { value } of entries) {
      const record = value.includes(WITHOUT_ATTEMPT) ? null : recordIn(value)
      if (record?.provider === provider) settled.add({ jobId: record.jobId, attempts: record.attempts - 1 })
    }
  }
  return settled
}

/** A job and how often it was tried before: every entry of one key is the same attempt. */
export function attemptKey(job: Pick<Job, 'jobId' | 'attempts'>): string {
  return `${job.jobId}:${job.attempts}`
}

/** The log tells no end, so it is found by halving: at most some fifty reads of one entry. */
async function endOfDeliveries(eventLog: EventLog): Promise<number> {
  const isBefore = async (offset: number): Promise<boolean> => (await eventLog.read('deliveries', offset, 1)).length > 0
  let above = 1
  while (above < Number.MAX_SAFE_INTEGER / 2 && (await isBefore(above))) above *= 2
  let low = 0
  while (low < above) {
    const middle = Math.floor((low + above) / 2)
    if (await isBefore(middle)) low = middle + 1
    else above = middle
  }
  return low
}

function recordIn(value: string): DeliveryRecord | null {
  try {
    return decodeRecord<DeliveryRecord>(value)
  } catch {
    return null
  }
}
