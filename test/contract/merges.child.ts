/** Has an engine of its own merge many installs, as it would by itself, and prints its parts as JSON. Its folder is the first argument. */

import { setTimeout as wait } from 'node:timers/promises'

import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'

const PARTS = 20
const ROWS_OF_A_PART = 20_000
const IDS = ['event', 'installation', 'visit'].map((name) => `repeat(hex(sipHash128('${name}', n)), 5)`)
const REPORT = { turn: 'report' } as const
/** The engine begins a merge again if other work of the process took its memory; one that never fits would be begun for ever. */
const TRIES = 5
const PAUSE_MS = 2_000

async function untilItFits(statement: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await connection.command(statement)
    } catch (error) {
      if (tries === TRIES) throw error
      await wait(PAUSE_MS)
    }
  }
}

const connection = await openChdb(process.argv[2] ?? '')
try {
  await migrate(connection)
  await connection.command('SYSTEM STOP MERGES installs')
  for (let part = 0; part < PARTS; part++)
    await untilItFits(`
      INSERT INTO installs (website, event_id, installation_id, visit_id, received_at, retention_days, row_version)
      SELECT 'acme', ${IDS.join(', ')}, now64(3), 90, 1
      FROM (SELECT number + ${part * ROWS_OF_A_PART} AS n FROM numbers(${ROWS_OF_A_PART}))
      SETTINGS max_block_size = 5000, max_threads = 1`)
  await connection.command('SYSTEM START MERGES installs')
  await untilItFits('OPTIMIZE TABLE installs FINAL')
  const columns = 'toUInt32(rows) AS rows, toUInt8(length(projections)) AS projections'
  const parts = `SELECT ${columns} FROM system.parts WHERE active AND table = 'installs'`
  console.log(JSON.stringify({ inserted: PARTS * ROWS_OF_A_PART, parts: await connection.query(parts, {}, REPORT) }))
} finally {
  await connection.close()
}
