/** Alerts of an organisation, and what they are judged by: by hour and quarter of one, without what figures leave out. */

import type { Dimension } from '../../../domain/figures/cells.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import type { CountedSource } from '../../../domain/webhooks/slack-message.ts'
import { at, once, pageLimit, pageOf, report, WEBSITES_ASKED, withinPeriod, type OwnerKeys } from '../query-parts.ts'
import { eventsSql } from './counted-installs.ts'
import { HOUR_MARKS } from './rolled-figures.ts'

type AlertPeriod = OwnerKeys & { readonly since_ms: number; readonly until_ms: number }

interface HourTotalsRow extends OwnedWebsite {
  readonly at_ms: number
  /** Visits that began in it. */
  readonly began: number
  readonly copies: number
  readonly delivered: number
  readonly failed: number
}

interface QuarterInstallsRow extends OwnedWebsite {
  readonly at_ms: number
  readonly installs: number
  readonly matched: number
  readonly unmatched: number
}

/** Opened and closed rows of an alert as one. */
const WHOLE_ALERTS = `SELECT organization, id, any(website) AS website, any(rule) AS rule, any(arrival) AS arrival, any(period) AS period,
    toUnixTimestamp64Milli(minIf(at, state = 'opened')) AS opened_ms, countIf(state = 'closed') > 0 AS is_closed,
    toUnixTimestamp64Milli(minIf(at, state = 'closed')) AS closed_ms, max(end) AS end,
    anyIf(value, state = 'opened') AS value, anyIf(expected, state = 'opened') AS expected, anyIf(threshold, state = 'opened') AS threshold,
    max(catalog_number) AS catalog_number
  FROM ${once('alerts')}`
const BY_ALERT = "GROUP BY organization, id HAVING countIf(state = 'opened') > 0"

const OWN_ALERTS = `${WHOLE_ALERTS} PREWHERE organization = {organization:String} ${BY_ALERT}`

export interface WholeAlertRow extends OwnedWebsite {
  readonly id: string
  readonly rule: string
  readonly arrival: string
  readonly period: string
  readonly opened_ms: number
  readonly is_closed: boolean
  /** Only of one that is closed. */
  readonly closed_ms: number
  readonly end: string
  readonly value: number
  readonly expected: number
  readonly threshold: number
  readonly catalog_number: number
}

type AlertsOf = { readonly organization: string; readonly limit: number }

/** More than one statement is asked for. */
const MAX_HOURS = 100_000
const MAX_ALERTS = 10_000
const hourTotal = (dimension: Dimension): string => `arrayFirst(cell -> cell.1 = '', ${dimension})`
/** Their value is destination, state and reason. */
const deliveriesEnded = (statuses: string): string =>
  `arraySum(cell -> if(has(${statuses}, splitByChar('\\t', cell.1)[2]), cell.2, 0), delivery)`

export const ALERT_JUDGING_QUERIES = {
  /** Visits, copies and deliveries of hours that were counted. */
  hourTotals: report<AlertPeriod, HourTotalsRow>(`SELECT organization, website, toUnixTimestamp64Milli(hour) AS at_ms,
      ${hourTotal('visits')}.2 AS began, ${hourTotal('visits')}.4 AS copies, ${deliveriesEnded("['delivered']")} AS delivered, ${deliveriesEnded("['failed', 'expired']")} AS failed
    FROM ${once('website_hours')} PREWHERE ${WEBSITES_ASKED} AND ${withinPeriod('hour')}
    ORDER BY organization, website, hour LIMIT ${MAX_HOURS}`),

  quarterInstalls: report<AlertPeriod, QuarterInstallsRow>(
    (period) => `SELECT organization, website, toUnixTimestamp(toStartOfFifteenMinutes(received_at)) * 1000 AS at_ms,
      count() AS installs, countIf(resolution = 'matched') AS matched, countIf(resolution = 'unmatched') AS unmatched
    FROM ${eventsSql(period, ['organization', 'website', 'received_at', 'kind', 'resolution'])} WHERE kind = 'install'
    GROUP BY organization, website, at_ms ORDER BY organization, website, at_ms LIMIT ${MAX_HOURS}`,
  ),

  /** Tracked events of organisations in hours that were counted. */
  countedUse: report<
    { readonly organizations: readonly string[]; readonly since_ms: number; readonly until_ms: number },
    { readonly organization: string; readonly events: number }
  >(`SELECT organization, sum(${hourTotal('page_views')}.2 + ${hourTotal('events')}.2) AS events FROM ${once('website_hours')}
    PREWHERE organization IN {organizations:Array(String)} AND ${withinPeriod('hour')} GROUP BY organization LIMIT ${MAX_ALERTS}`),

  /** Which of these websites have an hour in the period that is marked and was not counted since. */
  websitesToCount: report<
    AlertPeriod,
    OwnedWebsite
  >(`SELECT DISTINCT mark.organization AS organization, mark.website AS website
    FROM (${HOUR_MARKS} AND hour >= ${at('since_ms')} AND ${WEBSITES_ASKED} GROUP BY organization, website, hour) AS mark
    LEFT ANY JOIN (SELECT organization, website, hour, marks_read FROM ${once('website_hours')}
      PREWHERE ${WEBSITES_ASKED} AND ${withinPeriod('hour')}) AS version
      ON mark.organization = version.organization AND mark.website = version.website AND mark.hour = version.hour
    WHERE NOT hasAll(version.marks_read, mark.marks) LIMIT ${MAX_ALERTS}`),

  /** Install events of an hour as webhooks are told of them, by website and source of the visit; without tests. The most first. */
  installEventsOfHour: report<
    { readonly organization: string; readonly since_ms: number; readonly until_ms: number },
    CountedSource
  >(`SELECT website, source, countIf(resolution = 'matched') AS matched, countIf(resolution = 'unmatched') AS unmatched
    FROM ${once('counted_installs')} PREWHERE organization = {organization:String} AND ${withinPeriod('received_at')}
    WHERE kind != 'superseded' AND NOT is_test AND resolution IN ('matched', 'unmatched')
    GROUP BY website, source ORDER BY website, matched + unmatched DESC, source LIMIT ${MAX_ALERTS}`),

  /** Open ones, and those that were opened since then. */
  alertsToJudge: report<{ readonly organizations: readonly string[]; readonly since_ms: number }, WholeAlertRow>(
    `${WHOLE_ALERTS} PREWHERE organization IN {organizations:Array(String)} ${BY_ALERT} AND (NOT is_closed OR opened_ms >= {since_ms:Int64})
    ORDER BY organization, id LIMIT ${MAX_ALERTS}`,
  ),
} as const

export const ALERT_QUERIES = {
  /** The newest first. */
  openAlerts: pageOf<AlertsOf, WholeAlertRow>(
    `${OWN_ALERTS} AND NOT is_closed ORDER BY opened_ms DESC, id ${pageLimit()}`,
  ),
  closedAlerts: pageOf<AlertsOf, WholeAlertRow>(
    `${OWN_ALERTS} AND is_closed ORDER BY opened_ms DESC, id ${pageLimit()}`,
  ),
} as const
