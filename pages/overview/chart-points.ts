/** What a chart of the overview shows at each place: a step of the period beside that of the period before, as numbers and as words. */

import type { StepSize } from '../../domain/time-zones.ts'
import type { OverviewFigures } from '../data/overview.ts'
import { annotationText } from './annotations.tsx'
import { metricText, metricValue, type ShownMetric } from './metrics.ts'

/** What the picture has of a step. */
export interface DrawnPoint {
  /** Of the step, Unix ms. */
  readonly at: number
  /** Null if it is not counted, or a share of nothing. */
  readonly now: number | null
  readonly before: number | null
  /** The period has a part of it. */
  readonly isPart: boolean
  /** All of it is kept. */
  readonly isKept: boolean
  /** Of a conversion: its visits may still lead to an install. */
  readonly isYoung: boolean
}

export interface ChartPoint extends DrawnPoint {
  /** "Tue, 24 November" */
  readonly name: string
  /** The same below the chart: "24 Nov". */
  readonly label: string
  /** The same in a file: "2026-11-24". */
  readonly date: string
  readonly nowText: string
  readonly beforeText: string
  /** Null if the period before has no such step: it may be an hour shorter. */
  readonly beforeName: string | null
  /** What charts mark: "Version 2.4.1 first seen". */
  readonly happened: readonly string[]
}

export function chartPoints(metric: ShownMetric, figures: OverviewFigures): readonly ChartPoint[] {
  const { steps, before, step, timeZone, annotations } = figures
  const names = stepNames(step, timeZone)
  return steps.map((each, place) => {
    const earlier = before?.steps[place]
    return {
      at: each.at,
      name: names.long(each.at),
      label: names.short(each.at),
      date: names.date(each.at),
      now: metricValue(metric, each),
      nowText: metricText(metric, each),
      before: earlier === undefined ? null : metricValue(metric, earlier),
      beforeText: earlier === undefined ? '–' : metricText(metric, earlier),
      beforeName: earlier === undefined ? null : names.long(earlier.at),
      isPart: step !== 'hour' && each.isPart,
      isKept: each.isKept,
      happened: annotations.filter(({ at }) => at >= each.at && at < each.until).map(annotationText),
      isYoung: metric.id === 'conversion' && !each.isRipe,
    }
  })
}

/** In the organisation's time zone. */
function stepNames(step: StepSize, timeZone: string) {
  const day = { day: 'numeric', timeZone } as const
  const formats =
    step !== 'hour'
      ? ([
          { ...day, weekday: 'short', month: 'long' },
          { ...day, month: 'short' },
        ] as const)
      : ([
          { timeZone, weekday: 'short', hour: 'numeric', minute: '2-digit' },
          { timeZone, weekday: 'short', hour: 'numeric' },
        ] as const)
  const [long, short] = formats.map((format) => new Intl.DateTimeFormat(undefined, format))
  // Swedish dates are those of ISO 8601.
  const date = new Intl.DateTimeFormat('sv', {
    dateStyle: 'short',
    timeZone,
    ...(step === 'hour' ? { timeStyle: 'short' } : {}),
  })
  return {
    date: (at: number): string => date.format(at),
    long: (at: number): string => `${step === 'week' ? 'Week of ' : ''}${long?.format(at) ?? ''}`,
    short: (at: number): string => short?.format(at) ?? '',
  }
}
