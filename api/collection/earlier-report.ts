/**
 * Looks for an earlier report of an event that the hot state does not know but may have forgotten: in the facts, and among the
 * installs that are on the log and not in the facts yet. Both together hold every event that was answered.
 */

import { FACTS_WRITER_GROUP } from '../../domain/collection/facts-lag.ts'
import type { Claim } from '../../ports/hot-state/hot-state.ts'
import type { KnownAnswer } from '../../ports/hot-state/settled-record.ts'
import { settledInstallOf } from '../../ports/facts/settled-installs.ts'
import type { ApiDeps } from '../deps.ts'
import { InstallTail } from './install-tail.ts'
import { inTime } from './look-up.ts'

/** More at once would only make each other late; those events are taken for new. */
const MOST_AT_ONCE = 200

type Asked = Pick<Claim, 'organization' | 'website' | 'eventId'>

/** Null if the event is new, or if that cannot be found out within the time of a look-up. Never rejects. */
export type FindEarlierReport = (event: Asked) => Promise<KnownAnswer | null>

export function earlierReports(deps: Pick<ApiDeps, 'eventLog' | 'facts' | 'logger' | 'metrics'>): FindEarlierReport {
  const tail = new InstallTail(deps.eventLog)
  let asking = 0
  const find = async (event: Asked): Promise<KnownAnswer | null> => {
    // The position first: what is before it must be among the rows, what is behind it is read from the log.
    const progress = await deps.eventLog.progress('installs', FACTS_WRITER_GROUP)
    const { organization, website, eventId } = event
    const [row] = await deps.facts.run('settledInstall', { organization, website, event_id: eventId })
    if (row !== undefined) return { ...settledInstallOf(row), isPending: row.resolution === 'pending' }
    return (await tail.find(event, progress)) ?? null
  }
  return async (event) => {
    if (asking >= MOST_AT_ONCE) return null
    asking++
    deps.metrics.lookup('events')
    try {
      return await inTime(find(event))
    } catch (error) {
      deps.logger.warn({ err: error }, 'an earlier report of an event could not be looked up')
      return null
    } finally {
      asking--
    }
  }
}
