/**
 * Queries that the decision about an install depends on: the states of its receipts, its event's records, its installation. A decision
 * is final, so on replicas each of them sees every insert that was acknowledged before.
 */

import type { OwnedWebsite } from '../../domain/model.ts'
import {
  at,
  deciding,
  decided,
  EVENTS_ASKED,
  installs,
  MAX_KEYS,
  OF_WEBSITE,
  once,
  VISITS_ASKED,
  WEBSITES_ASKED,
  type EventKeys,
  type OwnerKeys,
  type VisitKeys,
} from './query-parts.ts'
import {
  DECISION,
  INSTALLATION_VISIT,
  SETTLED_INSTALL,
  type DecisionRow,
  type FirstInstallRow,
  type InstallationVisitRow,
  type ReceiptFactsRow,
  type ReceiptHistoryRow,
  type SettledInstallRow,
} from './query-rows.ts'

/** Limited to one installation. */
const MAX_EVENTS = 20

type InstallationKeys = OwnerKeys & {
  readonly installation_ids: readonly string[]
  readonly since_ms: number
}
const INSTALLATIONS_ASKED = `${WEBSITES_ASKED} AND installation_id IN {installation_ids:Array(String)}`
/** Columns that say what an installation was matched to, and whether a pending event may be matched by itself. */
const MATCHED_COLUMNS = ['resolution', 'visit_id', 'visit_issued_at', 'gpc', 'verdicts'] as const

export const DECIDING_QUERIES = {
  /** The state of receipts, from the facts only. No FINAL: a duplicate row changes no maximum. */
  receiptFacts: deciding<OwnedWebsite & { readonly visit_ids: readonly string[] }, ReceiptFactsRow>(`
    SELECT visit_id, max(recorded) AS is_recorded, max(active) AS is_active, max(revoked) AS is_revoked,
      max(handoff_only) AS is_handoff_only, max(previous) AS previous_visit_id
    FROM (
      SELECT visit_id, true AS recorded, false AS active, false AS revoked, is_handoff_only AS handoff_only,
        previous_visit_id AS previous
      FROM visits PREWHERE ${OF_WEBSITE} AND visit_id IN {visit_ids:Array(String)}
      UNION ALL
      SELECT visit_id, false, effect = 'activated', effect = 'revoked', false, ''
      FROM activations PREWHERE ${OF_WEBSITE} AND visit_id IN {visit_ids:Array(String)}
    ) GROUP BY visit_id LIMIT ${MAX_KEYS}`),

  /**
   * When receipts were activated and revoked, as far as the facts show, and which receipt each replaced.
   */
  receiptHistory: deciding<VisitKeys, ReceiptHistoryRow>(`
    SELECT organization, website, visit_id, toUnixTimestamp64Milli(min(activated_at)) AS activated_at_ms,
      toUnixTimestamp64Milli(min(revoked_at)) AS revoked_at_ms, max(previous) AS previous_visit_id
    FROM (
      SELECT organization, website, visit_id, NULL AS activated_at, NULL AS revoked_at, previous_visit_id AS previous
      FROM visits PREWHERE ${VISITS_ASKED}
      UNION ALL
      SELECT organization, website, visit_id, if(effect = 'activated', effective_at, NULL), if(effect = 'revoked', effective_at, NULL), ''
      FROM activations PREWHERE ${VISITS_ASKED}
    ) GROUP BY organization, website, visit_id LIMIT ${MAX_KEYS}`),

  /** The first record of each existing event: when it was received, and by which request. */
  firstInstalls: deciding<EventKeys, FirstInstallRow>(`SELECT organization, website, event_id,
      toUnixTimestamp64Milli(argMax(received_at, row_version)) AS received_at_ms,
      argMax(request_id, row_version) AS request_id, argMax(installation_id, row_version) AS installation_id,
      argMax(event_type, row_version) AS event_type, argMax(visit_id, row_version) AS visit_id,
      argMax(answer, row_version) AS answer
    FROM installs PREWHERE ${EVENTS_ASKED} GROUP BY organization, website, event_id LIMIT ${MAX_KEYS}`),

  /** What the hot state remembers of events, for those that are stored; as they were decided, if they were pending. */
  settledInstalls: deciding<EventKeys, SettledInstallRow>(`SELECT ${SETTLED_INSTALL.sql}
    FROM ${installs(EVENTS_ASKED)} LIMIT ${MAX_KEYS}`),

  /** The decisions about events that were pending. */
  decisionsByEvents: deciding<EventKeys, DecisionRow>(`SELECT ${DECISION.sql}
    FROM ${once('install_decisions')} PREWHERE ${EVENTS_ASKED} LIMIT ${MAX_KEYS}`),

  /**
   * The recent matches of installations, newest first: events that are matched to a visit not older than `since_ms`, or are still
   * pending. The result may include a listed installation ID of another listed website.
   */
  installationVisits: deciding<InstallationKeys, InstallationVisitRow>(`SELECT ${INSTALLATION_VISIT.sql}
    FROM ${decided(`SELECT * FROM ${once('installs')} WHERE ${INSTALLATIONS_ASKED}`, `WHERE ${INSTALLATIONS_ASKED}`)}
    WHERE resolution = 'pending' OR (resolution = 'matched' AND visit_issued_at >= ${at('since_ms')})
    ORDER BY received_at DESC, event_id DESC LIMIT ${MAX_EVENTS} BY organization, website, installation_id LIMIT ${MAX_KEYS}`),

  /**
   * What installations were matched to around a moment (`at_ms`, by position as the installations are): events that are matched to a visit not
   * older than `since_ms`, or pending with candidates of their own; a pending one without any only follows the event before it. First those up to
   * the moment, newest first, then those up to `margin_ms` later, oldest first.
   */
  installationMatches: deciding<
    InstallationKeys & { readonly at_ms: readonly number[]; readonly margin_ms: number },
    InstallationVisitRow
  >(`SELECT ${INSTALLATION_VISIT.sql}
    FROM (SELECT *, toUnixTimestamp64Milli(received_at) - transform(concat(organization, '/', website, ':', installation_id),
        arrayMap((owner, site, id) -> concat(owner, '/', site, ':', id), {organizations:Array(String)}, {websites:Array(String)},
          {installation_ids:Array(String)}),
        {at_ms:Array(Int64)}, toInt64(0)) AS later_ms
      FROM ${decided(
        `SELECT organization, website, event_id, installation_id, received_at, ${MATCHED_COLUMNS.join(', ')} FROM ${once('installs')}
          WHERE ${INSTALLATIONS_ASKED}`,
        `WHERE ${INSTALLATIONS_ASKED}`,
        MATCHED_COLUMNS,
      )})
    WHERE later_ms <= {margin_ms:Int64} AND ((resolution = 'matched' AND visit_issued_at >= ${at('since_ms')})
      OR (resolution = 'pending' AND (position(verdicts, '"undecided"') > 0 OR position(verdicts, '"active"') > 0)))
    ORDER BY later_ms > 0, abs(later_ms), event_id DESC LIMIT ${MAX_EVENTS} BY organization, website, installation_id LIMIT ${MAX_KEYS}`),
} as const
