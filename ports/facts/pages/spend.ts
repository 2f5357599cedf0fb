/** Ad spend as it counts, the visits and installs that it is compared with, and the imports that it came from. */

import { selectFrom, type RowsOf } from '../columns.ts'
import { newestFirst, once, pageLimit, pageOf, withinPeriod } from '../query-parts.ts'
import { eventsSql, type InstallPeriod } from './counted-installs.ts'
import { OF_ORGANIZATION, type WebsitesOfOne } from './ranges.ts'

/** Days as they are stored: `since_ms` and `until_ms` (exclusive) are midnights in UTC. */
type SpendPeriod = WebsitesOfOne & { readonly since_ms: number; readonly until_ms: number }

export interface SpendSumRow {
  readonly source: string
  /** Empty: of none; or it was not asked for. */
  readonly campaign: string
  readonly currency: string
  readonly amount: number
}

interface SourceCampaignRow {
  readonly source: string
  readonly campaign: string
  readonly installs: number
}

const IMPORT = selectFrom('spend_imports')
export type SpendImportRow = RowsOf<typeof IMPORT> & { readonly retention_days: number }
const IMPORTS = `SELECT ${IMPORT.sql}, retention_days FROM ${once('spend_imports')} PREWHERE ${OF_ORGANIZATION}`

/** More combinations of source, campaign and currency of one period are not compared, only added up. */
const MAX_SUMS = 10_000
const MAX_CURRENCIES = 500

/** Of each day and source the rows of the latest import that is there and not removed. */
const COUNTING = `(SELECT source, campaign, currency, amount FROM ${once('spend_rows')}
  PREWHERE ${OF_ORGANIZATION} AND ${withinPeriod('day')}
  WHERE (website, day, source, import_id) IN (
    SELECT website, day, source, max(import_id) FROM spend_rows PREWHERE ${OF_ORGANIZATION} AND ${withinPeriod('day')}
    WHERE (website, import_id) IN (SELECT website, id FROM ${once('spend_imports')} PREWHERE ${OF_ORGANIZATION} WHERE NOT is_removed)
    GROUP BY website, day, source))`

export const SPEND_QUERIES = {
  /** The greatest amounts first. */
  spendByCampaign: pageOf<SpendPeriod, SpendSumRow>(
    `SELECT source, campaign, currency, sum(amount) AS amount FROM ${COUNTING}
    GROUP BY source, campaign, currency ORDER BY amount DESC, source, campaign, currency LIMIT ${MAX_SUMS}`,
  ),
  spendBySource: pageOf<SpendPeriod, SpendSumRow>(
    `SELECT source, '' AS campaign, currency, sum(amount) AS amount FROM ${COUNTING}
    GROUP BY source, currency ORDER BY amount DESC, source, currency LIMIT ${MAX_SUMS}`,
  ),
  spendByCurrency: pageOf<SpendPeriod, { readonly currency: string; readonly amount: number }>(
    `SELECT currency, sum(amount) AS amount FROM ${COUNTING} GROUP BY currency ORDER BY currency LIMIT ${MAX_CURRENCIES}`,
  ),

  /** Installs by source and campaign of their visits; of those that name no source none. The greatest counts first. */
  installsBySourceCampaign: pageOf<InstallPeriod, SourceCampaignRow>(
    (period) => `SELECT source, campaign, count() AS installs
    FROM ${eventsSql(period, ['kind', 'resolution', 'is_visit_known', 'source', 'campaign'])}
    WHERE kind = 'install' AND resolution = 'matched' AND is_visit_known AND source != ''
    GROUP BY source, campaign ORDER BY installs DESC, source, campaign LIMIT ${2 * MAX_SUMS}`,
  ),

  /** Imports that are not removed, newest first. */
  spendImports: pageOf<WebsitesOfOne & { readonly limit: number }, SpendImportRow>(
    `${IMPORTS} WHERE NOT is_removed ${newestFirst('imported_at', 'id')} ${pageLimit()}`,
  ),
  /** Removed or not. */
  spendImportById: pageOf<WebsitesOfOne & { readonly id: string }, SpendImportRow>(
    `${IMPORTS} AND id = {id:String} LIMIT 1`,
  ),
} as const
