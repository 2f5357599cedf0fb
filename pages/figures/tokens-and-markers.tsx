/** What markers add to tokens: how installs that were looked up found their visit, in the order in which the service looks. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { HOWS, howOf, matchedBy, type FoundBy } from '../../domain/figures/found-by.ts'
import type { MatchFigures } from '../data/figures.ts'
import type { ShownInstallFilters } from '../data/installs.ts'
import { nameOfBefore, type CountingFilters } from '../data/period.ts'
import { CsvLink } from '../parts/csv-link.tsx'
import { Bar, Change, shownCount, shareText } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { listFilters } from './list-of.ts'

interface TokensAndMarkersProps {
  readonly organization: string
  readonly filters: CountingFilters
  readonly figures: MatchFigures
}

const WORDS: Readonly<Record<FoundBy, { readonly name: string; readonly sentence: string }>> = {
  token: { name: 'By its token', sentence: 'The command that was copied brought it along.' },
  marker: { name: 'By a marker alone', sentence: 'There was no token; a browser on the machine kept a marker.' },
  earlier: {
    name: 'By an earlier event',
    sentence: 'The same installation had been matched before, by a token or a marker.',
  },
  neither: { name: 'By neither', sentence: 'No token and no marker led to a visit.' },
}

/** The installs of each; null if no list can hold just these: a website may have chosen first and latest visits in turn. */
function installsFound(how: FoundBy, { policy }: MatchFigures): ShownInstallFilters | null {
  if (how === 'neither') return { kind: 'install', resolution: 'unmatched' }
  const [own, ...more] = policy.filter(({ value, matched }) => matched > 0 && howOf(value) === how)
  return own === undefined || more.length > 0 ? null : { kind: 'install', resolution: 'matched', policy: own.value }
}

export function TokensAndMarkers({ organization, filters, figures }: TokensAndMarkersProps): ReactNode {
  const now = matchedBy(figures.policy)
  const before = figures.before === null ? null : matchedBy(figures.before.policy)
  const all = now.token + now.marker + now.earlier + now.neither
  if (all === 0) return null
  const shown = HOWS.filter((how) => how !== 'earlier' || now.earlier > 0 || (before?.earlier ?? 0) > 0)
  return (
    <section className="card breakdown found-by" aria-labelledby="added">
      <h2 id="added">What markers add to tokens</h2>
      <p className="question">{markersSentence(now, all)}</p>
      <table className="list">
        <TableHead columns={['Found', { figure: 'installs' }, { number: 'Share' }]} />
        <tbody>
          {shown.map((how) => (
            <tr key={how}>
              <th scope="row">
                {WORDS[how].name}
                <small>{WORDS[how].sentence}</small>
                <Bar share={now[how] / all} tone={how === 'neither' ? 'faint' : 'accent'} />
              </th>
              <td className="number">
                <Listed
                  organization={organization}
                  filters={filters}
                  figures={figures}
                  own={installsFound(how, figures)}
                >
                  {now[how]}
                </Listed>{' '}
                <Change now={now[how]} before={before?.[how] ?? null} since={nameOfBefore(filters)} />
              </td>
              <td className="number">{shareText(now[how], all)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Looked up and decided</th>
            <td className="number">{shownCount(all)}</td>
            <td className="number">{shareText(all, all)}</td>
          </tr>
        </tfoot>
      </table>
      <p className="footnote">
        <CsvLink
          name="tokens-and-markers"
          head={['Found', 'Installs', `Installs, ${nameOfBefore(filters)}`]}
          rows={shown.map((how) => [WORDS[how].name, now[how], before?.[how] ?? null])}
        />
      </p>
    </section>
  )
}

function markersSentence({ marker }: Readonly<Record<FoundBy, number>>, all: number): string {
  if (marker === 0) return 'No install of this time has its visit by a marker alone.'
  return `${shownCount(marker)} installs, ${shareText(marker, all)}, have a visit only because a marker was there.`
}

interface ListedProps extends TokensAndMarkersProps {
  readonly own: ShownInstallFilters | null
  readonly children: number
}

function Listed({ organization, filters, figures, own, children: count }: ListedProps): ReactNode {
  if (own === null || count === 0) return shownCount(count)
  return (
    <Link to="/app/$organization/installs" params={{ organization }} search={listFilters(figures, filters, own)}>
      {shownCount(count)}
    </Link>
  )
}
