/** The result of one replay: its match rate beside the actual one, sources that lose or gain, installs that change. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { ReplayResult } from '../../domain/collection/replay-decision.ts'
import { isOpen, replayQuery, type ReplayLine } from './replays-data.ts'
import type { OwnOrganization } from '../shell/organization.tsx'
import { Empty, Loading, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Tile } from '../parts/tile.tsx'
import { Moment } from '../parts/time.tsx'
import { CancelReplay } from './cancel.tsx'
import { matchWords, policyWords } from './words.ts'

const FAILURES: Readonly<Record<NonNullable<ReplayLine['failure']>, string>> = {
  too_many_installations:
    'It failed: within 30 days, this website has more installations than can be decided again here.',
  given_up: 'It was given up, since every process that began it ended before it was done. Ask for a shorter period.',
  failed: 'It failed. Ask again; if it fails again, ask support.',
}

interface OutcomeProps {
  readonly organization: OwnOrganization
  readonly id: string
}

export function Outcome({ organization: { id: organization, role }, id }: OutcomeProps): ReactNode {
  const { data, error } = useQuery(replayQuery(organization, id))
  if (data === undefined) return error === null ? <Loading what="the replay" /> : <Problem error={error} />
  const { website, result, state, failure, progress } = data
  return (
    <section className="what-if-part" aria-live="polite">
      <h2>
        {website}: {policyWords(data)}
      </h2>
      {failure !== null && <p className="problem">{FAILURES[failure]}</p>}
      {state === 'cancelled' && <p>It was cancelled, and has no result.</p>}
      {isOpen(data) && (
        <div className="progress">
          <progress value={progress} aria-label="Part of the period that is decided again" />
          <p>
            {state === 'waiting' ? 'Begins within seconds.' : 'Installs are decided again, in the order they came.'}
          </p>
          {role !== 'Viewer' && <CancelReplay key={id} organization={organization} id={id} />}
        </div>
      )}
      {result !== null && <Difference organization={organization} website={website} result={result} />}
    </section>
  )
}

interface DifferenceProps {
  readonly organization: string
  readonly website: string
  readonly result: ReplayResult
}

function Difference({ organization, website, result }: DifferenceProps): ReactNode {
  const { installs, matched, replayedMatched, notDecided, changed } = result
  const decided = installs - notDecided
  const rate = (part: number): string => (decided === 0 ? 'none' : `${((part / decided) * 100).toFixed(1)} %`)
  return (
    <>
      <dl className="tiles">
        <Tile title="Installs decided" value={decided.toLocaleString()} />
        <Tile title="Match rate as decided" value={rate(matched)} />
        <Tile title="Under this policy" value={rate(replayedMatched)} />
        <Tile title="With another visit, or none" value={changed.toLocaleString()} />
      </dl>
      {notDecided > 0 && (
        <p className="question">
          {notDecided.toLocaleString()} of {installs.toLocaleString()} install events are not among these: they were
          only counted, or were not decided yet.
        </p>
      )}
      {changed === 0 ? (
        <Empty title="No install would change">This policy comes to the same as the one that decided.</Empty>
      ) : (
        <>
          <Sources sources={result.sources} />
          <Changes organization={organization} website={website} result={result} />
        </>
      )}
    </>
  )
}

function Sources({ sources }: Pick<ReplayResult, 'sources'>): ReactNode {
  return (
    <section className="what-if-part">
      <h3 id="what-if-sources">Installs that each source would lose or gain</h3>
      <div className="wide">
        <table className="list" aria-labelledby="what-if-sources">
          <TableHead columns={['Source', { number: 'Loses' }, { number: 'Gains' }]} />
          <tbody>
            {sources.map(({ source, lost, gained }) => (
              <tr key={source}>
                <th scope="row">{source === '' ? 'no source' : source}</th>
                <td className="number">{lost.toLocaleString()}</td>
                <td className="number">{gained.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Changes({ organization, website, result: { changes, changed } }: DifferenceProps): ReactNode {
  return (
    <section className="what-if-part">
      <h3 id="what-if-changes">
        {changes.length < changed
          ? `The first ${changes.length.toLocaleString()} of ${changed.toLocaleString()} installs that would change`
          : 'Installs that would change'}
      </h3>
      <div className="wide">
        <table className="list stacks" aria-labelledby="what-if-changes">
          <TableHead columns={['Received', 'Event', 'As decided', 'Under this policy']} />
          <tbody>
            {changes.map(({ eventId, receivedAtMs, ...each }) => (
              <tr key={eventId}>
                <th scope="row">
                  <Moment ms={receivedAtMs} />
                </th>
                <td className="id">
                  <Link
                    to="/app/$organization/installs/$website/$event"
                    params={{ organization, website, event: eventId }}
                  >
                    {eventId}
                  </Link>
                </td>
                <td data-label="as decided">{matchWords(each.selectionPolicy, each.source)}</td>
                <td data-label="under this policy">{matchWords(each.replayedPolicy, each.replayedSource)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
