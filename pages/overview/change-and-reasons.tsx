/** One sentence on what changed most, and why installs have no visit, each reason with what to do about it. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { ORIGIN_NAMES, type InstallDimension, isOriginDimension } from '../../domain/figures/installs.ts'
import type { ShownFigures } from '../data/overview.ts'
import { nameOfBefore } from '../data/period.ts'
import { listFilters } from '../figures/list-of.ts'
import { reasonWords } from '../parts/install-words.ts'
import { Bar, shareText, shownCount } from '../parts/numbers.tsx'
import { ValueLink } from './filters.tsx'
import { useLeadingOn } from './leading-on.ts'

export function LargestChange({ filters, figures }: ShownFigures): ReactNode {
  const { largestChange: change } = figures
  if (change === null) return null
  const { by, value, installs, before } = change
  const more = installs - before
  return (
    <p className="question lead">
      The largest change: the {dimensionWord(by)}{' '}
      <ValueLink by={by} value={value}>
        {value}
      </ValueLink>{' '}
      brought {shownCount(installs)} {installs === 1 ? 'install' : 'installs'}, {shownCount(Math.abs(more))}{' '}
      {more > 0 ? 'more' : 'fewer'} than in {nameOfBefore(filters)}.
    </p>
  )
}

function dimensionWord(by: InstallDimension): string {
  return isOriginDimension(by) ? ORIGIN_NAMES[by].toLowerCase() : by
}

/** For those who can do something about it. */
export function Reasons({ filters, figures }: ShownFigures): ReactNode {
  const organization = useLeadingOn()
  const { reasons, total } = figures
  const { unmatched } = total.installs
  if (unmatched === 0 || organization === null) return null
  return (
    <section className="card" aria-labelledby="without-visit">
      <h2 id="without-visit">Why {shownCount(unmatched)} installs have no visit</h2>
      <ul className="why-not">
        {reasons.map(({ value, installs }) => {
          const { name, advice } = reasonWords(value)
          const own = { kind: 'install', resolution: 'unmatched', reason: value }
          return (
            <li key={value}>
              <h3>
                {name} <Bar share={installs / unmatched} tone="faint" />
              </h3>
              <p className="count">
                <Link
                  to="/app/$organization/installs"
                  params={{ organization }}
                  search={listFilters(figures, filters, own)}
                >
                  {shownCount(installs)}
                  <span className="unseen"> installs: {name}</span>
                </Link>{' '}
                <small>{shareText(installs, unmatched)}</small>
              </p>
              <p className="remedy">{advice}</p>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
