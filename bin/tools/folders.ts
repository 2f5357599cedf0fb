/** The stores in folders of this machine, for a tool while no service runs on them. */

import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import { complain } from '../terminal/output.ts'

interface OpenFolders {
  readonly eventLog: EventLog
  readonly facts: Facts
  readonly connection: FactsConnection
  readonly close: () => Promise<void>
}

/** @throws DataFolderInUse if a process holds the folder */
export async function openFolders(logFolder: string, factsFolder: string): Promise<OpenFolders> {
  // After a failed write, nothing in the folder can be trusted any more, and neither can this process.
  const onFatal = (error: Error): void => {
    complain(`whence: ${error.message}\n`)
    process.exit(1)
  }
  const environment = await openLmdb(logFolder, { onFatal, nowMs: Date.now })
  const connection = await openChdb(factsFolder)
  await migrate(connection)
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  const eventLog = await lmdbEventLog(environment)
  const close = async (): Promise<void> => {
    await eventLog.close()
    await facts.close()
    await environment.close()
  }
  return { eventLog, facts, connection, close }
}
