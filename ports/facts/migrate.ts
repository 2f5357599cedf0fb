/** Brings the tables up to date: numbered SQL files, each applied once, in order, by one migrator at a time. */

import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { textOf, memberOf } from '../../domain/strict-json.ts'
import type { FactsConnection, TableLayout } from './engine/connection.ts'
import { engineCode } from './engine/engine-codes.ts'
import { sha256Hex } from '../../common/digest.ts'

/** The connection supplies absent values. */
interface MigrateSettings extends TableLayout {
  /** Folder of the numbered files; the default is `sql/` beside this file. */
  readonly folder?: URL
}

interface Migration {
  /** For example `0001_facts.sql`. */
  readonly name: string
  readonly text: string
  /** SHA-256 of the text, in hex. */
  readonly checksum: string
}

/**
 * An applied migration was changed or removed, or another migrator does not end.
 * @internal
 */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused'
}

const SQL_FOLDER = new URL('./sql/', import.meta.url)
const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/
const HISTORY = 'schema_migrations'
const LOCK = 'schema_migrations_lock'
const LOCK_TRIES = 60
const LOCK_PAUSE_MS = 500
/** No migration of this service takes this long. */
const LOCK_LIFETIME_S = 600
/** Distinguishes the locks of this process from those of others. */
const PROCESS = randomUUID()
const TABLE_ALREADY_EXISTS = '57'

/** Applies missing migrations and resolves to their names. Rejects with `MigrationRefused`. */
export async function migrate(connection: FactsConnection, settings: MigrateSettings = {}): Promise<readonly string[]> {
  const migrations = await readMigrations(settings.folder ?? SQL_FOLDER)
  const render = renderer({ ...connection.layout, ...settings })
  await connection.command(
    render(`CREATE TABLE IF NOT EXISTS ${HISTORY} {{onCluster}}
    (name String, checksum String, applied_at DateTime DEFAULT now(), row_version UInt64 DEFAULT 0)
    ENGINE = {{replacing}} ORDER BY name SETTINGS {{durable}}`),
  )
  if ((await missing(connection, migrations)).length === 0) return []
  await lock(connection, render)
  try {
    const applied: string[] = []
    for (const migration of await missing(connection, migrations)) {
      await applyMigration(connection, migration, render)
      applied.push(migration.name)
    }
    return applied
  } finally {
    await unlock(connection, render)
  }
}

type Render = (text: string) => string

/** Reads the files in the order of their numbers. */
async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8')
      return { name, text, checksum: sha256Hex(text) }
    }),
  )
}

function renderer({ cluster, isReplicated = false }: TableLayout): Render {
  const values: Readonly<Record<string, string>> = {
    replacing: isReplicated
      ? "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', row_version)"
      : 'ReplacingMergeTree(row_version)',
    onCluster: cluster === undefined ? '' : `ON CLUSTER '${cluster.replaceAll("'", "''")}'`,
    // Old parts are removed as soon as they are merged, so the merged part must be on disk by then.
    durable: 'fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1',
    // A look-up reads whole granules, and facts are looked up by key one by one.
    granules: 'index_granularity = 1024',
  }
  return (text) => text.replace(/\{\{(\w+)\}\}/g, (_whole, name: string) => values[name] ?? '')
}

async function missing(connection: FactsConnection, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const rows = await connection.query(
    `SELECT name, checksum FROM ${HISTORY} FINAL ORDER BY name LIMIT 10000`,
    {},
    { turn: 'report' },
  )
  const applied = new Map(rows.map((row) => [textOf(memberOf(row, 'name')), textOf(memberOf(row, 'checksum'))]))
  for (const { name, checksum } of migrations) {
    const known = applied.get(name)
    if (known !== undefined && known !== checksum) {
      throw new MigrationRefused(
        `the tables have another form: ${name} has changed since it was applied; use an empty database, or the program that made them`,
      )
    }
  }
  const last = [...applied.keys()].at(-1) ?? ''
  const unknown = [...applied.keys()].filter((name) => !migrations.some((migration) => migration.name === name))
  if (unknown.length > 0)
    throw new MigrationRefused(
      `the tables are newer than this program, which does not know ${unknown.join(', ')}; use the program that made them, or an empty database`,
    )
  const open = migrations.filter(({ name }) => !applied.has(name))
  const late = open.find(({ name }) => name < last)
  if (late !== undefined) throw new MigrationRefused(`migration ${late.name} comes before ${last}, which is applied`)
  return open
}

/** If several migrators create a table at once, one succeeds: that is the lock. Its comment holds the owner and the time. */
async function lock(connection: FactsConnection, render: Render): Promise<void> {
  for (let attempt = 0; attempt < LOCK_TRIES; attempt++) {
    const comment = `${PROCESS} ${Math.floor(Date.now() / 1000)}`
    try {
      await connection.command(
        render(`CREATE TABLE ${LOCK} {{onCluster}} (nothing UInt8) ENGINE = Memory COMMENT '${comment}'`),
      )
      return
    } catch (error) {
      if (engineCode(error) !== TABLE_ALREADY_EXISTS) throw error
    }
    if (await isLockDead(connection)) await unlock(connection, render)
    else await sleep(LOCK_PAUSE_MS)
  }
  throw new MigrationRefused(`another migration holds the lock; if none runs, drop the table ${LOCK}`)
}

async function unlock(connection: FactsConnection, render: Render): Promise<void> {
  await connection.command(render(`DROP TABLE IF EXISTS ${LOCK} {{onCluster}} SYNC`))
}

/** A migrator that was killed leaves its lock behind. On an embedded engine no other process can hold one. */
async function isLockDead(connection: FactsConnection): Promise<boolean> {
  const rows = await connection.query(
    `SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = '${LOCK}' LIMIT 1`,
    {},
    { turn: 'report' },
  )
  const [owner = '', since = ''] = textOf(memberOf(rows[0], 'comment')).split(' ')
  if (connection.isExclusive) return owner !== '' && owner !== PROCESS
  return since !== '' && Number(since) < Date.now() / 1000 - LOCK_LIFETIME_S
}

/** Statements end with a semicolon at the end of a line; each can be repeated after a crash. */
async function applyMigration(connection: FactsConnection, migration: Migration, render: Render): Promise<void> {
  const statements = migration.text
    .replace(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
  for (const statement of statements) await connection.command(render(statement))
  // Not VALUES: after those, chDB reads on from the standard input of the process.
  await connection.command(
    `INSERT INTO ${HISTORY} (name, checksum) SELECT '${migration.name}', '${migration.checksum}' SETTINGS async_insert = 0`,
  )
}
