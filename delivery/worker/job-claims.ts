/** Claims jobs, so that two workers that read the same job do not both send it. */

import { LIMITS } from '../../domain/limits.ts'
import type { Job } from '../../domain/records.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'

/** A claim outlives the longest exchange; the claim of a worker that died blocks its job no longer than this. */
const CLAIM_MS = 3 * LIMITS.webhookMs

export interface JobClaims {
  /**
   * Which of the jobs are claimed now. If the hot state is unavailable, deliveries go on: each log partition has one reader, and
   * providers recognise a repeated ID.
   */
  readonly take: (jobs: readonly Job[], owner: string) => Promise<readonly boolean[]>
  /** A claim that cannot be released expires by itself. */
  readonly release: (jobs: readonly Job[], owner: string) => Promise<void>
}

export function createJobClaims(hotState: JobVerbs, logger: Logger): JobClaims {
  const take = async ({ provider, jobId }: Job, owner: string): Promise<boolean> => {
    try {
      return await hotState.claimJob(jobId, owner, CLAIM_MS)
    } catch {
      logger.warn({ provider }, 'delivering without claims')
      return true
    }
  }
  return {
    take: (jobs, owner) => Promise.all(jobs.map((job) => take(job, owner))),
    async release(jobs, owner) {
      await Promise.all(jobs.map(({ jobId }) => hotState.releaseJob(jobId, owner).catch(() => undefined)))
    },
  }
}
