/** Connects to ClickHouse inside this process: chDB on a folder that only this process has open. */

import { randomUUID } from 'node:crypto'
import { open, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { createClient } from '@clickhouse/client'
import type { ClickHouseClient, ClickHouseClientConfigOptions } from '@clickhouse/client'

import { makePrivateFolder } from '../../shared/folders.ts'
import { settingsClause } from './connection.ts'
import type { QueryParameters } from '../query-rows.ts'
import type { EngineLines, FactsConnection, InsertStatement } from './connection.ts'
import { readsOfLines } from './read-rows.ts'
import { selfTest } from './self-test.ts'
import { mayRaisePriority } from './thread-priority.ts'
import { Turns } from './turns.ts'

export interface ChdbOptions {
  /** Most memory the engine may allocate for itself, in bytes. */
  readonly memoryBytes?: number
}

const MIB = 1024 * 1024
/** In the engine's folder: whom it lets in, which is this process, and with which settings. */
const PROFILE_FILE = 'profile.xml'
const DEFAULT_MEMORY_BYTES = 512 * MIB
/** Inserts and commands follow each other in their order. */
const WRITE = { turn: 'report' } as const

/**
 * Opens the engine on `folder` (made if absent). There are two connections, because each runs one statement at a time:
 * inserts use one, everything with parameters the other (the engine mixes up parameters of statements that run at the
 * same moment, so more connections would gain nothing). Rejects if chDB is not installed, if this process has another
 * folder open, and with `EngineUnfit`.
 */
export async function openChdb(folder: string, options: ChdbOptions = {}): Promise<FactsConnection> {
  const path = resolve(folder)
  const inbox = join(path, 'inbox')
  makePrivateFolder(path)
  makePrivateFolder(inbox)
  const isYielding = mayRaisePriority()
  const yielding = isYielding ? YIELDING : {}
  const engine = await startEngine(path, options.memoryBytes ?? DEFAULT_MEMORY_BYTES, isYielding)
  const writes = new Turns()
  const reads = new Turns()
  const copies = new Turns()
  // The next statement need not wait for the rows to be read.
  const lines: EngineLines = (statement, parameters, options) =>
    reads.take(options, () => selectInProcess(engine.reader, statement, parameters))
  const connection: FactsConnection = {
    kind: 'chdb',
    isExclusive: true,
    yielding,
    command: (statement) => writes.take(WRITE, () => runStatement(engine.writer, statement)),
    lines,
    ...readsOfLines(lines),
    insert: (insert) => {
      const settings = { ...insert.settings, ...FILE_SETTINGS, ...yielding }
      const file = join(inbox, `${randomUUID()}.tsv`)
      return writes.take(WRITE, () => insertFromFile(engine.writer, file, { ...insert, settings }))
    },
    copies: {
      write: (copy) => copies.take(WRITE, () => engine.copy(`BACKUP DATABASE default TO ${fileAt(copy)}`)),
      read: (copy) => copies.take(WRITE, () => engine.copy(`RESTORE DATABASE default FROM ${fileAt(copy)}`)),
    },
    close: async () => {
      await Promise.all([writes.idle(), reads.idle(), copies.idle()])
      await engine.close()
    },
  }
  try {
    // The engine locks the folder, so these files are left over from an insert that a crash cut short; the event log has all its
    // entries.
    for (const name of await readdir(inbox)) await rm(join(inbox, name))
    await selfTest(connection, ENGINE_DEFAULTS)
  } catch (error) {
    await connection.close()
    throw error
  }
  return connection
}

/**
 * Settings that merges go by, too: no statement brings them any. A merge of installs makes their projections anew and first gathers so many
 * rows for each; with the engine's own million and 256 MiB, one of a million installs needed 330 MiB, failed beside others in 512 MiB, and began again
 * for ever, while statements failed for want of memory.
 */
const PROFILE = { min_insert_block_size_rows: '65536', min_insert_block_size_bytes: `${16 * MIB}` }
/** Settings of the session that are not ClickHouse's: what chDB itself sets, and ours. */
const ENGINE_DEFAULTS: Readonly<Record<string, string>> = {
  ...PROFILE,
  allow_introspection_functions: '1',
  implicit_select: '1',
  output_format_arrow_use_native_writer: '0',
  serialize_query_plan: '0',
  storage_file_read_method: 'mmap',
}

type ClientConnection = NonNullable<ClickHouseClientConfigOptions['connection']>

interface Engine {
  readonly writer: ClickHouseClient
  readonly reader: ClickHouseClient
  /** Runs a statement on a connection of its own, which inserts and queries do not wait for. */
  copy(statement: string): Promise<void>
  close(): Promise<void>
}

/** chDB is an optional dependency of some hundred megabytes, so it is loaded only if it is used. */
async function startEngine(path: string, memoryBytes: number, isYielding: boolean): Promise<Engine> {
  const { Session, drainPending } = await import('chdb')
  const { createChdbConnection } = await import('chdb/connection')
  const profile = join(path, PROFILE_FILE)
  await writeFile(profile, profileText(), { mode: 0o600 })
  // Only the first connection to a folder reads server settings; the clients' connections then share its engine.
  const anchor = new Session(path, { connectionArgs: engineArguments({ memoryBytes, isYielding, profile }) })
  // The two packages carry one interface in two copies; the compiler treats their private fields as different.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- two copies of one interface
  const connect = (): ClientConnection => createChdbConnection({ path }) as unknown as ClientConnection
  const writer = createClient({ connection: connect() })
  const reader = createClient({ connection: connect() })
  return {
    writer,
    reader,
    copy: async (statement) => {
      const client = createClient({ connection: connect() })
      try {
        await runStatement(client, statement)
      } finally {
        await client.close()
      }
    },
    close: async () => {
      await Promise.all([writer.close(), reader.close()])
      anchor.close()
      // A connection closes a moment after its last statement; until then no other folder can be opened.
      await drainPending()
    },
  }
}

interface EngineShare {
  readonly memoryBytes: number
  readonly isYielding: boolean
  /** The file that `profileText` is in. */
  readonly profile: string
}

/** The engine's usual user, which needs no password because nobody else can reach it, with `PROFILE`. */
function profileText(): string {
  const settings = Object.entries(PROFILE).map(([name, value]) => `<${name}>${value}</${name}>`)
  return `<clickhouse>
  <profiles><default>${settings.join('')}</default></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
  </default></users>
</clickhouse>
`
}

/**
 * The engine sizes its caches for a machine of its own, but here it shares a process. Its memory is what its own
 * allocator handed out (a cgroup's figure would include the rest of the process), and merges yield to requests.
 */
function engineArguments({ memoryBytes, isYielding, profile }: EngineShare): readonly string[] {
  const settings = {
    // The engine reads users from a file only if it also has a configuration file.
    'config-file': profile,
    users_config: profile,
    max_server_memory_usage: memoryBytes,
    memory_worker_use_cgroup: 0,
    // No merge begins while others hold this much; the engine would allow them half of the machine's memory, and statements fail.
    merges_mutations_memory_usage_soft_limit: Math.floor(memoryBytes / 4),
    mark_cache_size: 32 * MIB,
    index_mark_cache_size: 8 * MIB,
    primary_index_cache_size: 32 * MIB,
    query_condition_cache_size: 8 * MIB,
    compiled_expression_cache_size: 8 * MIB,
    ...(isYielding ? { os_threads_nice_value_merge_mutate: 10 } : {}),
    // Otherwise up to 128 threads at once delete the parts that merges left behind, every few seconds, at the priority of requests.
    max_parts_cleaning_thread_pool_size: 1,
    // Only this program gives the engine statements.
    'backups.allowed_path': '/',
  }
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
}

function fileAt(path: string): string {
  return `File('${resolve(path).replaceAll('\\', '\\\\').replaceAll("'", "''")}')`
}

async function runStatement(client: ClickHouseClient, statement: string): Promise<void> {
  await client.command({ query: statement })
}

async function selectInProcess(
  client: ClickHouseClient,
  statement: string,
  parameters: QueryParameters,
): Promise<Buffer> {
  const { stream } = await client.exec({ query: `${statement} FORMAT JSONEachRow`, query_params: { ...parameters } })
  const pieces: Buffer[] = []
  for await (const piece of stream) if (Buffer.isBuffer(piece)) pieces.push(piece)
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}

/**
 * Rows reach the engine through a file and a SELECT. Rows in the statement's own text cost twice the work, because the
 * engine tokenises that text first. And after either that or FROM INFILE, the engine reads on from this process's
 * standard input and inserts what it finds there.
 */
async function insertFromFile(client: ClickHouseClient, path: string, insert: InsertStatement): Promise<void> {
  try {
    await writeWhole(path, insert.body)
    const head = `INSERT INTO ${insert.table} (${insert.columns.join(', ')})`
    const rows = `SELECT * FROM file('${path.replaceAll("'", "''")}', 'TabSeparated')`
    await client.command({ query: `${head} ${rows} ${settingsClause(insert.settings)}` })
  } finally {
    await rm(path, { force: true })
  }
}

/** All but look-ups yields to requests, but keeps a quarter of a contended core. */
const YIELDING = { os_thread_priority: 5 }
/** The file's columns are those of the statement, not inferred from the text. */
const FILE_SETTINGS = { use_structure_from_insertion_table_in_table_functions: 1 }

async function writeWhole(path: string, body: readonly Uint8Array[]): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    const { bytesWritten } = await file.writev([...body])
    const bytes = body.reduce((sum, piece) => sum + piece.length, 0)
    // A disk that fills up may take only the first rows, and the rest would be lost silently.
    if (bytesWritten !== bytes) throw new Error('the rows could not be written completely')
  } finally {
    await file.close()
  }
}
