/** Reads the numbers of a week as the Overview reads them. */

import { largestChanges } from '../../domain/figures/overview.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import type { PastWeek } from '../../domain/figures/weekly.ts'
import type { WeekFigures, WeeklySummary } from '../../domain/people/weekly-summary.ts'
import { areHoursCounted, readQuestion, type FiguresQuestion } from '../figures/asked-period.ts'
import { readExampleUntil } from '../figures/example.ts'
import type { OrganizationSource } from '../figures/pages.ts'
import { readSides } from '../overview/overview.ts'

/** More make a mail a report. */
const MOST_CHANGES = 3

/** What is asked about a week. Refused for no week that is over. */
async function questionOf({ reads, nowMs, zone }: OrganizationSource, week: PastWeek): Promise<FiguresQuestion> {
  const question = await readQuestion(reads, { query: { from: week.from, to: week.to }, nowMs }, zone)
  if ('code' in question) throw new Error(`no figures of the week from ${week.from}: ${question.code}`)
  return question
}

/**
 * `empty`: nothing had come in yet at its end, or some of it is made up. `later`: not all of it is counted yet. Rejects like `Facts`.
 */
export async function readWeek(source: OrganizationSource, week: PastWeek): Promise<WeeklySummary | 'empty' | 'later'> {
  const { reads, nowMs, zone } = source
  const question = await questionOf(source, week)
  const [first] = await reads.run('firstHour', {})
  if (first === undefined || first.hour_ms >= question.untilMs) return 'empty'
  if ((await readExampleUntil(reads, earliest(question).sinceMs, nowMs)) !== null) return 'empty'
  if (!(await areHoursCounted(reads, question, nowMs))) return 'later'
  const { now, before, rows } = await readSides(source, question)
  return {
    from: week.from,
    to: week.to,
    timeZone: zone.name,
    now: weekFigures(now.total),
    before: before === null ? null : weekFigures(before.total),
    changes: largestChanges(rows, MOST_CHANGES),
  }
}

function earliest(question: FiguresQuestion): FiguresPeriod {
  return question.before ?? question
}

type SideTotal = Awaited<ReturnType<typeof readSides>>['now']['total']

function weekFigures({ installs, visits }: SideTotal): WeekFigures {
  return {
    installs: installs.installs,
    matched: installs.matched,
    lookedUp: installs.matched + installs.unmatched,
    counted: installs.counted,
    knownSource: installs.known_source,
    visits: visits?.visits ?? 0,
    converted: visits?.converted ?? 0,
  }
}
