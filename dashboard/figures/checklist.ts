/** What is set up, as traffic proves: each line completes by itself. */

import { DAY_MS, hourAfter } from '../../domain/durations.ts'
import { answer } from '../http/call.ts'
import { totalOf } from './answers.ts'
import type { FigureParts } from './pages.ts'
import { readFigures } from './read-figures.ts'

const DAYS = 30

export function readChecklist({ scope, keyIds }: FigureParts) {
  return scope(async (reads, call) => {
    const untilMs = hourAfter(call.nowMs)
    const period = { sinceMs: untilMs - DAYS * DAY_MS, untilMs }
    const source = { reads, nowMs: call.nowMs, keyIds }
    const figures = await readFigures(source, period, ['visits', 'installs', 'delivery'])
    const [visits, activated, copied] = totalOf(figures.get('visits'))
    const [started, completed, firstRun, matched] = totalOf(figures.get('installs'))
    const delivered = (figures.get('delivery') ?? []).filter(([value]) => value.split('\t')[1] === 'delivered')
    const destinations = reads.websites.flatMap((website) => website.destinations)
    const line = (id: string, count: number) => ({ id, isDone: count > 0, count })
    return answer({
      since: period.sinceMs,
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
