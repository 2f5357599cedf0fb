/**
 * A facts-writer that never commits: `node facts-writer-child.ts LOG_FOLDER FACTS_FOLDER`. It says `inserted` when the
 * rows of its first batch are stored, and then waits to be killed.
 */

import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { startFactsWriter } from '../../../delivery/facts-writer/facts-writer.ts'
import { lmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../../ports/facts/clickhouse.ts'
import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import { openLmdb } from '../../../ports/shared/lmdb/environment.ts'

const [logFolder = '', factsFolder = ''] = process.argv.slice(2)
const onFatal = (error: Error): void => {
  throw error
}
const environment = await openLmdb(logFolder, { nowMs: Date.now, onFatal, minFreeBytes: 0 })
const eventLog = await lmdbEventLog(environment)
const facts = clickhouseFacts(await openChdb(factsFolder), { nowMs: Date.now })
const logger = { ...SILENT_LOGGER, info: console.error, warn: console.error, error: console.error }
await startFactsWriter({
  eventLog,
  logger,
  nowMs: Date.now,
  facts: {
    ...facts,
    startBatch: () => {
      const batch = facts.startBatch()
      return {
        chars: 0,
        add: (table, row) => batch.add(table, row),
        insert: async () => {
          await batch.insert()
          console.log('inserted')
          await new Promise(() => setInterval(() => undefined, 60_000))
        },
      }
    },
  },
})
