/** Checks at the start that the engine inserts every row: it must neither deduplicate nor have unexpected settings. */

import { textOf, memberOf } from '../../../domain/strict-json.ts'
import type { EngineTables } from './connection.ts'
import { readSupportedSettings } from './settings.ts'

/**
 * The engine does not behave as this adapter requires; starting would put facts at risk.
 * @internal
 */
export class EngineUnfit extends Error {
  override readonly name = 'EngineUnfit'
}

const SCRATCH = 'whence_self_test'

/**
 * Rejects with `EngineUnfit` if a session setting is not at its default (and not among `expected`, by name with its
 * value), or if `requireEveryInsert` does.
 */
export async function selfTest(connection: EngineTables, expected: Readonly<Record<string, string>>): Promise<void> {
  const changed = await changedSettings(connection)
  const odd = [...changed]
    .filter(([name, value]) => expected[name] !== value)
    .map(([name, value]) => `${name} = ${value}`)
  if (odd.length > 0) throw new EngineUnfit(`the engine starts with settings we do not know: ${odd.join(', ')}`)
  await requireEveryInsert(connection)
}

/**
 * Inserts one row twice into a table that would deduplicate if told to; rejects with `EngineUnfit` unless that gives
 * two rows. A server's profile can override what an insert requests. Needs the right to create a table.
 */
export async function requireEveryInsert(connection: EngineTables): Promise<void> {
  const count = await insertTwice(connection)
  if (count !== 2) throw new EngineUnfit(`one row inserted twice gave ${count} rows instead of 2`)
}

/**
 * Settings of the session that are not at their default, by name.
 * @internal
 */
export async function changedSettings(connection: EngineTables): Promise<ReadonlyMap<string, string>> {
  const rows = await connection.query(
    'SELECT name, value FROM system.settings WHERE changed ORDER BY name LIMIT 1000',
    {},
    { turn: 'report' },
  )
  return new Map(rows.map((row) => [textOf(memberOf(row, 'name')), textOf(memberOf(row, 'value'))]))
}

async function insertTwice(connection: EngineTables): Promise<number> {
  await connection.command(`DROP TABLE IF EXISTS ${SCRATCH} SYNC`)
  await connection.command(
    `CREATE TABLE ${SCRATCH} (n UInt8) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100`,
  )
  try {
    const { insert: settings } = await readSupportedSettings(connection)
    const insert = { table: SCRATCH, columns: ['n'], settings, body: [Buffer.from('1\n')] }
    await connection.insert(insert)
    await connection.insert(insert)
    const [row] = await connection.query(`SELECT toUInt32(count()) AS n FROM ${SCRATCH}`, {}, { turn: 'report' })
    return Number(memberOf(row, 'n') ?? 0)
  } finally {
    await connection.command(`DROP TABLE IF EXISTS ${SCRATCH} SYNC`)
  }
}
