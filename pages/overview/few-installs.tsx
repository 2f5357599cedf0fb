/** The overview of few installs: each of them, and counts instead of shares, which would say nothing yet. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { Overview } from '../data/overview.ts'
import { InstallTable } from '../installs/install-table.tsx'
import { shownCount } from '../parts/numbers.tsx'
import { Tile } from '../parts/tile.tsx'

interface FewInstallsProps {
  readonly organization: string
  readonly figures: Overview
  readonly installs: NonNullable<Overview['installs']>
}

export function FewInstalls({ organization, figures, installs }: FewInstallsProps): ReactNode {
  const { installs: counts, visits } = figures.total
  const judged = counts.matched + counts.unmatched
  return (
    <>
      <dl className="tiles">
        <Tile title="Installs" value={shownCount(counts.installs)} />
        {judged === 0 && counts.counted > 0 ? (
          <Tile title="Counted, not looked up" value={shownCount(counts.counted)} />
        ) : (
          <Tile title="With a visit" value={countOfText(counts.matched, judged)} />
        )}
        <Tile title="With a known source" value={countOfText(counts.known_source, counts.installs)} />
        <Tile title="Visits" value={visits === null ? '–' : shownCount(visits.visits)} />
        <Tile
          title="Visits with an install"
          value={visits === null ? '–' : countOfText(visits.converted, visits.visits)}
        />
      </dl>
      <p className="question lead">
        With twenty installs, shares, comparisons and a chart appear here. Until then, each install tells more.
      </p>
      {installs.length > 0 ? (
        <InstallTable organization={organization} installs={installs} />
      ) : (
        <p className="question">No install has all of these values.</p>
      )}
      {counts.unmatched > 0 && (
        <p className="footnote">
          <Link to="/app/$organization/match" params={{ organization }}>
            Match rate
          </Link>{' '}
          says what to do about installs without a visit.
        </p>
      )}
    </>
  )
}

/** "2 of 3" */
function countOfText(part: number, whole: number): string {
  return whole === 0 ? '–' : `${shownCount(part)} of ${shownCount(whole)}`
}
