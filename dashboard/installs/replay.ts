/** Sends deliveries again that failed for good. */

import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { MAY_COUNT_TWICE } from '../../domain/reasons.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answer, optionalText, sessionOf, textField, type Call } from '../http/call.ts'
import { textParameter } from '../http/parameters.ts'
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

export const REPLAY_SCHEMA = objectSchema(
  {
    website: textParameter('The website.', LIMITS.websiteIdChars),
    destination: textParameter('One destination instead of all.', LIMITS.groupChars),
    reason: textParameter(
      'Only those that failed for this reason. Without it, none that the provider may count twice (`unclear_too_long`).',
      LIMITS.clientHintChars,
    ),
    job: textParameter('One delivery, by its job ID.', LIMITS.idChars.max),
  },
  ['website'],
)

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
  return scope(async (reads, call) => {
    const website = textField(call, 'website')
    if (!reads.websites.some((each) => each.id === website)) return refuse('not_found')
    const jobId = optionalText(call, 'job')
    const mayCountTwice = jobId !== null || optionalText(call, 'reason') === MAY_COUNT_TWICE
    const jobIds = jobId === null ? await failedJobs(reads, call) : new Set([jobId])
    const none = { replayed: 0, refused: 0 }
    const query = { organization: reads.organization.id, website, jobIds, mayCountTwice }
    const { replayed, refused } = jobIds.size === 0 ? none : await replayDeliveries(query)
    if (replayed > 0)
      await noteActivity({
        organization: reads.organization.id,
        website,
        type: 'deliveries_replayed',
        subject: sessionOf(call).person,
        actor: sessionOf(call).person,
        logRetentionDays: reads.organization.logRetentionDays,
        message: `${replayed} failed deliveries were sent again.`,
      })
    return answer({ replayed, refused, mayHaveMore: jobIds.size >= MOST_REPLAYED })
  })
}

/** IDs of jobs of the website that failed and that the provider would still accept; those that it may count twice only by their reason. */
async function failedJobs(reads: OrganizationFacts, call: Call): Promise<ReadonlySet<string>> {
  const website = textField(call, 'website')
  const destination = optionalText(call, 'destination')
  const reason = optionalText(call, 'reason')
  const rows = await reads.run('deliveryLines', {
    website,
    status: 'failed',
    open_after_ms: call.nowMs,
    limit: MOST_REPLAYED,
    since_ms: call.nowMs - LIMITS.deadLetterKeepMs,
    until_ms: call.nowMs + LIMITS.clockSkewMs,
    ...(destination === null ? {} : { destination }),
    ...(reason === null ? { except_reason: MAY_COUNT_TWICE } : { reason }),
  })
  return new Set(rows.map(({ job_id: id }) => id))
}
