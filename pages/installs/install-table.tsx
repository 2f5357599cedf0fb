/** Installs as a table; each row links to the page of its install. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { InstallLine, ListedInstall } from '../data/installs.ts'
import { EVENT_WORDS, POLICIES, reasonWords, RESOLUTION_WORDS } from '../parts/install-words.ts'
import { spanText } from '../parts/numbers.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Clock } from '../parts/time.tsx'
import { originText } from './origin.tsx'

interface InstallTableProps {
  readonly organization: string
  readonly installs: readonly ListedInstall[]
}

export function InstallTable({ organization, installs }: InstallTableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks installs">
        <TableHead columns={['Install', 'Result', 'Came from', 'On', 'Install method']} />
        <tbody>
          {installs.map((sourced) => (
            <InstallTableRow
              key={`${sourced.install.website}/${sourced.install.event_id}`}
              organization={organization}
              {...sourced}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function InstallTableRow({
  organization,
  install,
  visit,
}: ListedInstall & { readonly organization: string }): ReactNode {
  const { website, event_id: event } = install
  return (
    <tr>
      <th scope="row">
        <Link to="/app/$organization/installs/$website/$event" params={{ organization, website, event }}>
          {EVENT_WORDS[install.event_type] ?? install.event_type}
        </Link>
        <small>
          <Clock ms={install.received_at_ms} />
        </small>
      </th>
      <td>
        <Result install={install} />
      </td>
      <td className="from">
        <Origin visit={visit} />
        {install.visit_issued_at_ms !== null && (
          <small>{spanText(install.received_at_ms - install.visit_issued_at_ms)} before</small>
        )}
      </td>
      <td>
        {[install.platform, install.arch].filter((part) => part !== '').join(' ')}
        {install.agent !== '' && <small>by {install.agent}</small>}
        <LeftOutMark install={install} />
      </td>
      <td translate="no">{install.install_path}</td>
    </tr>
  )
}

/** Why figures leave it out. */
function LeftOutMark({ install }: { readonly install: InstallLine }): ReactNode {
  const reasons = [
    ...(install.is_ci ? ['in CI'] : []),
    ...(install.is_container ? ['in a container'] : []),
    ...(install.is_test ? ['a test'] : []),
  ]
  return reasons.length === 0 ? null : <small>{reasons.join(', ')}</small>
}

/** The mark conveys it without colour. */
function Result({ install }: { readonly install: InstallLine }): ReactNode {
  const { resolution, selection_policy: policy, reason } = install
  const why =
    resolution === 'matched'
      ? (POLICIES[policy]?.name ?? policy)
      : resolution === 'unmatched'
        ? reasonWords(reason).name
        : ''
  return (
    <span className={`result ${resolution}`}>
      {RESOLUTION_WORDS[resolution] ?? resolution}
      {why !== '' && <small>{why}</small>}
    </span>
  )
}

function Origin({ visit }: Pick<ListedInstall, 'visit'>): ReactNode {
  return visit === null ? <span className="nothing">–</span> : <span>{originText(visit)}</span>
}
