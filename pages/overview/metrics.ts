/** What the overview shows of a period: counts, and the shares that follow from them. */

import type { FigureName } from '../../domain/figures/figure-words.ts'
import type { OverviewFigures } from '../data/overview.ts'
import { shareText, shownCount } from '../parts/numbers.tsx'

type OverviewStep = OverviewFigures['steps'][number]
type OverviewTotal = OverviewFigures['total']
/** A step, or the whole period. */
type Counted = Pick<OverviewStep, 'installs' | 'visits'>

interface Share {
  readonly part: number
  readonly whole: number
}

interface OverviewMetric {
  readonly id: 'installs' | 'match' | 'known' | 'visits' | 'conversion'
  readonly title: string
  /** What a step counts, in a sentence about a chart: "visits"; of a share: "of visits". */
  readonly what: string
  readonly kind: 'volume' | 'rate'
  /** Its words on cards and in docs. */
  readonly word: FigureName
  /** A number as a share of 1; null if nothing is counted. */
  readonly shareOf: (counted: Counted) => Share | null
}

export const METRICS = [
  {
    id: 'installs',
    title: 'Installs',
    what: 'installs',
    kind: 'volume',
    word: 'installs',
    shareOf: ({ installs }) => ({ part: installs.installs, whole: 1 }),
  },
  {
    id: 'match',
    title: 'Match rate',
    what: 'of installs that were looked up',
    kind: 'rate',
    word: 'match_rate',
    shareOf: ({ installs }) => ({ part: installs.matched, whole: installs.matched + installs.unmatched }),
  },
  {
    id: 'known',
    title: 'With a known source',
    what: 'installs with a known source',
    kind: 'volume',
    word: 'known_source',
    shareOf: ({ installs }) => ({ part: installs.known_source, whole: 1 }),
  },
  {
    id: 'visits',
    title: 'Visits',
    what: 'visits',
    kind: 'volume',
    word: 'visits',
    shareOf: ({ visits }) => (visits === null ? null : { part: visits.visits, whole: 1 }),
  },
  {
    id: 'conversion',
    title: 'Conversion',
    what: 'of visits',
    kind: 'rate',
    word: 'conversion',
    shareOf: ({ visits }) => (visits === null ? null : { part: visits.converted, whole: visits.visits }),
  },
] as const satisfies readonly OverviewMetric[]

export type ShownMetric = OverviewMetric

export function metricOf(name: unknown): ShownMetric {
  return METRICS.find(({ id }) => id === name) ?? METRICS[0]
}

/** Null if it is not counted, or a share of nothing. */
export function metricValue(metric: ShownMetric, counted: Counted): number | null {
  const share = metric.shareOf(counted)
  return share === null || share.whole === 0 ? null : share.part / share.whole
}

/** As it is shown: a count, or a share in percent; a dash if it is not counted. */
export function metricText(metric: ShownMetric, counted: Counted): string {
  const share = metric.shareOf(counted)
  if (share === null) return '–'
  return metric.kind === 'rate' ? shareText(share.part, share.whole) : shownCount(share.part)
}

interface Compared {
  readonly now: number
  readonly before: number
}

/** Both periods, as far as they can be compared: of a conversion, visits that had time to convert. Null if either has nothing to compare. */
export function comparedValues(metric: ShownMetric, now: OverviewTotal, before: OverviewTotal): Compared | null {
  const comparable = (total: OverviewTotal): Counted =>
    metric.id === 'conversion' ? { installs: total.installs, visits: total.ripe } : total
  const values = { now: metricValue(metric, comparable(now)), before: metricValue(metric, comparable(before)) }
  return values.now === null || values.before === null ? null : { now: values.now, before: values.before }
}
