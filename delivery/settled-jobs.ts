/** Remembers which attempts were made lately, so that a second copy of a job on the log is dropped instead of sent. */

import type { Job } from '../domain/records.ts'

/** Copies come from a batch delivered again and from exchanges handed over; both turn up within minutes. */
const REMEMBERED = 100_000

/** Oldest forgotten first. A restart forgets all: a copy may then be sent once more, under the same ID. */
export class SettledJobs {
  readonly #keys = new Set<string>()

  has(job: Job): boolean {
    return this.#keys.has(attemptKey(job))
  }

  add(job: Job): void {
    this.#keys.add(attemptKey(job))
    if (this.#keys.size <= REMEMBERED) return
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest)
      break
    }
  }
}

/** A job and how often it was tried before: every entry of one key is the same attempt. */
export function attemptKey(job: Job): string {
  return `${job.jobId}:${job.attempts}`
}
