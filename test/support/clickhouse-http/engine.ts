/** Runs statements on chDB, one at a time and each in a session of its own, so that no setting outlives its statement. */

import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { drainPending, Session } from 'chdb'
import type { ChdbResult } from 'chdb'

import { createTurns } from '../../../ports/facts/engine/turns.ts'
import type { Statement } from './request.ts'

export interface Answer {
  readonly bytes: Uint8Array
  readonly readRows: number
  readonly readBytes: number
  readonly writtenRows: number
  readonly elapsedS: number
}

export interface Engine {
  readonly version: string
  /** Rejects with the engine's own error. */
  run(statement: Statement): Promise<Answer>
  /** Resolves when the last statement has ended and the folder is free for another process. */
  close(): Promise<void>
}

const MIB = 1024 * 1024
/** For a machine that it shares: memory as its allocator counts it, small caches, few threads in the background. */
const ARGUMENTS = {
  max_server_memory_usage: 1024 * MIB,
  memory_worker_use_cgroup: 0,
  mark_cache_size: 32 * MIB,
  index_mark_cache_size: 8 * MIB,
  primary_index_cache_size: 32 * MIB,
  query_condition_cache_size: 8 * MIB,
  compiled_expression_cache_size: 8 * MIB,
}

const IS_INSERT = /^\s*INSERT\b/i

/** `database` is created if it is missing. */
export async function startEngine(folder: string, database: string): Promise<Engine> {
  const path = resolve(folder)
  const inbox = join(path, 'inbox')
  await mkdir(inbox, { recursive: true })
  // It holds the engine open while sessions come and go.
  const anchor = new Session(path, {
    connectionArgs: Object.entries(ARGUMENTS).map(([name, value]) => `--${name}=${value}`),
  })
  // The engine keeps the folder to itself, so this is what a killed process left of an insert.
  for (const name of await readdir(inbox)) await rm(join(inbox, name))
  await anchor.queryAsync(`CREATE DATABASE IF NOT EXISTS ${quoteName(database)}`)
  const version = (await anchor.queryAsync('SELECT version()', { format: 'TabSeparatedRaw' })).text().trim()
  const turns = createTurns()
  let insertedRows = await countInserted(anchor)

  async function run(statement: Statement): Promise<Answer> {
    const session = new Session(path)
    try {
      await session.queryAsync(preamble(statement, database))
      const result = await (statement.rows === null ? query(session, statement) : insert(session, inbox, statement))
      const before = insertedRows
      if (IS_INSERT.test(statement.text)) insertedRows = await countInserted(anchor)
      return {
        bytes: result.bytes(),
        readRows: result.rowsRead,
        readBytes: result.bytesRead,
        writtenRows: insertedRows - before,
        elapsedS: result.elapsed,
      }
    } finally {
      session.close()
    }
  }

  return {
    version,
    run: (statement) => turns.take({ turn: 'report' }, () => run(statement)),
    close: async () => {
      await turns.idle()
      anchor.close()
      await drainPending()
    },
  }
}

/** One text, because every call of the engine costs a millisecond. */
function preamble(statement: Statement, database: string): string {
  const values = [
    ...statement.settings,
    ...statement.parameters,
    ...(statement.rows === null ? [] : [['use_structure_from_insertion_table_in_table_functions', '1'] as const]),
    // Last, because it locks itself; 2 lets statements bring settings of their own.
    ...(statement.isReadOnly ? [['readonly', '2'] as const] : []),
  ]
  const statements = [
    `USE ${quoteName(statement.database ?? database)}`,
    ...values.map(([name, value]) => `SET ${name} = ${quoteText(value)}`),
  ]
  return statements.join(';')
}

function query(session: Session, { text, format }: Statement): Promise<ChdbResult> {
  return session.queryAsync(text, { format })
}

/** Rows go through a file, because they may be any bytes, and because chDB reads rows in a statement's text slowly. */
async function insert(session: Session, inbox: string, { text, rows }: Statement): Promise<ChdbResult> {
  const path = join(inbox, randomUUID())
  await writeFile(path, rows?.bytes ?? '', { mode: 0o600 })
  try {
    return await session.queryAsync(`${text} SELECT * FROM file(${quoteText(path)}, ${quoteText(rows?.format ?? '')})`)
  } finally {
    await rm(path, { force: true })
  }
}

/** Rows that inserts have written since the start; statements run alone, so the difference is the last one's. */
async function countInserted(session: Session): Promise<number> {
  const asked = "SELECT sum(value) FROM system.events WHERE event = 'InsertedRows'"
  return Number((await session.queryAsync(asked, { format: 'TabSeparated' })).text())
}

function quoteText(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`
}

function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
