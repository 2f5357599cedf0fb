/** Deliveries: their states by destination and cause, and the replay of those that failed for good. */

import { DAY_MS } from '../../domain/durations.ts'
import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answer, optionalText, sessionOf, textField, type Handler } from '../http/call.ts'
import { textParameter } from '../http/parameters.ts'
import type { ReadScope } from '../reads/scope.ts'

const DEFAULT_PERIOD_MS = 7 * DAY_MS
const LONGEST_PERIOD_MS = 90 * DAY_MS

export function readDeliveries(scope: ReadScope): Handler {
  return scope(async (reads, call) => {
    const { since, until } = call.queryValues
    const untilMs = typeof until === 'number' ? Math.min(until, call.nowMs) : call.nowMs
    const wantedMs = typeof since === 'number' ? since : untilMs - DEFAULT_PERIOD_MS
    const sinceMs = Math.max(wantedMs, untilMs - LONGEST_PERIOD_MS)
    const groups = await reads.run('deliveryGroups', { since_ms: sinceMs, until_ms: untilMs + 1 })
    const destinations = reads.websites.flatMap(({ id: website, destinations: all }) =>
      all.map(({ id, displayName, provider, mode }) => ({ website, id, displayName, provider, mode })),
    )
    return answer({ since: sinceMs, until: untilMs, destinations, groups })
  })
}

interface DeadLetterQuery {
  readonly website: string
  readonly destination?: string
  readonly jobId?: string
  readonly limit: number
}

/** Sends failed deliveries again, under their old IDs; the newest first if there are more than the limit. */
export type ReplayDeliveries = (
  query: DeadLetterQuery,
) => Promise<{ readonly replayed: number; readonly refused: number }>

/** Enough for a person; operators have `whence replay --all`. */
const MOST_REPLAYED = 50

export const REPLAY_SCHEMA = objectSchema(
  {
    website: textParameter('The website.', LIMITS.websiteIdChars),
    destination: textParameter('One destination instead of all.', LIMITS.groupChars),
    job: textParameter('One delivery, by its job ID.', LIMITS.idChars.max),
  },
  ['website'],
)

interface ReplayParts {
  readonly scope: ReadScope
  readonly replayDeliveries: ReplayDeliveries
  readonly noteActivity: NoteActivity
}

/** At most 50 at a time: the answer says whether there may be more. */
export function replayFailed({ scope, replayDeliveries, noteActivity }: ReplayParts): Handler {
  return scope(async (reads, call) => {
    const website = textField(call, 'website')
    if (!reads.websites.some((each) => each.id === website)) return refuse('not_found')
    const [destination, jobId] = [optionalText(call, 'destination'), optionalText(call, 'job')]
    const { replayed, refused } = await replayDeliveries({
      website,
      limit: MOST_REPLAYED,
      ...(destination === null ? {} : { destination }),
      ...(jobId === null ? {} : { jobId }),
    })
    if (replayed > 0)
      await noteActivity({
        ...{ organization: reads.organization.id, website, type: 'deliveries_replayed' },
        ...{ subject: sessionOf(call).person, actor: sessionOf(call).person },
        ...{ logRetentionDays: reads.organization.logRetentionDays },
        message: `${replayed} failed deliveries were sent again.`,
      })
    return answer({ replayed, refused, mayHaveMore: replayed + refused >= MOST_REPLAYED })
  })
}
