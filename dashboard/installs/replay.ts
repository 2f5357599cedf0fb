/** Sends deliveries again that failed for good. */

import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { MAY_COUNT_TWICE } from '../../domain/reasons.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'

interface DeadLetterQuery extends OwnedWebsite {
  readonly jobIds: ReadonlySet<string>
  /** Also those that the provider may have and would count again. */
  readonly mayCountTwice: boolean
}

/** Sends failed deliveries again, under their old IDs. */
export type ReplayDeliveries = (
  query: DeadLetterQuery,
) => Promise<{ readonly replayed: number; readonly refused: number }>

/** Enough for a person; administrators have `whencectl replay --all`. */
const MOST_REPLAYED = 50

interface ReplayParts {
  readonly scope: ReadScope
  readonly replayDeliveries: ReplayDeliveries
  readonly noteActivity: NoteActivity
}

/**
 * At most 50 at a time, the latest first: the answer says whether there may be more. Those that the facts show as failed
 * and still open are chosen, so that asking again goes on with the rest.
 */
export function replayFailed({ scope, replayDeliveries, noteActivity }: ReplayParts) {
  return scope(async (reads, call: CallTo<'replayDeliveries'>) => {
    const { website, reason, job } = call.body
    if (!reads.websites.some((each) => each.id === website)) return refuse('not_found')
    const mayCountTwice = job !== undefined || reason === MAY_COUNT_TWICE
    const jobIds = job === undefined ? await failedJobs(reads, call) : new Set([job])
    const none = { replayed: 0, refused: 0 }
    const query = { organization: reads.organization.id, website, jobIds, mayCountTwice }
    const { replayed, refused } = jobIds.size === 0 ? none : await replayDeliveries(query)
    if (replayed > 0)
      await noteActivity({
        organization: reads.organization.id,
        website,
        type: 'deliveries_replayed',
        subject: call.session.person,
        actor: call.session.person,
        logRetentionDays: reads.organization.logRetentionDays,
        message: `${replayed} failed deliveries were sent again.`,
      })
    return answer({ replayed, refused, mayHaveMore: jobIds.size >= MOST_REPLAYED })
  })
}

/** IDs of jobs of the website that failed and that the provider would still accept; those that it may count twice only by their reason. */
async function failedJobs(
  reads: OrganizationFacts,
  { body, nowMs }: CallTo<'replayDeliveries'>,
): Promise<ReadonlySet<string>> {
  const { website, destination, reason } = body
  const rows = await reads.run('deliveryLines', {
    website,
    status: 'failed',
    open_after_ms: nowMs,
    limit: MOST_REPLAYED,
    since_ms: nowMs - LIMITS.deadLetterKeepMs,
    until_ms: nowMs + LIMITS.clockSkewMs,
    ...(destination === undefined ? {} : { destination }),
    ...(reason === undefined ? { except_reason: MAY_COUNT_TWICE } : { reason }),
  })
  return new Set(rows.map(({ job_id: id }) => id))
}
