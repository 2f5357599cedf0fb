/** Deletes rows by mutations, which rewrite the parts that hold them: a lightweight delete would leave them on the disk. */

import type { OwnedWebsite } from '../../../domain/model.ts'
import type { FactTable } from '../columns.ts'
import type { FactsConnection } from '../engine/connection.ts'
import { MAX_NAMES, conditionNaming, NAMING_TABLES, textLiteral, type ErasedName, type ErasedRows } from './names.ts'

/** Most hours in one statement. */
const HOURS_AT_ONCE = 2_000
const PAUSE_MS = 100

export async function countNamed(connection: FactsConnection, names: readonly ErasedName[]): Promise<ErasedRows> {
  if (names.length > MAX_NAMES) throw new RangeError(`at most ${MAX_NAMES} names at once`)
  const counts = NAMING_TABLES.map(
    (table) => `(SELECT count() FROM ${table} WHERE ${conditionNaming(table, names)}) AS ${table}`,
  )
  const [row] = await connection.query(`SELECT ${counts.join(', ')}`, {}, { turn: 'report' })
  const found = Object.entries(row as Readonly<Record<string, unknown>>)
  return Object.fromEntries(found.map(([table, rows]) => [table, Number(rows)]))
}

/** Only tables that hold such rows are touched. */
export async function eraseNamed(connection: FactsConnection, names: readonly ErasedName[]): Promise<void> {
  if (names.length === 0) return
  const rows = await countNamed(connection, names)
  const tables = NAMING_TABLES.filter((table) => (rows[table] ?? 0) > 0)
  for (const table of tables) await beginDelete(connection, table, conditionNaming(table, names))
  await untilDeleted(connection, tables)
}

export async function eraseFigures(
  connection: FactsConnection,
  { organization, website }: OwnedWebsite,
  hours: readonly number[],
): Promise<void> {
  for (let from = 0; from < hours.length; from += HOURS_AT_ONCE) {
    const some = hours.slice(from, from + HOURS_AT_ONCE).map((ms) => Math.trunc(ms))
    const isOne = `toUnixTimestamp64Milli(hour) IN (${some.join(', ')})`
    const own = `organization = ${textLiteral(organization)} AND website = ${textLiteral(website)}`
    await beginDelete(connection, 'website_hours', `${own} AND ${isOne}`)
  }
  await untilDeleted(connection, hours.length === 0 ? [] : ['website_hours'])
}

async function beginDelete(connection: FactsConnection, table: FactTable, condition: string): Promise<void> {
  const { cluster } = connection.layout ?? {}
  const onCluster = cluster === undefined ? '' : `ON CLUSTER ${textLiteral(cluster)}`
  await connection.command(`ALTER TABLE ${table} ${onCluster} DELETE WHERE ${condition} SETTINGS mutations_sync = 0`)
}

/** Polls: on a large table a mutation takes longer than a statement may. */
async function untilDeleted(connection: FactsConnection, tables: readonly FactTable[]): Promise<void> {
  if (tables.length === 0) return
  const open = `SELECT count() AS open FROM system.mutations
    WHERE database = currentDatabase() AND table IN (${tables.map(textLiteral).join(', ')}) AND NOT is_done`
  for (;;) {
    const [row] = (await connection.query(open, {}, { turn: 'report' })) as readonly { open: number | string }[]
    if (Number(row?.open ?? 0) === 0) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
