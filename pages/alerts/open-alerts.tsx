/** What is wrong now, with what it means and since when: on top of the overview, and of the page of alerts. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { ShownAlert } from '../data/alerts.ts'
import { Moment } from '../parts/time.tsx'

interface OpenAlertsProps {
  readonly organization: string
  readonly alerts: readonly ShownAlert[]
}

/** Where each kind is looked into. */
const PLACES = {
  InstallsDown: { to: '/app/$organization/sources', words: 'Sources' },
  InstallsUp: { to: '/app/$organization/sources', words: 'Sources' },
  MatchRateDown: { to: '/app/$organization/match', words: 'Match rate' },
  NothingArrives: { to: '/app/$organization/checklist', words: 'Checklist' },
  DeliveriesFailing: { to: '/app/$organization/deliveries', words: 'Deliveries' },
  QuotaNear: { to: '/app/$organization/usage', words: 'Plan and usage' },
} as const satisfies Readonly<Record<ShownAlert['rule'], object>>

export function OpenAlerts({ organization, alerts }: OpenAlertsProps): ReactNode {
  if (alerts.length === 0) return null
  return (
    <ul className="alerts" aria-label="Open alerts">
      {alerts.map((alert) => (
        <li key={alert.id} className="notice alert">
          <h3>{alert.title}</h3>
          <p>{alert.message}</p>
          <p className="hint">
            {alert.advice} Since <Moment ms={alert.openedAt} />. <PlaceOf organization={organization} alert={alert} />
          </p>
        </li>
      ))}
    </ul>
  )
}

function PlaceOf({ organization, alert }: { readonly organization: string; readonly alert: ShownAlert }): ReactNode {
  const { to, words } = PLACES[alert.rule]
  const search = alert.website === '' || to === '/app/$organization/usage' ? {} : { website: alert.website }
  return (
    <Link to={to} params={{ organization }} search={search}>
      {words}
    </Link>
  )
}
