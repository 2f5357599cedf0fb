/** The picture of a chart: bars or a line, the period before, and lines at the ticks of the axis. */

import type { ReactNode } from 'react'

import { Hatching } from '../parts/hatching.tsx'
import type { DrawnPoint } from './chart-points.ts'

/** It is stretched to its place; lines keep their width. */
const WIDTH = 1_000
const HEIGHT = 300
/** Of the width of a step. */
const GAP = 0.16

interface DrawingProps {
  readonly kind: 'volume' | 'rate'
  readonly points: readonly DrawnPoint[]
  readonly ticks: readonly number[]
  /** The place that the card tells about. */
  readonly shown: number | null
}

export function Drawing({ kind, points, ticks, shown }: DrawingProps): ReactNode {
  const top = ticks.at(-1) ?? 1
  const wide = WIDTH / points.length
  const xOf = (place: number): number => (place + 0.5) * wide
  const yOf = (value: number): number => HEIGHT - (HEIGHT * value) / top
  const line = (values: readonly (number | null)[]): readonly string[] =>
    runsOf(values).map((run) => `M${run.map(({ place, value }) => `${xOf(place)} ${yOf(value)}`).join('L')}`)
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
      {ticks.map((tick) => (
        <path key={tick} className="tick" d={`M0 ${yOf(tick)}H${WIDTH}`} />
      ))}
      <Hatching />
      {points.map(({ at, isKept }, place) =>
        isKept ? null : <rect key={at} className="not-kept" x={place * wide} y={0} width={wide} height={HEIGHT} />,
      )}
      {shown !== null && <rect className="reach" x={shown * wide} y={0} width={wide} height={HEIGHT} />}
      {kind === 'volume' &&
        points.map(({ at, now, isPart }, place) => {
          const height = now === null || now === 0 ? 0 : Math.max(2, HEIGHT - yOf(now))
          return (
            <rect
              key={at}
              className={isPart ? 'bar part' : 'bar'}
              x={(place + GAP / 2) * wide}
              y={HEIGHT - height}
              width={wide * (1 - GAP)}
              height={height}
            />
          )
        })}
      {line(points.map(({ before }) => before)).map((d) => (
        <path key={d} className="earlier" d={d} />
      ))}
      {kind === 'rate' && (
        <>
          {line(points.map(({ now }) => now)).map((d) => (
            <path key={d} className="rate" d={d} />
          ))}
          {points.map(({ at, now, isYoung }, place) =>
            now === null ? null : (
              <path key={at} className={isYoung ? 'point young' : 'point'} d={`M${xOf(place)} ${yOf(now)}h0.01`} />
            ),
          )}
          {points.map(({ at, now, isYoung }, place) =>
            now !== null && isYoung ? (
              <path key={at} className="point hollow" d={`M${xOf(place)} ${yOf(now)}h0.01`} />
            ) : null,
          )}
        </>
      )}
    </svg>
  )
}

interface PlacedValue {
  readonly place: number
  readonly value: number
}

/** A line has a gap where nothing is counted. */
function runsOf(values: readonly (number | null)[]): readonly (readonly PlacedValue[])[] {
  const runs: PlacedValue[][] = []
  let run: PlacedValue[] = []
  for (const [place, value] of values.entries()) {
    if (value === null) {
      if (run.length > 0) runs.push(run)
      run = []
    } else run.push({ place, value })
  }
  return run.length > 0 ? [...runs, run] : runs
}
