/** Deletes rows by mutations, which rewrite the parts that hold them: a lightweight delete would leave them on the disk. */

import { objectOf, memberOf } from '../../../domain/strict-json.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import type { FactTable } from '../columns.ts'
import { namedAs, settingsClause, type EngineTables } from '../engine/connection.ts'
import { KEPT_TABLES, notBefore } from './kept.ts'
import {
  conditionNaming,
  MAX_NAMES,
  NAMING_TABLES,
  OWNED_TABLES,
  textLiteral,
  type ErasedName,
  type ErasedRows,
} from './names.ts'

/** Most hours in one statement. */
const HOURS_AT_ONCE = 2_000
const PAUSE_MS = 100
const COUNTING = settingsClause(namedAs('erase'))
const DELETING = settingsClause({ mutations_sync: 0, ...namedAs('erase') })
/** Far more mutations than an installation has had in one table between two backups. */
const MOST_TRIES = 1_000

export async function countNamed(connection: EngineTables, names: readonly ErasedName[]): Promise<ErasedRows> {
  if (names.length > MAX_NAMES) throw new RangeError(`at most ${MAX_NAMES} names at once`)
  return countRows(connection, NAMING_TABLES, (table) => conditionNaming(table, names))
}

export function countOrganization(connection: EngineTables, organization: string): Promise<ErasedRows> {
  return countRows(connection, OWNED_TABLES, () => ofOrganization(organization))
}

async function countRows<T extends FactTable>(
  connection: EngineTables,
  tables: readonly T[],
  conditionOf: (table: T) => string,
): Promise<ErasedRows> {
  const counts = tables.map((table) => `(SELECT count() FROM ${table} WHERE ${conditionOf(table)}) AS ${table}`)
  const [row] = await connection.query(`SELECT ${counts.join(', ')} ${COUNTING}`, {}, { turn: 'report' })
  const found = Object.entries(objectOf(row))
  return Object.fromEntries(found.map(([table, rows]) => [table, Number(rows)]))
}

/** Only tables that hold such rows are touched. */
export async function eraseNamed(connection: EngineTables, names: readonly ErasedName[]): Promise<void> {
  if (names.length === 0) return
  await deleteRows(connection, NAMING_TABLES, (table) => conditionNaming(table, names))
}

export async function deleteOrganization(connection: EngineTables, organization: string): Promise<void> {
  await deleteRows(connection, OWNED_TABLES, () => ofOrganization(organization))
}

function ofOrganization(organization: string): string {
  return `organization = ${textLiteral(organization)}`
}

/**
 * Until none is found any more. A part that came from a backup has the number of the last mutation that it had where it was made, and the
 * engine passes over it in all mutations up to that number; each try has a higher one.
 * Says whether there were any.
 * @throws Error if rows are left in spite of all tries
 */
async function deleteRows<T extends FactTable>(
  connection: EngineTables,
  all: readonly T[],
  conditionOf: (table: T) => string,
): Promise<boolean> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const rows = await countRows(connection, all, conditionOf)
    const tables = all.filter((table) => (rows[table] ?? 0) > 0)
    if (tables.length === 0) return tries > 0
    for (const table of tables) await beginDelete(connection, table, conditionOf(table))
    await untilDeleted(connection, tables)
  }
  throw new Error('rows that were to be erased are still there: erase again')
}

export function eraseOlder(connection: EngineTables, owner: OwnedWebsite, beforeMs: number): Promise<boolean> {
  return deleteRows(
    connection,
    KEPT_TABLES,
    (table) => `${rowsOfWebsite(owner)} AND NOT (${notBefore(table, beforeMs)})`,
  )
}

function rowsOfWebsite({ organization, website }: OwnedWebsite): string {
  return `${ofOrganization(organization)} AND website = ${textLiteral(website)}`
}

export async function eraseFigures(
  connection: EngineTables,
  owner: OwnedWebsite,
  hours: readonly number[],
): Promise<void> {
  for (let from = 0; from < hours.length; from += HOURS_AT_ONCE) {
    const some = hours.slice(from, from + HOURS_AT_ONCE).map((ms) => Math.trunc(ms))
    const isOne = `toUnixTimestamp64Milli(hour) IN (${some.join(', ')})`
    await deleteRows(connection, ['website_hours', 'visit_hours'], () => `${rowsOfWebsite(owner)} AND ${isOne}`)
  }
}

async function beginDelete(connection: EngineTables, table: FactTable, condition: string): Promise<void> {
  const { cluster } = connection.layout ?? {}
  const onCluster = cluster === undefined ? '' : `ON CLUSTER ${textLiteral(cluster)}`
  await connection.command(`ALTER TABLE ${table} ${onCluster} DELETE WHERE ${condition} ${DELETING}`)
}

/** Polls: on a large table a mutation takes longer than a statement may. */
async function untilDeleted(connection: EngineTables, tables: readonly FactTable[]): Promise<void> {
  if (tables.length === 0) return
  const open = `SELECT count() AS open FROM system.mutations
    WHERE database = currentDatabase() AND table IN (${tables.map(textLiteral).join(', ')}) AND NOT is_done ${COUNTING}`
  for (;;) {
    const [row] = await connection.query(open, {}, { turn: 'report' })
    if (Number(memberOf(row, 'open') ?? 0) === 0) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
