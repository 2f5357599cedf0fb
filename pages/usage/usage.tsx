/** Plan and usage: how much of the month's quota is used, by day, and what happens above it. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { keysOf } from '../../domain/typed-keys.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import type { Plan } from '../../domain/model.ts'
import { usageQuery, type MonthUsage, type UsageDay } from '../data/usage.ts'
import type { Bounds } from '../data/period.ts'
import { ExampleNotice } from '../parts/example-notice.tsx'
import { Change, shareText, shownCount } from '../parts/numbers.tsx'
import { Empty, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Tile } from '../parts/tile.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { BillingPart } from './billing.tsx'

export function UsagePage(): ReactNode {
  const organization = useOrganization()
  return organization === null ? null : <PlanUsage organization={organization} />
}

function PlanUsage({ organization }: { readonly organization: OwnOrganization }): ReactNode {
  const options = usageQuery(organization.id)
  const query = useQuery(options)
  const { data, error } = query
  return (
    <Page title="Plan and usage" question="How much of the month's quota is used, and what does the plan allow?">
      <Problem error={error} />
      <Waiting what="usage" query={query} queryKey={options.queryKey} />
      {data !== undefined && (
        <>
          <ExampleNotice until={data.exampleUntil} />
          <Quota usage={data} />
          <DayBars days={data.days} organization={organization.id} />
          <PlanTable plan={data.plan} />
          <BillingPart organization={organization} />
        </>
      )}
    </Page>
  )
}

function Quota({ usage }: { readonly usage: MonthUsage }): ReactNode {
  const { plan, used, allowed, isCutOffOverQuota, since, before } = usage
  const forecast = forecastOf(usage, Date.now())
  return (
    <>
      <dl className="tiles">
        <Tile title="Plan" value={plan} />
        <Tile
          title="Tracked events this month"
          value={
            <>
              {shownCount(used)} <Change now={used} before={before.used} since={`${beforeText(before)} (UTC)`} />
            </>
          }
        />
        <Tile title="Allowed" value={allowed.toLocaleString()} />
        <Tile title="At this pace in a month" value={forecast.toLocaleString()} />
      </dl>
      <div className="progress">
        <progress value={Math.min(used, allowed)} max={allowed} aria-label="Part of the quota that is used" />
        <p>
          {shareText(used, allowed)} used since {UTC_DAY.format(since)} (UTC); the arrow compares with{' '}
          {beforeText(before)}. Beyond the quota{' '}
          {isCutOffOverQuota
            ? 'requests are answered as usual and nothing more is stored.'
            : 'nothing is cut off: visits and installs are stored as before.'}
        </p>
      </div>
    </>
  )
}

/** Extrapolates from the elapsed part of the month; at its start, by a factor of at most 31. */
function forecastOf({ used, since }: MonthUsage, nowMs: number): number {
  const begin = new Date(since)
  const end = Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1)
  const part = Math.max((nowMs - since) / (end - since), 1 / 31)
  return Math.round(used / part)
}

/** "1 Oct until 24 Oct": as much of the month before. */
function beforeText({ since, until }: MonthUsage['before']): string {
  return `${UTC_DAY.format(since)} until ${UTC_DAY.format(until)}`
}

const UTC_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

interface DayProps {
  readonly days: readonly UsageDay[]
  readonly organization: string
}

function NothingCounted({ organization }: { readonly organization: string }): ReactNode {
  return (
    <Empty title="Nothing was counted this month">
      The first visit begins it. How to get there is in the{' '}
      <Link to="/app/$organization/checklist" params={{ organization }}>
        checklist
      </Link>
      .
    </Empty>
  )
}

/** A table with bars beside its numbers, so that it needs no separate version for screen readers. */
function DayBars({ days, organization }: DayProps): ReactNode {
  if (days.length === 0) return <NothingCounted organization={organization} />
  const most = Math.max(...days.map(({ pageViews, events }) => pageViews + events))
  return (
    <div className="wide">
      <table className="list days">
        <caption>Tracked events by day (UTC)</caption>
        <TableHead
          columns={[
            'Day',
            null,
            { figure: 'page_views' },
            { figure: 'install_events' },
            { figure: 'installs', title: 'of them installs' },
          ]}
        />
        <tbody>
          {days.map(({ at, pageViews, events, installs }) => (
            <tr key={at}>
              <th scope="row">{UTC_DAY.format(at)}</th>
              <td>
                <meter value={pageViews + events} max={most} aria-hidden="true" />
              </td>
              <CountCell count={pageViews}>
                <Link to={'/app/$organization/visits'} params={{ organization }} search={dayOf(at)}>
                  {shownCount(pageViews)}
                </Link>
              </CountCell>
              <CountCell count={events}>
                <Link to={'/app/$organization/installs'} params={{ organization }} search={dayOf(at)}>
                  {shownCount(events)}
                </Link>
              </CountCell>
              <CountCell count={installs}>
                <Link
                  to={'/app/$organization/installs'}
                  params={{ organization }}
                  search={{ ...dayOf(at), kind: 'install' }}
                >
                  {shownCount(installs)}
                </Link>
              </CountCell>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A count that links to what was counted, if there is any. */
function CountCell({ count, children }: { readonly count: number; readonly children: ReactNode }): ReactNode {
  return <td className="number">{count === 0 ? shownCount(count) : children}</td>
}

function dayOf(since: number): Bounds {
  return { since, until: since + DAY_MS }
}

/** From the table of limits that the service enforces. */
function PlanTable({ plan }: { readonly plan: Plan }): ReactNode {
  const { isCutOffOverQuota: _, trackedEventsPerMonth: __, ...limits } = PLAN_LIMITS[plan]
  return (
    <section>
      <h2>What {plan} includes</h2>
      <dl className="facts">
        {keysOf(limits).map((name) => (
          <div key={name} className="fact">
            <dt>{PLAN_WORDS[name]}</dt>
            <dd>{limits[name] === 0 ? 'none' : limits[name].toLocaleString()}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const PLAN_WORDS = {
  installPaths: 'Install paths',
  websites: 'Websites',
  domainsPerWebsite: 'Domains of a website',
  members: 'Members',
  destinationsPerWebsite: 'Destinations of a website',
  logStreams: 'Log streams',
  logRetentionDays: 'Days that Logs are kept',
} as const
