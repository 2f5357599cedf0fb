/** What is set up, as real traffic proves: each line completes by itself. */

import { DAY_MS, hourAfter } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import { restOf, type Cell } from '../../domain/figures/cells.ts'
import { answer } from '../http/call.ts'
import type { OrganizationFacts } from '../reads/scope.ts'
import { totalOf } from './answers.ts'
import type { FigureParts } from './pages.ts'
import { readExampleUntil } from './example.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import { readFigures, type FigureSource } from './read-figures.ts'
import { readInstallFigures } from './read-installs.ts'

const DAYS = 30

export function readChecklist({ scope, keyIds }: FigureParts) {
  return scope(async (reads, call) => answer(await checklistOf({ reads, nowMs: call.nowMs, keyIds })))
}

interface ChecklistSource extends FigureSource {
  readonly reads: OrganizationFacts
}

export async function checklistOf({ reads, nowMs, keyIds }: ChecklistSource) {
  const untilMs = hourAfter(nowMs)
  const period = { sinceMs: untilMs - DAYS * DAY_MS, untilMs }
  const source = { reads, nowMs, keyIds }
  const figures = await readFigures(source, period, ['visits', 'events', 'delivery'])
  const installs = await readInstallFigures(source, period, [])
  const exampleUntil = await readExampleUntil(reads, period.sinceMs, nowMs)
  const made = exampleUntil === null ? NOTHING_MADE_UP : await madeUpIn(source, period)
  const [visits, activated, copied] = restOf(totalOf(figures.get('visits')), made.visits)
  const [events] = totalOf(figures.get('events'))
  const delivered = (figures.get('delivery') ?? []).filter(([value]) => value.split('\t')[1] === 'delivered')
  const destinations = reads.websites.flatMap((website) => website.destinations)
  const line = (id: string, count: number) => ({ id, isDone: count > 0, count })
  return {
    since: period.sinceMs,
    exampleUntil,
    lines: [
      line('website_accepted', reads.websites.length),
      line('visit_seen', visits),
      line('marker_activated', activated),
      line('command_copied', copied),
      line('hook_reached', events - made.events),
      line('install_matched', installs.total.matched - made.matched),
      line(
        'provider_accepted',
        delivered.reduce((sum, cell) => sum + cell[1], -made.delivered),
      ),
      line('destination_live', destinations.filter(({ mode }) => mode === 'Live').length),
    ],
  }
}

interface MadeUp {
  readonly visits: readonly Cell[]
  /** Install events. */
  readonly events: number
  /** Installs with a visit. */
  readonly matched: number
  /** Deliveries that say that a provider accepted them. */
  readonly delivered: number
}

const NOTHING_MADE_UP: MadeUp = { visits: [], events: 0, matched: 0, delivered: 0 }

/** Visits by their landing pages, of which each has one; install events and their deliveries by their IDs. */
async function madeUpIn(source: FigureSource, period: FiguresPeriod): Promise<MadeUp> {
  const pages = (await readFigures(source, period, ['landing_page'])).get('landing_page') ?? []
  const [made] = await source.reads.run('madeUpInstalls', { since_ms: period.sinceMs, until_ms: period.untilMs })
  return {
    visits: pages.filter(([page]) => page.startsWith(`${EXAMPLE_DATA.origin}/`)),
    events: made?.events ?? 0,
    matched: made?.matched ?? 0,
    delivered: made?.delivered ?? 0,
  }
}
