/** Real facts for tests: chDB in a temporary folder, with all tables. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb, type ChdbOptions } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'

export interface TestFacts extends Facts {
  /** For statements that the port has no verb for. */
  readonly connection: FactsConnection
}

/** More than the program gives it: the engine counts what the whole process holds, and that of a test also holds what engines before it left. */
const MEMORY_BYTES = 1024 * 1024 * 1024

/** Closing the result deletes the folder. A process can have one open at a time, as with `openChdb`. */
export async function openTestFacts(options: ChdbOptions = { memoryBytes: MEMORY_BYTES }): Promise<TestFacts> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-facts-'))
  const connection = await openChdb(folder, options)
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  return {
    ...facts,
    connection,
    async close() {
      await facts.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
