/** Facts on chDB: the contract, and what only this way to connect has to show. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/connect-chdb.ts'
import type { FactsConnection } from '../../ports/facts/connection.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { factsContract } from './facts.contract.ts'
import type { FactsHarness } from './facts.contract.ts'

factsContract('chDB', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'whence-facts-'))
  let { facts, connection } = await start(folder)
  const harness: FactsHarness = {
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
  return harness
})

async function start(folder: string) {
  const connection: FactsConnection = await openChdb(folder)
  await migrate(connection)
  return { connection, facts: clickhouseFacts(connection, { nowMs: Date.now }) }
}
