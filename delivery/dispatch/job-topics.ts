/** Appends jobs to the topics of their providers, which are made with the first job. If one cannot be made, the others still get theirs. */

import type { ProviderId } from '../../domain/providers/index.ts'
import { encodeRecord, recordKey, type Job, type Topic } from '../../domain/records.ts'
import { TopicUnavailable, type Entry } from '../../ports/event-log/event-log.ts'
import type { Logger } from '../../runtime/logger.ts'

type AppendJobs = (topic: Topic, entries: readonly Entry[]) => Promise<void>

export class JobTopics {
  readonly #append: AppendJobs
  readonly #logger: Logger
  /** Those that could not be made at the last try. */
  readonly #missing = new Set<ProviderId>()

  constructor(append: AppendJobs, logger: Logger) {
    this.#append = append
    this.#logger = logger
  }

  /** The providers whose jobs must wait, as their topic cannot be made. Rejects for any other fault. */
  async append(jobs: readonly Job[]): Promise<ReadonlySet<ProviderId>> {
    const missing = await Promise.all(
      [...Map.groupBy(jobs, (job) => job.provider)].map(async ([provider, ofProvider]) =>
        (await this.#isAppended(provider, ofProvider)) ? [] : [provider],
      ),
    )
    return new Set(missing.flat())
  }

  async #isAppended(provider: ProviderId, jobs: readonly Job[]): Promise<boolean> {
    const topic: Topic = `deliver.${provider}`
    try {
      await this.#append(
        topic,
        jobs.map((job) => ({ key: recordKey(job, job.jobId), value: encodeRecord(job) })),
      )
      this.#missing.delete(provider)
      return true
    } catch (error) {
      if (!(error instanceof TopicUnavailable)) throw error
      if (!this.#missing.has(provider)) this.#logger.error({ topic, reason: error.message }, WHAT_TO_DO)
      this.#missing.add(provider)
      return false
    }
  }
}

const WHAT_TO_DO =
  'deliveries wait, as their topic cannot be used: grant Create, or run `whencectl migrate --all-topics` and mend what it reports'
