/** What the Overview looks like once installs come in: made-up numbers, said to be so, for whoever has none of their own yet. */

import type { ReactNode } from 'react'

import { axisTicks } from './axis.ts'
import { Drawing } from './drawing.tsx'

const TILES = [
  { title: 'Installs', value: 284 },
  { title: 'Match rate', value: 0.71 },
  { title: 'With a known source', value: 163 },
  { title: 'Visits', value: 2_137 },
  { title: 'Conversion', value: 0.11 },
] as const
const INSTALLS = [14, 17, 21, 19, 24, 9, 8, 18, 22, 26, 31, 38, 19, 18] as const
const SOURCES = [
  { name: 'newsletter', installs: 74 },
  { name: 'google', installs: 58 },
  { name: 'hackernews', installs: 31 },
] as const

export function ExampleFrame(): ReactNode {
  const most = Math.max(...INSTALLS)
  return (
    <section className="example-frame" aria-labelledby="example">
      <h2 id="example">
        What will be here <small>Example</small>
      </h2>
      <ul className="tiles metrics">
        {TILES.map(({ title, value }, place) => (
          <li key={title}>
            <div className="tile" aria-current={place === 0 ? 'true' : undefined}>
              <span className="title">{title}</span>
              <strong>{value < 1 ? `${Math.round(100 * value)} %` : value.toLocaleString()}</strong>
            </div>
          </li>
        ))}
      </ul>
      <figure className="card chart">
        <figcaption>
          <h3>Installs by day</h3>
        </figcaption>
        <div className="drawing" role="img" aria-label="Example of a chart: installs by day, two weeks of bars">
          <Drawing
            kind="volume"
            points={INSTALLS.map((now, at) => ({ at, now, before: null, isPart: false, isKept: true, isYoung: false }))}
            ticks={axisTicks({ most, isWhole: true })}
            shown={null}
          />
        </div>
        <p className="question">
          {SOURCES.map(({ name, installs }) => `${name} ${installs}`).join(' · ')}: which source brought them, and as
          well which campaign, page, install method, place, platform and version.
        </p>
      </figure>
    </section>
  )
}
