/**
 * Fan-out: the token of one copied command that many installations bring is no visitor who installs a hundred times, but a channel: somebody put the
 * command into a README, a blog or a CI file.
 */

import { DAY_MS } from '../../domain/durations.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import { readVisitSources, visitName } from '../reads/visits-beside.ts'
import { readExampleUntil } from './example.ts'
import { answeredPeriod, readQuestion } from './asked-period.ts'

/** One person may have a laptop and a server. */
const LEAST_INSTALLATIONS = 3
const MOST_LISTED = 50
/** It reads install events themselves, not the figures by hour. */
const MOST_DAYS = 31

/** Those of the most installations first, each with the page that the command was copied from, and those of the previous period. */
export function readSharedCommands(scope: ReadScope) {
  return scope(async (reads, call: CallTo<'sharedCommands'>) => {
    const question = await readQuestion(reads, call)
    if ('code' in question) return question
    const { untilMs } = question
    const sinceMs = Math.max(question.sinceMs, untilMs - MOST_DAYS * DAY_MS)
    const bounds = { since_ms: sinceMs, until_ms: untilMs }
    const asked = { ...bounds, least: LEAST_INSTALLATIONS, limit: MOST_LISTED }
    const visits = await reads.run('sharedVisits', asked)
    const keys = { of_websites: visits.map(({ website }) => website), visit_ids: visits.map((row) => row.visit_id) }
    const commands = visits.length === 0 ? [] : await reads.run('sharedCommands', { ...asked, ...keys })
    const visitOf = await readVisitSources(reads, commands)
    const isCut = sinceMs > question.sinceMs
    const earlier = isCut ? null : question.before
    const before = await readCommandsBefore(reads, earlier, commands.length === 0 ? null : keys)
    return answer({
      ...answeredPeriod({ ...question, sinceMs }),
      isCut,
      timeZone: reads.organization.timeZone,
      leastInstallations: LEAST_INSTALLATIONS,
      mostListed: MOST_LISTED,
      exampleUntil: await readExampleUntil(reads, sinceMs, call.nowMs),
      commands: commands.map((row) => ({
        ...row,
        visit: visitOf(row),
        before: before === null ? null : { installations: before.get(visitName(row)) ?? 0 },
      })),
    })
  })
}

interface CommandKeys {
  readonly of_websites: readonly string[]
  readonly visit_ids: readonly string[]
}

/** Installations of the same commands in the period that is compared, by visit; null if none is. */
async function readCommandsBefore(reads: OrganizationFacts, period: FiguresPeriod | null, keys: CommandKeys | null) {
  if (period === null) return null
  const bounds = { since_ms: period.sinceMs, until_ms: period.untilMs, least: 1, limit: MOST_LISTED }
  const rows = keys === null ? [] : await reads.run('sharedCommands', { ...bounds, ...keys })
  return new Map(rows.map((row) => [visitName(row), row.installations]))
}
