/** Copied commands that several machines ran: each is a channel with the page that it was copied from. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { MOST_COMMAND_DAYS, sharedCommandsQuery, type SharedCommand, type SharedCommands } from '../data/figures.ts'
import { daysOf, type FigureFilters } from '../data/period.ts'
import { Bar, shownCount } from '../parts/numbers.tsx'
import { Empty, Loading, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { listOf } from './list-of.ts'

interface SharedCommandsProps {
  readonly organization: string
  readonly filters: FigureFilters
}

export function SharedCommands({ organization, filters }: SharedCommandsProps): ReactNode {
  const { data, error, isPlaceholderData } = useQuery(sharedCommandsQuery(organization, filters))
  if (data === undefined) return error === null ? <Loading what="shared commands" /> : <Problem error={error} />
  const isCut = daysOf(filters) > MOST_COMMAND_DAYS
  return (
    <div className="figures" aria-busy={isPlaceholderData}>
      <Problem error={error} />
      <p className="question lead">
        One copied command that {data.leastInstallations} machines or more ran is a channel, not a visitor: somebody put
        it into a README, a blog or a CI file.{isCut && ` These are of the last ${MOST_COMMAND_DAYS} days.`}
      </p>
      {data.commands.length === 0 ? (
        <Empty title="No command was shared in this time">
          Each copied command was run on one or two machines. If one spreads, it is listed here with the page that it
          was copied from.
        </Empty>
      ) : (
        <CommandTable {...{ organization, filters, data }} />
      )}
    </div>
  )
}

function CommandTable({
  organization,
  filters,
  data,
}: SharedCommandsProps & { readonly data: SharedCommands }): ReactNode {
  const most = Math.max(1, ...data.commands.map(({ installations }) => installations))
  return (
    <div className="wide">
      <table className="list stacks sources">
        <TableHead
          columns={[
            'Copied from',
            { number: 'Machines' },
            { number: 'Installed' },
            { number: 'By agents' },
            'Last run',
          ]}
        />
        <tbody>
          {data.commands.map((command) => (
            <tr key={`${command.website} ${command.visit_id}`}>
              <th scope="row">
                <span className="value">{command.visit?.page_url ?? `visit ${command.visit_id}`}</span>
                <Bar share={command.installations / most} />
              </th>
              <td className="number" data-title="machines">
                <Link
                  to="/app/$organization/installs"
                  params={{ organization }}
                  search={listOf(data, filters, { visit: command.visit_id, policy: 'handoff' })}
                >
                  {shownCount(command.installations)}
                </Link>
              </td>
              <CommandCounts {...command} />
            </tr>
          ))}
        </tbody>
      </table>
      {data.commands.length === data.mostListed && (
        <p className="footnote">The {data.mostListed} with the most machines are listed.</p>
      )}
    </div>
  )
}

function CommandCounts({ completed, events, by_agents: byAgents, last_ms: lastMs }: SharedCommand): ReactNode {
  return (
    <>
      <td className="number" data-title="installed">
        {shownCount(completed)}
      </td>
      <td className="number" data-title="events by agents">
        {shownCount(byAgents)} of {shownCount(events)}
      </td>
      <td data-title="last run">
        <Moment ms={lastMs} />
      </td>
    </>
  )
}
