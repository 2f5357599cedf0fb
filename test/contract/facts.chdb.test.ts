/** Facts on chDB: the contract, and what only this way to connect has to show. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

import { expect } from 'chai'

import { newestInstalls } from '../../bin/tools/lists/newest-installs.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { TABLE_COLUMNS } from '../../ports/facts/columns.ts'
import type { Columns, ColumnType } from '../../ports/facts/column-types.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection, InsertStatement } from '../../ports/facts/engine/connection.ts'
import { localBackend } from '../../bin/tools/backend.ts'
import { insertError } from '../../ports/facts/engine/engine-codes.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { FACT_TABLES } from '../../ports/facts/columns.ts'
import { FactsUnavailable, RowsRefused } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import type { InstallFilters } from '../../ports/facts/pages/installs.ts'
import { QUERIES } from '../../ports/facts/queries.ts'
import { changedSettings, EngineUnfit, requireEveryInsert, selfTest } from '../../ports/facts/engine/self-test.ts'
import { mayRaisePriority } from '../../ports/facts/engine/thread-priority.ts'
import { Turns } from '../../ports/facts/engine/turns.ts'
import {
  activationRecord,
  activityRecord,
  AROUND,
  decisionRecord,
  installRecord,
  requestRecord,
  SAMPLE_MS,
  store,
  unique,
  visitRecord,
} from './fact-samples.ts'
import { factsContract } from './facts.contract.ts'
import { logsContract } from './logs.contract.ts'
import { streamsContract } from './streams.contract.ts'

const CHILD = fileURLToPath(new URL('./facts-child.ts', import.meta.url))

interface Started {
  readonly connection: FactsConnection
  readonly facts: Facts
}

const PROGRESS_ROW = {
  organization: 'a',
  stream: 'default/a',
  seen_at: SAMPLE_MS,
  state: '',
  behind: 0,
  oldest_at: null,
  delivered_at: null,
  failing_since: null,
  last_error: '',
  delivered: 0,
  dropped: 0,
  progress: '',
  row_version: 1,
}

const ENGINE_TYPES: { readonly [T in ColumnType]: RegExp } = {
  text: /^(LowCardinality\(String\)|String)$/,
  texts: /^Array\(String\)$/,
  flag: /^Bool$/,
  uint16: /^UInt16$/,
  uint32: /^UInt32$/,
  uint64: /^UInt64$/,
  version: /^UInt64$/,
  uint64s: /^Array\(UInt64\)$/,
  float: /^Float64$/,
  time: /^DateTime64\(3, 'UTC'\)$/,
  'nullable flag': /^Nullable\(Bool\)$/,
  'nullable time': /^Nullable\(DateTime64\(3, 'UTC'\)\)$/,
  cells: /^Array\(Tuple\(String(, UInt32){7}\)\)$/,
  effect: /^Enum8\('activated' = 1, 'revoked' = 2\)$/,
}

async function start(folder: string): Promise<Started> {
  const connection = await openChdb(folder)
  await migrate(connection)
  return { connection, facts: clickhouseFacts(connection, { nowMs: Date.now }) }
}

factsContract('chDB', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'whence-facts-'))
  let { facts, connection } = await start(folder)
  return {
    get facts() {
      return facts
    },
    reopen: async () => {
      await facts.close()
      ;({ facts, connection } = await start(folder))
    },
    merge: (table) => connection.command(`OPTIMIZE TABLE ${table} FINAL`),
    close: async () => {
      await facts.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('Facts on chDB', () => {
  let folder: string
  let connection: FactsConnection
  let facts: Facts

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-facts-'))
    ;({ connection, facts } = await start(folder))
  })
  after(async () => {
    await facts.close()
    await rm(folder, { recursive: true })
  })

  describe('show of Logs', () => logsContract(() => facts))
  describe('show of the backlog of log streams, which', () => streamsContract(() => facts))

  it('give a tool the time of a report for every statement, and let pages and requests go first', async () => {
    const sent: { readonly turn: string; readonly seconds: string | undefined }[] = []
    const watched: FactsConnection = {
      ...connection,
      query: async (statement, parameters, options) => {
        sent.push({ turn: options.turn, seconds: / max_execution_time = (\d+)/.exec(statement)?.[1] })
        return connection.query(statement, parameters, options)
      },
    }
    const read = clickhouseFacts(watched, { nowMs: Date.now })
    const tool = localBackend({ facts: read, eventLog: undefined as never, isWriterRunning: false })
    for (const caller of [read, tool]) {
      await caller.run('counts', {})
      await caller.run('receiptFacts', { organization: 'acme', website: 'a', visit_ids: ['v'] })
      await caller.run('rolledCells', {
        organizations: ['acme'],
        websites: ['a'],
        since_ms: 0,
        until_ms: 1,
        column: 'source',
      })
      const isTool = caller === tool
      expect(sent.slice(-3)).to.deep.equal([
        { turn: 'report', seconds: '30' },
        { turn: isTool ? 'report' : 'look-up', seconds: isTool ? '30' : '2' },
        { turn: isTool ? 'report' : 'page', seconds: isTool ? '30' : '2' },
      ])
    }
  })

  it('are read and written in sequence on replicas where streams or decisions depend on it, and nowhere else', async () => {
    const sent: string[] = []
    const replicated: FactsConnection = {
      ...connection,
      layout: { isReplicated: true },
      query: async (statement, ...more) => {
        sent.push(statement)
        return statement.includes('select_sequential_consistency') ? [] : connection.query(statement, ...more)
      },
      insert: async ({ table, settings }) => void sent.push(`${table} ${JSON.stringify(settings)}`),
    }
    const others = clickhouseFacts(replicated, { nowMs: Date.now })
    await others.run('openLanes', { organization: 'a', lanes: 0 })
    expect(sent.at(-1)).to.match(/SETTINGS .*select_sequential_consistency = 1$/s)
    const events = { organizations: ['acme'], websites: ['a'], event_ids: ['e'] }
    const visits = { organizations: ['acme'], websites: ['a'], visit_ids: ['v'] }
    const installations = { organizations: ['acme'], websites: ['a'], installation_ids: ['i'], since_ms: 0 }
    const page = { since_ms: 0, limit: 1, after_organization: '', after_website: '' }
    for (const ask of [
      () => others.run('receiptFacts', { organization: 'acme', website: 'a', visit_ids: ['v'] }),
      () => others.run('receiptHistory', visits),
      () => others.run('previousVisits', visits),
      () => others.run('activationsAfter', { ...page, after_visit_id: '', after_effect: 0 }),
      () => others.run('installsAfter', { ...page, after_event_id: '' }),
      () => others.run('firstInstalls', events),
      () => others.run('decisionsByEvents', events),
      () => others.run('installationVisits', installations),
      () => others.run('installationMatches', { ...installations, at_ms: [0], margin_ms: 0 }),
    ]) {
      await ask()
      expect(sent.at(-1)).to.match(/SETTINGS .*select_sequential_consistency = 1$/s)
    }
    for (const ask of [() => others.run('counts', {}), () => others.run('dispatchedJobs', events)]) {
      await ask()
      expect(sent.at(-1)).not.to.contain('sequential')
    }
    await others.insert('stream_progress', [PROGRESS_ROW])
    expect(sent.at(-1)).to.match(/^stream_progress .*"insert_quorum":"auto","insert_quorum_parallel":0/)
    const pending = installRecord({ resolution: 'pending' })
    sent.length = 0
    await store(others, [visitRecord(), activationRecord({ website: 'a' }), pending, decisionRecord(pending)])
    for (const table of ['visits', 'activations', 'installs', 'install_decisions']) {
      const inserts = sent.filter((statement) => statement.startsWith(`${table} `))
      expect(inserts, table).to.have.length.greaterThan(0)
      for (const insert of inserts) expect(insert).to.contain('"insert_quorum":"auto","insert_quorum_parallel":0')
    }
    await store(others, [activityRecord()])
    expect(sent.at(-1))
      .to.match(/^activity /)
      .and.not.contain('quorum')
  })

  it('writes the very columns that the tables have', async () => {
    const rows = (await connection.query(
      'SELECT table, name, type FROM system.columns WHERE database = currentDatabase() ORDER BY position LIMIT 1000',
      {},
      { turn: 'report' },
    )) as readonly { readonly table: string; readonly name: string; readonly type: string }[]
    for (const table of FACT_TABLES) {
      const stored = rows.filter((row) => row.table === table)
      const columns: Columns = TABLE_COLUMNS[table].columns
      expect(
        stored.map((row) => row.name),
        table,
      ).to.deep.equal(Object.keys(columns))
      for (const { name, type } of stored)
        expect(type, `${table}.${name}`).to.match(ENGINE_TYPES[columns[name] ?? 'text'])
    }
  })

  it('gives way to requests with all that no request waits for, if it may', async () => {
    const mayYield = mayRaisePriority()
    const sent: string[] = []
    const listening: FactsConnection = {
      ...connection,
      query: (statement, ...more) => {
        sent.push(statement)
        return connection.query(statement, ...more)
      },
    }
    const others = clickhouseFacts(listening, { nowMs: Date.now })
    const isYielding = (): boolean => sent.at(-1)?.includes('os_thread_priority = 5') ?? false
    await others.run('installByEvent', { organization: 'acme', website: 'a', event_id: 'b' })
    expect(isYielding(), 'a look-up').to.equal(false)
    await others.run('dirtyHours', { until_ms: 0, limit: 1 })
    expect(isYielding(), 'a report').to.equal(mayYield)
    await others.run('rolledCells', {
      organizations: ['acme'],
      websites: ['a'],
      since_ms: 0,
      until_ms: 1,
      column: 'source',
    })
    expect(isYielding(), 'a page').to.equal(mayYield)
  })

  it('goes on in a user namespace, whose root may lower a priority but not raise it again', async function () {
    if (spawnSync('unshare', ['-r', 'true']).status !== 0) {
      if (process.env['CI'] === 'true') throw new Error('unshare makes no user namespace here')
      return this.skip()
    }
    const words = ['-r', process.execPath, CHILD, join(folder, 'apart')]
    const child = spawn('unshare', words, { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.on('error', () => undefined)
    // Enough inserts for a merge.
    child.stdin.end('3\n'.repeat(20))
    const output = await text(child.stdout)
    expect(
      output
        .trim()
        .split('\n')
        .filter((line) => line === 'inserted 3'),
    ).to.have.lengthOf(20)
  })

  it('lists a value that brought an install, however many values have more visits', async () => {
    const busy = `arrayMap(place -> (concat('busy-', toString(place)), 2, 0, 0, 0, 0, 0, 0), range(10_000))`
    await connection.command(`
      INSERT INTO website_hours (organization, website, hour, retention_days, row_version, source)
      SELECT 'many', 'many-values', toDateTime64('2026-03-01 00:00:00', 3, 'UTC'), 400, 1,
        arrayPushBack(${busy}, ('rare', 1, 1, 1, 1, 1, 0, 1))`)
    const period = { organizations: ['many'], websites: ['many-values'], column: 'source' } as const
    const [first] = await facts.run('rolledCells', {
      ...period,
      since_ms: Date.UTC(2026, 2, 1),
      until_ms: Date.UTC(2026, 2, 1, 1),
    })
    expect(first).to.deep.equal({ value: 'rare', counts: [1, 1, 1, 1, 1, 0, 1] })
  })

  it('leaves no setting behind in the session', async () => {
    const before = await changedSettings(connection)
    const record = installRecord({ website: unique('site') })
    await store(facts, [record])
    await facts.run('installByEvent', {
      organization: 'acme',
      website: record.install.website,
      event_id: record.install.eventId,
    })
    await facts.run('counts', {})
    expect(await changedSettings(connection)).to.deep.equal(before)
  })

  it('stores every insert even in a session that deduplicates and inserts asynchronously', async () => {
    await connection.command("SET insert_deduplication_token = 'always the same', async_insert = 1")
    try {
      const website = unique('site')
      await store(facts, [visitRecord({ website })])
      await store(facts, [visitRecord({ website })])
      const logs = await facts.run('listLogs', { ...AROUND, website })
      expect(logs).to.have.lengthOf(2)
    } finally {
      await connection.command("SET insert_deduplication_token = '', async_insert = DEFAULT")
    }
  })

  it('does not start on an engine with settings it does not know', async () => {
    await connection.command('SET max_block_size = 7')
    try {
      const error = await selfTest(readingWhereItWrites(connection), {}).catch((caught: unknown) => caught)
      expect(error).to.be.instanceOf(EngineUnfit)
    } finally {
      await connection.command('SET max_block_size = DEFAULT')
    }
  })

  it('detects an engine that drops what looks like a repeat', async () => {
    await requireEveryInsert(connection)
    let inserts = 0
    const dropping = {
      ...connection,
      insert: async (rows: InsertStatement) => (inserts++ === 0 ? connection.insert(rows) : undefined),
    }
    const error = await requireEveryInsert(dropping).catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(EngineUnfit)
    expect(String(error)).to.contain('gave 1 rows instead of 2')
  })

  it('keeps what the engine says of a bad row out of the error', async () => {
    const body = [Buffer.from('canary-website\tcanary-status\n')]
    const insert = { table: 'request_logs', columns: ['website', 'status'], settings: {}, body }
    const error: unknown = await connection.insert(insert).catch((caught: unknown) => caught)
    expect(String(error)).to.contain('canary')
    const known = insertError(error)
    expect(known).to.be.instanceOf(RowsRefused)
    expect(`${known.message}${known.stack}${JSON.stringify(known)}${String(known.cause)}`).not.to.contain('canary')
  })

  it('takes no rows from the standard input of the process', async () => {
    const elsewhere = join(folder, 'piped')
    const child = spawn(process.execPath, [CHILD, elsewhere], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.on('error', () => undefined)
    // Both are there before the engine is: rows that are none, then the child's own command.
    child.stdin.write('0\n'.repeat(1_000))
    child.stdin.end('3\n')
    const output = await text(child.stdout)
    expect(output.trim().split('\n').at(-1)).to.equal('inserted 3')
  })

  it('leaves no file of an insert behind, accepted or refused', async () => {
    await store(facts, [activityRecord()])
    const refused = { table: 'activity', columns: ['noticed_at'], settings: {}, body: [Buffer.from('x\n')] }
    await connection.insert(refused).catch(() => undefined)
    expect(await readdir(join(folder, 'inbox'))).to.deep.equal([])
  })

  it('finds visits, installs and installations without reading the table', async () => {
    const visitId = "lower(leftPad(hex(number * 7919), 32, '0'))"
    // All rows in one statement would need most of the engine's memory.
    for (let first = 0; first < 200_000; first += 50_000) {
      const numbers = `numbers(${first}, 50000)`
      await connection.command(`INSERT INTO visits (organization, website, visit_id, issued_at, retention_days)
        SELECT 'acme', 'many', ${visitId}, now64(3) - number % 86400, 395 FROM ${numbers}`)
      await connection.command(`INSERT INTO installs (organization, website, event_id, installation_id, visit_id, resolution, received_at, visit_issued_at, retention_days)
        SELECT 'acme', 'many', lower(hex(cityHash64(number))), concat('installation-', toString(number)), ${visitId}, 'matched', now64(3) - number * 2, now64(3), 395
        FROM ${numbers}`)
    }
    for (const table of ['visits', 'installs']) await connection.command(`OPTIMIZE TABLE ${table} FINAL`)
    const id = (7919 * 1234).toString(16).padStart(32, '0')
    const owners = { organizations: ['acme'], websites: ['many'] }
    const plans = {
      visitsByIds: await granules('visitsByIds', { ...owners, visit_ids: [id] }),
      installByEvent: await granules('installByEvent', { organization: 'acme', website: 'many', event_id: 'abc' }),
      installationVisits: await granules('installationVisits', {
        ...owners,
        installation_ids: ['installation-77'],
        since_ms: 0,
      }),
      installationMatches: await granules('installationMatches', {
        ...owners,
        installation_ids: ['installation-77'],
        at_ms: [Date.now()],
        margin_ms: 0,
        since_ms: 0,
      }),
      firstInstalls: await granules('firstInstalls', { ...owners, event_ids: ['abc'] }),
    }
    for (const [query, { read, all }] of Object.entries(plans)) {
      expect(all, query).to.be.greaterThan(20)
      expect(read, query).to.be.at.most(2)
    }
  })

  it('finds installs of a window by their arrival, whatever else is asked of them', async () => {
    const window = {
      websites: ['many'],
      organization: 'acme',
      since_ms: Date.now() - 86_400_000,
      until_ms: Date.now(),
      limit: 200,
    }
    const filters: readonly InstallFilters[] = [
      {},
      { event_type: 'first_run' },
      { path_is: ['a'] },
      { platform_is_not: ['a', 'b'] },
      { agent_contains: ['a'] },
      { ran_by: 'agent' },
      { resolution: 'matched' },
      { resolution: 'pending' },
      { reason: 'a' },
      { selection_policy: 'handoff' },
      { visit_since_ms: 1 },
      { visit_until_ms: 1 },
      { least_visit_age_s: 60 },
      { visit_age_below_s: 60 },
    ]
    for (const filter of filters) {
      const params = { ...window, ...filter }
      const statement = `EXPLAIN projections = 1 ${QUERIES.installKeys.sql(params)}`
      const rows = (await connection.query(statement, params, { turn: 'report' })) as readonly { explain: string }[]
      const plan = rows.map(({ explain }) => explain).join('\n')
      expect(plan, JSON.stringify(filter)).to.include('ReadFromMergeTree (by_arrival)')
    }
  })

  it('deletes what is too old of every table, and nothing that is younger', async () => {
    const tables = await connection.query(
      `SELECT name, extract(create_table_query, 'TTL toDateTime\\\\((\\\\w+)\\\\)') AS time,
        extract(create_table_query, 'TTL [^)]*\\\\) \\\\+ toIntervalDay\\\\((\\\\w+)\\\\)') AS days
        , splitByString(', ', sorting_key)[1] AS key FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
      {},
      { turn: 'report' },
    )
    const kept = (tables as readonly { name: string; time: string; days: string; key: string }[]).filter(
      ({ time }) => time !== '',
    )
    expect(kept.map(({ name }) => name)).to.include.members([
      'activations',
      'activity',
      'alerts',
      'attempts',
      'counted_installs',
      'decision_replay_results',
      'decision_replays',
      'deliveries',
      'handoffs',
      'hour_marks',
      'install_decisions',
      'installs',
      'poison_records',
      'request_logs',
      'spend_imports',
      'spend_rows',
      'stream_pointers',
      'stream_progress',
      'visits',
      'webhook_attempts',
      'website_hours',
    ])
    for (const { name, time, days, key } of kept) {
      const own = days === 'retention_days'
      const age = own ? 10 : Number(days)
      const columns = `${key}, ${time}${own ? ', retention_days' : ''}`
      // A day older and a day younger than what is kept, of another key; the other columns have their defaults.
      for (const [old, many] of [
        [age + 1, 3],
        [age - 1, 2],
      ] as const)
        await connection.command(
          `INSERT INTO ${name} (${columns}) SELECT '${unique('key')}', now() - INTERVAL ${old} DAY - number${own ? `, ${age}` : ''} FROM numbers(${many})`,
        )
      await connection.command(`OPTIMIZE TABLE ${name} FINAL`)
      const within = (from: number, to: number): string =>
        `countIf(${time} BETWEEN now() - INTERVAL ${from} DAY - INTERVAL 1 HOUR AND now() - INTERVAL ${to} DAY) > 0`
      const [left] = (await connection.query(
        `SELECT ${within(age + 1, age + 1)} AS old, ${within(age - 1, age - 1)} AS young FROM ${name}`,
        {},
        { turn: 'report' },
      )) as readonly { old: number; young: number }[]
      expect([Number(left?.old), Number(left?.young)], name).to.deep.equal([0, 1])
    }
  })

  it('deletes each row at the end of its own retention', async () => {
    const website = unique('site')
    const agedMs = SAMPLE_MS - 40 * 86_400_000
    const aged = { website, receivedAtMs: agedMs }
    await store(facts, [
      requestRecord({ ...aged, logRetentionDays: 30 }),
      requestRecord({ ...aged, logRetentionDays: 90 }),
      { ...installRecord(aged), retentionDays: 30 },
      { ...installRecord(aged), retentionDays: 395 },
    ])
    for (const table of ['request_logs', 'installs']) await connection.command(`OPTIMIZE TABLE ${table} FINAL`)
    const all = { since_ms: 0, until_ms: Date.now(), limit: 10, website }
    expect(await newestInstalls(facts, all)).to.have.lengthOf(1)
    const [left, ...more] = (await facts.run('listLogs', all)).filter((row) => row.received_at_ms === agedMs)
    expect(left?.website).to.equal(website)
    expect(more).to.deep.equal([])
  })

  it('lets look-ups of requests pass statements of pages, and these pass everything else', async () => {
    const turns = new Turns()
    const order: string[] = []
    const task = (name: string) => async (): Promise<void> => {
      order.push(name)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const failing = async (): Promise<void> => {
      await task('failing')()
      throw new Error('failed')
    }
    const leaving = new AbortController()
    const settled = Promise.allSettled([
      turns.take({ turn: 'report' }, task('running')),
      turns.take({ turn: 'report' }, task('report')),
      turns.take({ turn: 'page' }, task('page')),
      turns.take({ turn: 'page', signal: AbortSignal.abort() }, task('gone')),
      turns.take({ turn: 'page', signal: leaving.signal }, task('leaving')),
      turns.take({ turn: 'look-up' }, task('look-up')),
      turns.take({ turn: 'look-up' }, failing),
    ])
    leaving.abort()
    const outcomes = await settled
    await turns.idle()
    expect(order).to.deep.equal(['running', 'look-up', 'failing', 'page', 'report'])
    const rejected = outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))
    expect(rejected).to.deep.equal([3, 4, 6])
  })

  it('rejects with FactsUnavailable once it is closed', async () => {
    const other = clickhouseFacts(
      { ...connection, query: () => Promise.reject(new Error('closed')) },
      { nowMs: Date.now },
    )
    const error = await other.run('counts', {}).catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(FactsUnavailable)
    expect(other.health().isReachable).to.equal(false)
  })

  /** Granules that a query reads after its indexes, and that its table has. */
  async function granules(
    name: 'visitsByIds' | 'installByEvent' | 'installationVisits' | 'installationMatches' | 'firstInstalls',
    params: Record<string, string | number | string[] | number[]>,
  ) {
    const statement = `EXPLAIN json = 1, indexes = 1 ${QUERIES[name].sql(params as never)}`
    const rows = (await connection.query(statement, params, { turn: 'report' })) as readonly { explain: string }[]
    const text = rows.map((row) => row.explain).join('\n')
    const counts = (field: string): readonly number[] =>
      [...text.matchAll(new RegExp(`"${field}": (\\d+)`, 'g'))].map((match) => Number(match[1]))
    return { read: Math.min(...counts('Selected Granules')), all: Math.max(...counts('Initial Granules')) }
  }
})

/** Settings belong to a session, and reads have one of their own; this lets the self-test look at the other. */
function readingWhereItWrites(connection: FactsConnection): FactsConnection {
  return {
    ...connection,
    query: async () => {
      await connection.command(`CREATE OR REPLACE TABLE seen ENGINE = Memory AS
        SELECT name, value FROM system.settings WHERE changed AND name = 'max_block_size'`)
      return connection.query('SELECT name, value FROM seen LIMIT 10', {}, { turn: 'report' })
    },
  }
}
