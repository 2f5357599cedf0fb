/** The newest open alerts above the figures. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { alertsQuery } from '../data/alerts.ts'
import { OpenAlerts } from './open-alerts.tsx'

/** More would push the figures off the page. */
const MOST_SHOWN = 2

interface AlertsOnOverviewProps {
  readonly organization: string
  /** Alerts of this website and of the organisation alone. */
  readonly website: string | undefined
}

/** Nothing while there are none, or while they cannot be read: the page is there for its figures. */
export function AlertsOnOverview({ organization, website }: AlertsOnOverviewProps): ReactNode {
  const { data } = useQuery(alertsQuery(organization))
  const open = data?.open.filter((alert) => website === undefined || ['', website].includes(alert.website)) ?? []
  const hidden = open.length - MOST_SHOWN
  return (
    <>
      <OpenAlerts organization={organization} alerts={open.slice(0, MOST_SHOWN)} />
      {hidden > 0 && (
        <p>
          <Link to="/app/$organization/alerts" params={{ organization }}>
            {hidden === 1 ? 'One more alert' : `${hidden} more alerts`}
          </Link>
        </p>
      )}
    </>
  )
}
