/** What it cost to bring a visit and an install: ad spend beside the visits and installs of the same days. */

import type { Cell } from '../../domain/figures/cells.ts'
import { placesOf } from '../../domain/spend/currencies.ts'
import { joinKey, joinSpend, type Joinable } from '../../domain/spend/joined-spend.ts'
import { wholeDays } from '../../domain/spend/whole-days.ts'
import type { TimeZone } from '../../domain/time-zones.ts'
import type { CallTo } from '../http/call.ts'
import type { FiguresPeriod } from '../../domain/figures/periods.ts'
import { readFigures, type FigureSource } from '../figures/read-figures.ts'
import { installSlices, readInstallFigures } from '../figures/read-installs.ts'

type SpendBy = 'campaign' | 'source'

/** Of a period without a whole day nothing is counted. */
export async function spendPage(
  source: FigureSource & { readonly zone: TimeZone },
  period: FiguresPeriod,
  { query }: CallTo<'spend'>,
) {
  const { by = 'campaign' } = query
  const days = wholeDays(source.zone, { at: period.sinceMs, until: period.untilMs })
  if (days === null) return { by, days: null, currencies: [], rows: [], notJoined: [] }
  const stored = { since_ms: days.stored.at, until_ms: days.stored.until }
  const spend = await source.reads.run(by === 'source' ? 'spendBySource' : 'spendByCampaign', stored)
  const totals = await source.reads.run('spendByCurrency', stored)
  const { at: sinceMs, until: untilMs } = days.period
  const isAny = spend.length > 0
  const joinable = isAny ? await JOINABLE[by](source, { sinceMs, untilMs }) : NOTHING
  const { currencies, rows, notJoined } = joinSpend(spend, totals, joinable)
  return {
    by,
    days: { first: days.first, last: days.last, since: sinceMs, until: untilMs },
    currencies: currencies.map((each) => ({ ...each, places: placesOf(each.currency) })),
    rows,
    notJoined,
  }
}

const NOTHING: Joinable = { visits: new Map(), installs: new Map() }

const JOINABLE: Readonly<Record<SpendBy, (source: FigureSource, period: FiguresPeriod) => Promise<Joinable>>> = {
  campaign: async (source, period) => {
    const visits = await readFigures(source, period, ['source_campaign'])
    const installs = new Map<string, number>()
    for (const slice of await installSlices(source, period)) {
      for (const row of await source.reads.run('installsBySourceCampaign', slice)) {
        const key = joinKey(row)
        installs.set(key, (installs.get(key) ?? 0) + row.installs)
      }
    }
    return { visits: visitsByValue(visits.get('source_campaign'), (value) => value), installs }
  },
  source: async (source, period) => {
    const ofSource = (name: string): string => joinKey({ source: name, campaign: '' })
    const visits = await readFigures(source, period, ['source'])
    const installs = await readInstallFigures(source, period, ['source'])
    const values = installs.by('source').filter(({ row }) => row === 'value')
    return {
      visits: visitsByValue(visits.get('source'), ofSource),
      installs: new Map(values.map(({ value, counts }) => [ofSource(value), counts.installs])),
    }
  },
}

function visitsByValue(cells: readonly Cell[] = [], keyOf: (value: string) => string): ReadonlyMap<string, number> {
  return new Map(cells.map(([value, visits]) => [keyOf(value), visits]))
}
