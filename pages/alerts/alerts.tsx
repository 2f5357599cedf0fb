/** Alerts: what is wrong now, and what was. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { ALERT_ENDS } from '../../domain/alerts/alert.ts'
import { END_WORDS } from '../../domain/alerts/alert-words.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { alertsQuery, type ShownAlert } from '../data/alerts.ts'
import { Empty, Loading, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Moment } from '../parts/time.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { OpenAlerts } from './open-alerts.tsx'

export function AlertsPage(): ReactNode {
  const organization = useOrganization()
  if (organization === null) return null
  return (
    <Page title="Alerts" question="Is anything out of the ordinary?">
      <RulesLink organization={organization} />
      <AlertsOf organization={organization.id} />
    </Page>
  )
}

function RulesLink({ organization: { id, role } }: { readonly organization: OwnOrganization }): ReactNode {
  return (
    <p>
      <Link to="/app/$organization/resources" params={{ organization: id }}>
        {isAtLeast(role, 'Admin') ? 'Change the rules' : 'See the rules'}
      </Link>{' '}
      of the organisation
    </p>
  )
}

function AlertsOf({ organization }: { readonly organization: string }): ReactNode {
  const { data, error } = useQuery(alertsQuery(organization))
  if (data === undefined) return error === null ? <Loading what="alerts" /> : <Problem error={error} />
  const { open, past } = data
  return (
    <>
      <section aria-labelledby="open-alerts">
        <h2 id="open-alerts">Open</h2>
        {open.length === 0 ? (
          <Empty title="Nothing is out of the ordinary">
            Each day that is over is compared with four weeks before it: installs, the match rate, what arrives and what
            is delivered. Owners and Admins get a mail, too.
          </Empty>
        ) : (
          <OpenAlerts organization={organization} alerts={open} />
        )}
      </section>
      {past.length > 0 && (
        <section aria-labelledby="past-alerts">
          <h2 id="past-alerts">Before</h2>
          <PastAlerts past={past} />
        </section>
      )}
    </>
  )
}

function PastAlerts({ past }: { readonly past: readonly ShownAlert[] }): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks">
        <TableHead columns={['Alert', 'What it was', 'Opened', 'Closed', 'Why']} />
        <tbody>
          {past.map((alert) => (
            <tr key={alert.id}>
              <th scope="row">{alert.title}</th>
              <td data-label="what it was">{alert.message}</td>
              <td data-label="opened">
                <Moment ms={alert.openedAt} />
              </td>
              <td data-label="closed">{alert.closedAt !== null && <Moment ms={alert.closedAt} />}</td>
              <td data-label="why">{endWords(alert)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function endWords({ end }: ShownAlert): string {
  const known = ALERT_ENDS.find((each) => each === end)
  return known === undefined ? end : END_WORDS[known]
}
