/** The SQL texts behind what became of installs at the destinations that get installs alone. */

import type { EventDelivery, LaterEvent, OutcomeGroup } from '../../../domain/delivery/install-outcomes.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { once, pageOf, withinPeriod } from '../query-parts.ts'
import { eventsSql, type InstallPeriod } from './counted-installs.ts'
import { momentAt, OF_ORGANIZATION, websitesAsked, type WebsitesOfOne } from './ranges.ts'

/** The delivery of an install without a visit is that of the first later event that has one, if that comes within this time. */
const LATER_MS = 7 * DAY_MS
const MOST_GROUPS = 5_000
const MOST_LATER = 20_000

type Providers = { readonly providers: readonly string[] }

/** Those that have their own visit, or none, or those that have the visit of a later event. */
function installsOf(period: InstallPeriod, columns: readonly string[], isLater: boolean): string {
  const read = [...new Set([...columns, 'kind', 'is_visit_of_later'])]
  return `(SELECT ${columns.join(', ')} FROM ${eventsSql(period, read)}
    WHERE kind = 'install' AND ${isLater ? '' : 'NOT '}is_visit_of_later)`
}

/** How deliveries stand. No FINAL, which would read all that are kept: those of a time are found by the projection by arrival. */
function deliveryStates(condition: string): string {
  return `(SELECT website, event_id, destination, any(provider) AS at_provider, argMax((status, reason), row_version) AS last
    FROM deliveries WHERE ${condition} AND provider IN {providers:Array(String)} GROUP BY website, event_id, destination)`
}

export const OUTCOME_QUERIES = {
  installsByWebsite: pageOf<InstallPeriod, { readonly website: string; readonly installs: number }>(
    (period) =>
      `SELECT website, count() AS installs FROM ${eventsSql(period, ['website', 'kind'])} WHERE kind = 'install'
      GROUP BY website ORDER BY website LIMIT ${MOST_GROUPS}`,
  ),

  /** Installs whose deliveries are those of their own events, at these providers. */
  installOutcomes: pageOf<InstallPeriod & Providers, OutcomeGroup>(
    (period) => `
    SELECT website, destination, at_provider AS provider, last.1 AS status, last.2 AS reason, count() AS installs
    FROM ${deliveryStates(`${websitesAsked(period)} AND ${withinPeriod('install_received_at')}`)}
    WHERE (website, event_id) IN ${installsOf(period, ['website', 'event_id'], false)}
    GROUP BY website, destination, provider, status, reason
    ORDER BY website, destination, status, installs DESC LIMIT ${MOST_GROUPS}`,
  ),

  /**
   * Installs that have the visit of a later event, with each event of their machine within seven days, themselves among them: first the event that
   * has the visit, then later ones with a visit, then the others.
   */
  laterEvents: pageOf<InstallPeriod, LaterEvent>((period) => {
    const install = installsOf(period, ['website', 'installation_id', 'event_id', 'received_at'], true)
    const soon = `received_at >= ${momentAt(period.since_ms)} AND received_at < ${momentAt(period.until_ms + LATER_MS)}`
    return `SELECT install.website AS website, install.event_id AS install_id, event.event_id AS event_id FROM ${install} AS install
      INNER JOIN (SELECT website, installation_id, event_id, received_at, resolution = 'matched' AND NOT is_visit_of_later AS has_visit
        FROM ${once('counted_installs')}
        PREWHERE ${websitesAsked(period)} AND ${soon} WHERE kind != 'superseded'
        AND installation_id IN ${installsOf(period, ['installation_id'], true)}) AS event USING (website, installation_id)
      WHERE event.received_at >= install.received_at AND event.received_at <= install.received_at + INTERVAL ${LATER_MS / DAY_MS} DAY
      ORDER BY website, install_id, has_visit DESC, event.received_at, event_id LIMIT ${MOST_LATER}`
  }),

  /** How the deliveries of these events stand, by their keys. */
  eventDeliveries: pageOf<
    WebsitesOfOne & Providers & { readonly of_websites: readonly string[]; readonly event_ids: readonly string[] },
    EventDelivery
  >(`SELECT website, event_id, destination, at_provider AS provider, last.1 AS status, last.2 AS reason
    FROM ${deliveryStates(`${OF_ORGANIZATION} AND (website, event_id) IN arrayZip({of_websites:Array(String)}, {event_ids:Array(String)})`)}
    ORDER BY website, event_id, destination LIMIT ${MOST_LATER}`),
} as const
