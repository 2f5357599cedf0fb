/**
 * Fan-out: the token of one copied command that many installations bring is no visitor who installs a hundred times, but a channel: somebody put the
 * command into a README, a blog or a CI file.
 */

import { DAY_MS } from '../../domain/durations.ts'
import { timeZone } from '../../domain/time-zones.ts'
import { refuseField } from '../../domain/errors.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'
import { readVisitSources, visitName } from '../reads/visits-beside.ts'
import { readExampleUntil } from './example.ts'
import { periodBefore, periodOf } from './period.ts'

/** One person may have a laptop and a server. */
const LEAST_INSTALLATIONS = 3
const MOST_LISTED = 50
/** It reads install events themselves, not the figures by hour. */
const MOST_DAYS = 31

/** Those of the most installations first, each with the page that the command was copied from, and those of the previous period. */
export function readSharedCommands(scope: ReadScope) {
  return scope(async (reads, call: CallTo<'sharedCommands'>) => {
    const period = periodOf(call, timeZone(reads.organization.timeZone))
    if ('code' in period) return period
    const { sinceMs, untilMs } = period
    if (untilMs - sinceMs > MOST_DAYS * DAY_MS) {
      return refuseField('/since', `must be at most ${MOST_DAYS} days before until`)
    }
    const bounds = { since_ms: sinceMs, until_ms: untilMs }
    const asked = { ...bounds, least: LEAST_INSTALLATIONS, limit: MOST_LISTED }
    const visits = await reads.run('sharedVisits', asked)
    const keys = { of_websites: visits.map(({ website }) => website), visit_ids: visits.map((row) => row.visit_id) }
    const commands = visits.length === 0 ? [] : await reads.run('sharedCommands', { ...asked, ...keys })
    const visitOf = await readVisitSources(reads, commands)
    const earlier = { since_ms: periodBefore(period).sinceMs, until_ms: sinceMs, least: 1, limit: MOST_LISTED }
    const before = commands.length === 0 ? [] : await reads.run('sharedCommands', { ...earlier, ...keys })
    const machinesBefore = new Map(before.map((row) => [visitName(row), row.installations]))
    return answer({
      since: sinceMs,
      until: untilMs,
      timeZone: reads.organization.timeZone,
      leastInstallations: LEAST_INSTALLATIONS,
      mostListed: MOST_LISTED,
      exampleUntil: await readExampleUntil(reads, sinceMs, call.nowMs),
      commands: commands.map((row) => ({
        ...row,
        visit: visitOf(row),
        before: { installations: machinesBefore.get(visitName(row)) ?? 0 },
      })),
    })
  })
}
