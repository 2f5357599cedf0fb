/**
 * What a website keeps now. A row's own retention was set when it was stored; if the website's has become shorter since, reads leave out
 * what is older, and `eraseOlder` deletes it.
 */

import { keysOf } from '../../../domain/typed-keys.ts'
import type { FactTable } from '../columns.ts'
import { textLiteral } from './names.ts'

/** A website whose rows of before are not shown. */
export interface KeptWebsite {
  readonly website: string
  /** Unix ms. */
  readonly sinceMs: number
}

/** Tables that are kept for the `retentionDays` of their website, with the time that these days count from. */
const KEPT_BY_WEBSITE = {
  visits: 'issued_at',
  activations: 'issued_at',
  handoffs: 'issued_at',
  installs: 'received_at',
  install_decisions: 'received_at',
  deliveries: 'install_received_at',
  website_hours: 'hour',
  visit_hours: 'began',
  counted_installs: 'received_at',
  spend_rows: 'day',
  spend_imports: 'last_day',
} as const satisfies { readonly [T in FactTable]?: string }
type KeptTable = keyof typeof KEPT_BY_WEBSITE
export const KEPT_TABLES = keysOf(KEPT_BY_WEBSITE)

/** Further settings of a statement that reads these websites from `fromMs` on; empty if it reads nothing that is older than they keep. */
export function keptClause(kept: readonly KeptWebsite[], fromMs: number): string {
  const cut = Map.groupBy(
    kept.filter(({ sinceMs }) => sinceMs > fromMs),
    ({ sinceMs }) => sinceMs,
  )
  if (cut.size === 0) return ''
  const filters = KEPT_TABLES.map((table) => {
    const conditions = [...cut].map(([sinceMs, websites]) => {
      const ids = websites.map(({ website }) => textLiteral(website)).join(', ')
      return `(website NOT IN (${ids}) OR ${notBefore(table, sinceMs)})`
    })
    return `${quoted(table)}: ${quoted(conditions.join(' AND '))}`
  })
  return `, additional_table_filters = {${filters.join(', ')}}`
}

/** A row of this table is not older than that. */
export function notBefore(table: KeptTable, sinceMs: number): string {
  return `${KEPT_BY_WEBSITE[table]} >= fromUnixTimestamp64Milli(toInt64(${Math.trunc(sinceMs)}), 'UTC')`
}

/** Inside a setting's value a quote is written twice. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
