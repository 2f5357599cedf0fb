/** Page views of programs, which are no visits: how many, and on request of which kind. */

import type { ReactNode } from 'react'

import type { FunnelFigures } from '../data/figures.ts'
import { Change, shownCount, countBefore } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'

interface ProgramsProps {
  readonly figures: FunnelFigures
  /** "the 7 days before" */
  readonly since: string
}

export function Programs({ figures, since }: ProgramsProps): ReactNode {
  const { leftOut, before } = figures
  if (leftOut.length === 0) return null
  const all = leftOut.reduce((sum, { pageViews }) => sum + pageViews, 0)
  return (
    <details className="programs">
      <summary>
        {shownCount(all)} page {all === 1 ? 'view' : 'views'} of programs {all === 1 ? 'is' : 'are'} not among them
      </summary>
      <table className="list stacks">
        <TableHead columns={['Program', 'What it is', { figure: 'page_views' }]} />
        <tbody>
          {leftOut.map(({ kind, pageViews }) => {
            const { name, means } = PROGRAMS[kind] ?? { name: kind, means: AGENT }
            return (
              <tr key={kind}>
                <th scope="row">{name}</th>
                <td>{means}</td>
                <td className="number" data-title="page views">
                  {shownCount(pageViews)}{' '}
                  <Change
                    now={pageViews}
                    before={countBefore(
                      before?.leftOut,
                      (each) => each.kind === kind,
                      (each) => each.pageViews,
                    )}
                    since={since}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <p className="footnote">
        These are single page views, not visits. They are in no list of visits, and no figure counts their steps.
      </p>
    </details>
  )
}

interface ProgramWords {
  readonly name: string
  readonly means: string
}

const PROGRAMS: Readonly<Record<string, ProgramWords>> = {
  bot: { name: 'Crawlers', means: 'Their User-Agent names a search engine, a preview or a monitor' },
  automation: { name: 'Automated browsers', means: 'A script drives the browser: tests, scrapers, whencectl check' },
}
const AGENT = 'Opens pages because a person asked it to'
