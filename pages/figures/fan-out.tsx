/** Copied commands that several machines ran: each is a channel with the page that it was copied from. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { sharedCommandsQuery, type SharedCommand, type SharedCommands as Shared } from '../data/figures.ts'
import type { ShownInstallFilters } from '../data/installs.ts'
import { nameOfBefore, type FigureFilters } from '../data/period.ts'
import { Breakable } from '../parts/breakable.tsx'
import { CsvLink, csvTime } from '../parts/csv-link.tsx'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { Bar, Change, shownCount } from '../parts/numbers.tsx'
import { Empty, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { listFilters } from './list-of.ts'

interface SharedCommandsProps {
  readonly organization: string
  readonly filters: FigureFilters
}

export function SharedCommands({ organization, filters }: SharedCommandsProps): ReactNode {
  const options = sharedCommandsQuery(organization, filters)
  const query = useQuery(options)
  const { data, error, isPlaceholderData } = query
  return (
    <>
      <Problem error={error} />
      <Waiting what="shared commands" query={query} queryKey={options.queryKey} />
      {data !== undefined && (
        <div className="figures" aria-busy={isPlaceholderData}>
          <ExampleNotice until={data.exampleUntil} />
          <Commands organization={organization} filters={filters} data={data} />
        </div>
      )}
    </>
  )
}

interface CommandsProps extends SharedCommandsProps {
  readonly data: Shared
}

function Commands({ organization, filters, data }: CommandsProps): ReactNode {
  return (
    <>
      <p className="question lead">
        One copied command that {data.leastInstallations} machines or more ran is a channel, not a visitor: somebody put
        it into a README, a blog or a CI file.{data.isCut && ' These are of the last 31 days of the period.'}
      </p>
      {data.commands.length === 0 ? (
        <Empty title="No command was shared in this time">
          Each copied command was run on one or two machines. If one spreads, it is listed here with the page that it
          was copied from.
        </Empty>
      ) : (
        <CommandTable organization={organization} filters={filters} data={data} />
      )}
    </>
  )
}

function CommandTable(props: CommandsProps): ReactNode {
  const { filters, data } = props
  const most = Math.max(1, ...data.commands.map(({ installations }) => installations))
  return (
    <>
      <div className="wide">
        <table className="list stacks sources commands">
          <TableHead
            columns={[
              'Copied from',
              { number: 'Machines' },
              { number: 'Events' },
              { number: 'Installed' },
              { number: 'By agents' },
              'Last run',
            ]}
          />
          <tbody>
            {data.commands.map((command) => (
              <tr key={`${command.website} ${command.visit_id}`}>
                <th scope="row">
                  <span className="value">
                    <Breakable address={command.visit?.page_url ?? `visit ${command.visit_id}`} />
                  </span>
                  <Bar share={command.installations / most} />
                </th>
                <td className="number" data-title="machines">
                  {shownCount(command.installations)}{' '}
                  <Change
                    now={command.installations}
                    before={command.before?.installations ?? null}
                    since={nameOfBefore(filters)}
                  />
                </td>
                <CommandCounts {...props} command={command} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="footnote">
        Events are what these machines reported with the command; the lists behind the numbers hold them one by one.
        {data.commands.length === data.mostListed &&
          ` The ${data.mostListed} commands with the most machines are listed.`}{' '}
        <CsvLink
          name="shared-commands"
          head={['Copied from', 'Website', 'Visit', 'Machines', 'Events', 'Installed', 'By agents', 'Last run']}
          rows={data.commands.map((command) => [
            command.visit?.page_url ?? '',
            command.website,
            command.visit_id,
            command.installations,
            command.events,
            command.completed,
            command.by_agents,
            csvTime(command.last_ms),
          ])}
        />
      </p>
    </>
  )
}

function CommandCounts({
  organization,
  filters,
  data,
  command,
}: CommandsProps & { readonly command: SharedCommand }): ReactNode {
  const { visit_id: visit, completed, events, by_agents: byAgents, last_ms: lastMs } = command
  const cell = (title: string, count: number, more: ShownInstallFilters): ReactNode => (
    <td className="number" data-title={title}>
      {count === 0 ? (
        shownCount(count)
      ) : (
        <Link
          to="/app/$organization/installs"
          params={{ organization }}
          search={listFilters(data, filters, { visit, policy: 'handoff', ...more })}
        >
          {shownCount(count)}
        </Link>
      )}
    </td>
  )
  return (
    <>
      {cell('events', events, {})}
      {cell('installed', completed, { eventType: 'install_completed' })}
      {cell('by agents', byAgents, { ranBy: 'agent' })}
      <td className="last-run" data-title="last run">
        <Moment ms={lastMs} />
      </td>
    </>
  )
}
