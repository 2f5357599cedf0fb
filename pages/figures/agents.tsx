/** Who runs the installer, people or coding agents, and which pages lead each agent to an install. */

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { matchQuery, type MatchFigures } from '../data/figures.ts'
import type { FigureFilters } from '../data/period.ts'
import { shownCount, shareText } from '../parts/numbers.tsx'
import { Empty, Loading, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { InstallBreakdown } from './breakdown.tsx'

interface AgentsProps {
  readonly organization: string
  readonly filters: FigureFilters
}

export function Agents({ organization, filters }: AgentsProps): ReactNode {
  const { data, error, isPlaceholderData } = useQuery(matchQuery(organization, filters))
  if (data === undefined) return error === null ? <Loading what="agents" /> : <Problem error={error} />
  const { matched, unmatched, counted } = data.total
  const all = matched + unmatched + counted
  if (all === 0)
    return (
      <Empty title="No install in this time">
        Choose a longer time, or run your installer once with the hook in it.
      </Empty>
    )
  const people = data.agent.values.find(({ value }) => value === '')
  const byPeople = people === undefined ? 0 : people.matched + people.unmatched + people.counted
  return (
    <div className="figures" aria-busy={isPlaceholderData}>
      <p className="question lead">
        {shareText(all - byPeople, all)} of {shownCount(all)} install events were run by a coding agent, as far as the
        hook can tell.
      </p>
      <div className="pair">
        <InstallBreakdown
          title="Who ran it"
          by="agent"
          listed={data.agent}
          {...{ organization, filters, bounds: data }}
        />
        <AgentPages pages={data.agentPages} />
      </div>
    </div>
  )
}

function AgentPages({ pages }: { readonly pages: MatchFigures['agentPages'] }): ReactNode {
  return (
    <section className="card breakdown">
      <h2>Pages that lead agents to installs</h2>
      {pages.length === 0 ? (
        <p className="question">No install of an agent has a visit in this time.</p>
      ) : (
        <table className="list">
          <TableHead columns={['Page', 'Agent', { number: 'Installed' }]} />
          <tbody>
            {pages.map(({ agent, page, completed }) => (
              <tr key={`${agent} ${page}`}>
                <th scope="row" className="value">
                  {page}
                </th>
                <td className="agent">{agent}</td>
                <td className="number">{shownCount(completed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
