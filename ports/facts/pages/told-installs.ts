/** The SQL texts behind what became of installs at the destinations that get installs alone. */

import type { ToldGroup } from '../../../domain/delivery/told-installs.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { once, pageOf } from '../query-parts.ts'
import { eventsSql, type InstallPeriod } from './counted-installs.ts'
import { momentAt, websitesAsked } from './ranges.ts'

/** An install without a visit is told by the first later event that has one, if that comes within this time. */
const LATER_MS = 7 * DAY_MS
/** Of several deliveries of an install the first of these counts: that of a later event has taken the place of one that was skipped. */
const STATUSES = "['delivered', 'retrying', 'pending', 'failed', 'expired', 'skipped']"
const MOST_GROUPS = 5_000

type ToldPeriod = InstallPeriod & { readonly providers: readonly string[] }

/** The installs of the period with the events that may tell of them: their own, and later ones that have their visit. */
function tellingEvents(period: InstallPeriod): string {
  const installs = `(SELECT website, installation_id, event_id, received_at, is_visit_of_later
    FROM ${eventsSql(period, ['website', 'installation_id', 'event_id', 'received_at', 'is_visit_of_later', 'kind'])} WHERE kind = 'install')`
  const later = `(SELECT website, installation_id, event_id, received_at FROM ${once('counted_installs')}
    PREWHERE ${websitesAsked(period)} AND ${receivedSoon(period, 'received_at')} WHERE kind != 'superseded' AND resolution = 'matched')`
  return `SELECT website, event_id AS install_id, event_id FROM ${installs}
    UNION ALL SELECT install.website AS website, install.event_id AS install_id, later.event_id AS event_id
    FROM ${installs} AS install INNER JOIN ${later} AS later USING (website, installation_id)
    WHERE install.is_visit_of_later AND later.received_at > install.received_at
      AND later.received_at <= install.received_at + INTERVAL ${LATER_MS / DAY_MS} DAY`
}

function receivedSoon({ since_ms: since, until_ms: until }: InstallPeriod, column: string): string {
  return `${column} >= ${momentAt(since)} AND ${column} < ${momentAt(until + LATER_MS)}`
}

export const TOLD_QUERIES = {
  installsByWebsite: pageOf<InstallPeriod, { readonly website: string; readonly installs: number }>(
    (period) =>
      `SELECT website, count() AS installs FROM ${eventsSql(period, ['website', 'kind'])} WHERE kind = 'install'
      GROUP BY website ORDER BY website LIMIT ${MOST_GROUPS}`,
  ),

  /** Of these providers. Each install counts once for each destination that it has a delivery to. */
  toldInstalls: pageOf<ToldPeriod, ToldGroup>(
    (period) => `
    SELECT website, destination, provider, told.1 AS status, told.2 AS reason, count() AS installs FROM (
      SELECT website, install_id, destination, any(provider) AS provider, argMin((status, reason), place) AS told
      FROM (SELECT website, event_id, destination, provider, status, reason, indexOf(${STATUSES}, status) AS place
        FROM ${once('deliveries')}
        WHERE ${websitesAsked(period)} AND provider IN {providers:Array(String)} AND ${receivedSoon(period, 'install_received_at')}) AS delivery
      INNER JOIN (${tellingEvents(period)}) AS event USING (website, event_id)
      GROUP BY website, install_id, destination)
    GROUP BY website, destination, provider, status, reason
    ORDER BY website, destination, status, installs DESC LIMIT ${MOST_GROUPS}`,
  ),
} as const
