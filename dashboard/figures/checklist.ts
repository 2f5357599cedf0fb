/** What is set up, as real traffic proves: each line completes by itself. */

import { DAY_MS, hourAfter } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import { cellOf, restOf, type Cell } from '../../domain/figures/cells.ts'
import { answer } from '../http/call.ts'
import { totalOf } from './answers.ts'
import type { FigureParts } from './pages.ts'
import { readExampleUntil } from './example.ts'
import type { FiguresPeriod } from './period.ts'
import { readFigures, type FigureSource } from './read-figures.ts'

const DAYS = 30

export function readChecklist({ scope, keyIds }: FigureParts) {
  return scope(async (reads, call) => {
    const untilMs = hourAfter(call.nowMs)
    const period = { sinceMs: untilMs - DAYS * DAY_MS, untilMs }
    const source = { reads, nowMs: call.nowMs, keyIds }
    const figures = await readFigures(source, period, ['visits', 'installs', 'delivery'])
    const exampleUntil = await readExampleUntil(reads, period.sinceMs, call.nowMs)
    const made = exampleUntil === null ? NOTHING_MADE_UP : await madeUpIn(source, period)
    const [visits, activated, copied] = restOf(totalOf(figures.get('visits')), made.visits)
    const [started, completed, firstRun, matched] = restOf(totalOf(figures.get('installs')), made.installs)
    const delivered = (figures.get('delivery') ?? []).filter(([value]) => value.split('\t')[1] === 'delivered')
    const destinations = reads.websites.flatMap((website) => website.destinations)
    const line = (id: string, count: number) => ({ id, isDone: count > 0, count })
    return answer({
      since: period.sinceMs,
      exampleUntil,
      lines: [
        line('website_accepted', reads.websites.length),
        line('visit_seen', visits),
        line('marker_activated', activated),
        line('command_copied', copied),
        line('hook_reached', started + completed + firstRun),
        line('install_matched', matched),
        line(
          'provider_accepted',
          delivered.reduce((sum, cell) => sum + cell[1], 0),
        ),
        line('destination_live', destinations.filter(({ mode }) => mode === 'Live').length),
      ],
    })
  })
}

interface MadeUp {
  readonly visits: readonly Cell[]
  readonly installs: readonly Cell[]
}

const NOTHING_MADE_UP: MadeUp = { visits: [], installs: [] }

/** Visits by their pages, install events by their IDs. It plans no delivery. */
async function madeUpIn(source: FigureSource, period: FiguresPeriod): Promise<MadeUp> {
  const pages = (await readFigures(source, period, ['page'])).get('page') ?? []
  const events = await source.reads.run('madeUpInstalls', { since_ms: period.sinceMs, until_ms: period.untilMs })
  return {
    visits: pages.filter(([page]) => page.startsWith(`${EXAMPLE_DATA.origin}/`)),
    installs: events.map(({ counts }) => cellOf({ value: '', counts })),
  }
}
