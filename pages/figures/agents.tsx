/** Who runs the installer, people or coding agents, and which pages lead each agent to an install. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { matchQuery, type MatchFigures } from '../data/figures.ts'
import type { CountingFilters } from '../data/period.ts'
import { joinFilters, valueIs } from '../data/value-filters.ts'
import { CsvLink } from '../parts/csv-link.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { shownCount, shareText } from '../parts/numbers.tsx'
import { Empty, Problem } from '../parts/states.tsx'
import { Breakable } from '../parts/breakable.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { InstallBreakdown } from './breakdown.tsx'
import { LeftOut } from './left-out.tsx'
import { listFilters } from './list-of.ts'

interface AgentsProps {
  readonly organization: string
  readonly filters: CountingFilters
}

export function Agents({ organization, filters }: AgentsProps): ReactNode {
  const options = matchQuery(organization, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <>
      <Problem error={error} />
      <Waiting what="agents" query={query} queryKey={options.queryKey} />
      {data !== undefined && (
        <div aria-busy={isPlaceholderData} className="figures">
          <ExampleNotice until={data.exampleUntil} />
          <LeftOut organization={organization} filters={filters} figures={data} isBusy={isPlaceholderData} />
          <AgentFigures organization={organization} filters={filters} figures={data} />
        </div>
      )}
    </>
  )
}

interface AgentFiguresProps extends AgentsProps {
  readonly figures: MatchFigures
}

function AgentFigures({ organization, filters, figures }: AgentFiguresProps): ReactNode {
  const all = figures.total.installs
  if (all === 0)
    return (
      <Empty title="No install in this time">
        Choose a longer time, or run your installer once with the hook in it.
      </Empty>
    )
  const byAgents = all - (figures.agent.find(({ row }) => row === 'none')?.installs ?? 0)
  return (
    <>
      <p className="question lead">
        <Link
          to="/app/$organization/installs"
          params={{ organization }}
          search={listFilters(figures, filters, { kind: 'install', ranBy: 'agent' })}
        >
          {shownCount(byAgents)}
        </Link>{' '}
        of {shownCount(all)} installs, {shareText(byAgents, all)}, were run by a coding agent, as far as the hook can
        tell.
      </p>
      <div className="pair">
        <InstallBreakdown
          title="Who ran it"
          by="agent"
          figures={{ now: figures.agent, before: figures.before?.agent ?? null }}
          organization={organization}
          filters={filters}
          bounds={figures}
        />
        <AgentPages organization={organization} filters={filters} figures={figures} />
      </div>
    </>
  )
}

function AgentPages({ organization, filters, figures }: AgentFiguresProps): ReactNode {
  return (
    <section className="card breakdown">
      <h2>Pages that lead agents to installs</h2>
      {figures.agentPages.length === 0 ? (
        <p className="question">No install of an agent has a visit in this time.</p>
      ) : (
        <>
          <table className="list stacks">
            <TableHead columns={['Page', 'Agent', { figure: 'installs' }]} />
            <tbody>
              {figures.agentPages.map(({ agent, page, installs }) => (
                <tr key={`${agent} ${page}`}>
                  <th scope="row" className="value">
                    <Breakable address={page} />
                  </th>
                  <td className="agent">{agent}</td>
                  <td className="number" data-title="installs">
                    <Link
                      to="/app/$organization/installs"
                      params={{ organization }}
                      search={listFilters(figures, filters, {
                        kind: 'install',
                        ...joinFilters(valueIs('agent', agent), valueIs('page', page)),
                      })}
                    >
                      {shownCount(installs)}
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p className="footnote">
            Installs of this time that an agent ran, by the page of their visit.{' '}
            <CsvLink
              name="installs-by-agent-and-page"
              head={['Page', 'Agent', 'Installs']}
              rows={figures.agentPages.map(({ page, agent, installs }) => [page, agent, installs])}
            />
          </p>
        </>
      )}
    </section>
  )
}
