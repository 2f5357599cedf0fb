/** The queries of an erasure, and the query with which every writer reads what was erased. */

import type { OwnedWebsite } from '../../../domain/model.ts'
import { lookUp, ms, OF_WEBSITE, once, report } from '../query-parts.ts'

/** Far more persons than will ever ask one service to erase their data. */
const MAX_ERASURES = 2_000_000
const MAX_ROWS = 100_000
/** A visit ID, anywhere in the verdicts of an install. */
const VISITS_NAMED = "extractAll(verdicts, '[0-9a-f]{32}')"

interface ErasureRow extends OwnedWebsite {
  readonly digest: string
  readonly reference: number
  readonly erased_at_ms: number
}

/** An event and all visits that it names. */
interface NamingInstallRow {
  readonly event_id: string
  readonly installation_id: string
  readonly received_at_ms: number
  readonly visit_ids: readonly string[]
}

interface ChainedVisitRow {
  readonly visit_id: string
  readonly previous_visit_id: string
  readonly issued_at_ms: number
}

type Names = OwnedWebsite & {
  readonly installation_ids: readonly string[]
  readonly visit_ids: readonly string[]
}

const installsIn = (table: 'installs' | 'install_decisions'): string => `
  SELECT event_id, installation_id, received_at,
    arrayFilter(id -> id != '', arrayPushBack(${VISITS_NAMED}, visit_id)) AS visit_ids
  FROM ${once(table)} PREWHERE ${OF_WEBSITE}
  WHERE installation_id IN {installation_ids:Array(String)} OR hasAny(visit_ids, {visit_ids:Array(String)})`

export const ERASURE_QUERIES = {
  /** Number of rows, from the parts' own counts: it changes whenever something is erased. Repeated rows count twice. */
  erasureCount: lookUp<Record<never, never>, { readonly rows: number }>('SELECT count() AS rows FROM erasures'),

  erasures: report<Record<never, never>, ErasureRow>(
    `SELECT organization, website, digest, reference, ${ms('erased_at')} FROM ${once('erasures')} LIMIT ${MAX_ERASURES}`,
  ),

  /** Events of these installations, and those that name one of these visits, as first reported and as decided. */
  installsNaming: report<Names, NamingInstallRow>(`SELECT event_id, any(installation_id) AS installation_id,
      toUnixTimestamp64Milli(min(received_at)) AS received_at_ms,
      groupUniqArrayArray(visit_ids) AS visit_ids
    FROM (${installsIn('installs')} UNION ALL ${installsIn('install_decisions')})
    GROUP BY event_id ORDER BY event_id LIMIT ${MAX_ROWS}`),

  /** When the events were received that figures count for these visits. */
  countedForVisits: report<
    OwnedWebsite & { readonly visit_ids: readonly string[] },
    { readonly received_at_ms: number }
  >(
    `SELECT DISTINCT ${ms('received_at')} FROM counted_installs
    WHERE ${OF_WEBSITE} AND visit_id IN {visit_ids:Array(String)} LIMIT ${MAX_ROWS}`,
  ),

  /** These visits, and the visits that replaced one of them. */
  visitsNaming: report<
    OwnedWebsite & { readonly visit_ids: readonly string[] },
    ChainedVisitRow
  >(`SELECT visit_id, previous_visit_id, ${ms('issued_at')} FROM ${once('visits')}
    WHERE ${OF_WEBSITE}
      AND (visit_id IN {visit_ids:Array(String)} OR previous_visit_id IN {visit_ids:Array(String)})
    ORDER BY visit_id LIMIT ${MAX_ROWS}`),

  /** First hours of the visits that these page views belong to, if they were in later hours. */
  hoursOfVisits: report<
    OwnedWebsite & { readonly visit_ids: readonly string[] },
    { readonly began_ms: number }
  >(`SELECT DISTINCT ${ms('began')} FROM ${once('visit_hours')} WHERE ${OF_WEBSITE} AND (sitting, hour) IN (
      SELECT sitting, toStartOfHour(issued_at) FROM visits WHERE ${OF_WEBSITE} AND visit_id IN {visit_ids:Array(String)})
    ORDER BY began_ms LIMIT ${MAX_ROWS}`),

  /** The longest retention that visits and installs of each website were stored with. */
  longestRetentions: report<Record<never, never>, OwnedWebsite & { readonly days: number }>(`
    SELECT organization, website, max(longest) AS days FROM (
      SELECT organization, website, max(retention_days) AS longest FROM visits GROUP BY organization, website
      UNION ALL SELECT organization, website, max(retention_days) AS longest FROM installs GROUP BY organization, website)
    GROUP BY organization, website ORDER BY organization, website LIMIT ${MAX_ROWS}`),

  /** Whose facts a website's ID stands for: several if it had another owner before. */
  ownersOfWebsite: report<{ readonly website: string }, { readonly organization: string }>(`
    SELECT DISTINCT organization FROM (SELECT organization FROM visits WHERE website = {website:String}
      UNION ALL SELECT organization FROM installs WHERE website = {website:String}
      UNION ALL SELECT organization FROM request_logs WHERE website = {website:String})
    ORDER BY organization LIMIT 100`),
} as const
