/** Migrations: applied once, in order, by one at a time, and never changed afterwards. */

import { readdirSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { expect } from 'chai'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { FACT_TABLES } from '../../ports/facts/columns.ts'
import { migrate, MigrationRefused } from '../../ports/facts/migrate.ts'
import { until } from '../../fixtures/until.ts'

const SQL_FOLDER = new URL('../../ports/facts/sql/', import.meta.url)
/** What a next version may do: a column more, and a table. */
const NEXT = '9002_next.sql'
const NEXT_SQL = `ALTER TABLE installs {{onCluster}} ADD COLUMN IF NOT EXISTS shell LowCardinality(String) AFTER agent;
CREATE TABLE IF NOT EXISTS more {{onCluster}} (t String, row_version UInt64) ENGINE = {{replacing}} ORDER BY t SETTINGS {{durable}};
`
/** The files there are, in their order. */
const ALL = readdirSync(SQL_FOLDER).toSorted()

describe('migrations', () => {
  let data: string
  let sql: string
  let folder: URL
  let connection: FactsConnection

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'whence-migrate-'))
    sql = join(data, 'sql')
    await mkdir(sql)
    await cp(SQL_FOLDER, sql, { recursive: true })
    folder = pathToFileURL(`${sql}/`)
    connection = await openChdb(join(data, 'facts'))
  })
  afterEach(async () => {
    await connection.close()
    await rm(data, { recursive: true })
  })

  const refusal = async (): Promise<unknown> => migrate(connection, { folder }).catch((error: unknown) => error)

  it('make every fact table, once', async () => {
    const first = await migrate(connection, { folder })
    const second = await migrate(connection, { folder })
    expect(first).to.deep.equal(ALL)
    expect(second).to.deep.equal([])
    expect(await tables()).to.include.members([...FACT_TABLES])
  })

  it('are applied once by two that start at the same moment', async () => {
    const both = await Promise.all([migrate(connection, { folder }), migrate(connection, { folder })])
    expect(both.flat()).to.deep.equal(ALL)
    expect(await tables()).not.to.include('schema_migrations_lock')
  })

  it('apply a new file after the ones that are there, statement by statement', async () => {
    await migrate(connection, { folder })
    await writeFile(
      join(sql, '9002_more.sql'),
      `-- Two statements; the first holds a semicolon.\nCREATE TABLE IF NOT EXISTS more {{onCluster}} (t String DEFAULT 'a;b', row_version UInt64)\nENGINE = {{replacing}} ORDER BY t SETTINGS {{durable}};\nALTER TABLE more ADD COLUMN IF NOT EXISTS n UInt8;\n`,
    )
    expect(await migrate(connection, { folder })).to.deep.equal(['9002_more.sql'])
    expect(await tables()).to.include('more')
  })

  it('of a next version keep the rows that are there, and this version goes on with its tables', async () => {
    await migrate(connection, { folder })
    const install = (id: string) =>
      connection.command(`INSERT INTO installs (organization, website, event_id, resolution, received_at, retention_days)
        SELECT 'acme', 'acme', '${id}', 'matched', now64(3), 395`)
    await install('before')
    await writeFile(join(sql, NEXT), NEXT_SQL)
    expect(await migrate(connection, { folder })).to.deep.equal([NEXT])
    await install('after')
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    for (const id of ['before', 'after']) {
      const [row] = await facts.run('installByEvent', { organization: 'acme', website: 'acme', event_id: id })
      expect(row, id).to.include({ resolution: 'matched', agent: '' })
    }
  })

  it('refuse a file that was changed after it had been applied', async () => {
    await migrate(connection, { folder })
    const path = join(sql, '0001_facts.sql')
    await writeFile(path, `${await readFile(path, 'utf8')}\n-- changed`)
    const error = await refusal()
    expect(error).to.be.instanceOf(MigrationRefused)
    expect(String(error)).to.contain('0001_facts.sql has changed since it was applied; use an empty database')
  })

  it('refuse tables that a newer program has made', async () => {
    await writeFile(join(sql, '9002_newer.sql'), 'CREATE TABLE IF NOT EXISTS newer (n UInt8) ENGINE = Memory;\n')
    await migrate(connection, { folder })
    await rm(join(sql, '9002_newer.sql'))
    expect(String(await refusal())).to.contain('does not know 9002_newer.sql; use the program that made them')
  })

  it('refuse a file that comes before one that is applied', async () => {
    await writeFile(join(sql, '9003_late.sql'), 'CREATE TABLE IF NOT EXISTS late (n UInt8) ENGINE = Memory;\n')
    await migrate(connection, { folder })
    await writeFile(join(sql, '9002_between.sql'), 'CREATE TABLE IF NOT EXISTS between (n UInt8) ENGINE = Memory;\n')
    expect(String(await refusal())).to.contain('9002_between.sql comes before 9003_late.sql')
  })

  it('release the lock and leave no trace if a statement fails, and continue from there', async () => {
    await writeFile(join(sql, '9002_broken.sql'), 'CREATE TABLE broken (n NoSuchType) ENGINE = Memory;\n')
    const error = await refusal()
    expect(String(error)).to.contain('NoSuchType')
    expect(await tables()).not.to.include('schema_migrations_lock')
    await writeFile(join(sql, '9002_broken.sql'), 'CREATE TABLE broken (n UInt8) ENGINE = Memory;\n')
    expect(await migrate(connection, { folder })).to.deep.equal(['9002_broken.sql'])
  })

  it('wait for the one who holds the lock', async () => {
    await holdLock(Date.now())
    const waiting = migrate(shared(), { folder })
    await until(async () => (await tables()).includes('schema_migrations'))
    expect(await tables()).not.to.include('visits')
    await connection.command('DROP TABLE schema_migrations_lock SYNC')
    expect(await waiting).to.deep.equal(ALL)
  })

  it('take over the lock of one who died long ago, or of a process before this one', async () => {
    await holdLock(Date.now() - 3_600_000)
    expect(await migrate(shared(), { folder })).to.deep.equal(ALL)
    await writeFile(join(sql, '9002_more.sql'), 'CREATE TABLE IF NOT EXISTS more (n UInt8) ENGINE = Memory;\n')
    await holdLock(Date.now())
    expect(await migrate(connection, { folder })).to.deep.equal(['9002_more.sql'])
  })

  it('put replicated engines and the cluster into the statements', async () => {
    const statements: string[] = []
    const recorder: FactsConnection = {
      ...connection,
      command: async (statement) => {
        statements.push(statement)
      },
      query: async () => [],
    }
    await migrate(recorder, { folder, cluster: 'main', isReplicated: true })
    const visits = statements.find((statement) => statement.includes('TABLE IF NOT EXISTS visits')) ?? ''
    expect(visits).to.contain("ON CLUSTER 'main'")
    expect(visits).to.contain('ReplicatedReplacingMergeTree(')
    expect(statements.join('\n')).not.to.contain('{{')
  })

  /** Another process takes the lock. */
  async function holdLock(atMs: number): Promise<void> {
    const comment = `another-process ${Math.floor(atMs / 1000)}`
    await connection.command(`CREATE TABLE schema_migrations_lock (nothing UInt8) ENGINE = Memory COMMENT '${comment}'`)
  }

  /** An engine that other processes use as well, as a server is. */
  function shared(): FactsConnection {
    return { ...connection, isExclusive: false }
  }

  async function tables(): Promise<readonly string[]> {
    const rows = await connection.query('SHOW TABLES', {}, { turn: 'report' })
    return (rows as readonly { readonly name: string }[]).map((row) => row.name)
  }
})
