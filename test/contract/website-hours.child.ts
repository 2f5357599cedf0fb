/** Has an engine of its own, with the memory of the embedded one, merge figures of many hours, and prints its parts as JSON. Its folder is the first argument. */

import { DIMENSIONS, MAX_CELLS } from '../../domain/figures/cells.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'

/** What the embedded engine has, less what the rest of its process holds: the engine counts that, too. */
const MEMORY_BYTES = (512 - 112) * 1024 * 1024
/** Of parts that are merged: as many as 30 days have. */
const PARTS = 4
const HOURS = 180
/** Counted anew, rows are merged with those they replace, while the engine still holds memory of the merges before. */
const ROUNDS = 2
const CELLS = `arrayMap(place -> (concat('value-', toString(place)), 1, 1, 1, 1, 1, 1, 1), range(${MAX_CELLS}))`

const connection = await openChdb(process.argv[2] ?? '', { memoryBytes: MEMORY_BYTES })
try {
  await migrate(connection)
  for (let round = 1; round <= ROUNDS; round++) {
    for (let part = 0; part < PARTS; part++)
      await connection.command(`
        INSERT INTO website_hours (website, hour, retention_days, row_version, ${DIMENSIONS.join(', ')})
        SELECT 'acme', toDateTime64('2026-03-01 00:00:00', 3, 'UTC') + INTERVAL number + ${part * HOURS} HOUR, 395, ${round},
          ${DIMENSIONS.map(() => CELLS).join(', ')}
        FROM numbers(${HOURS}) SETTINGS max_block_size = 16, min_insert_block_size_rows = 16, max_threads = 1`)
    await connection.command('OPTIMIZE TABLE website_hours FINAL')
  }
  const parts = `SELECT toUInt32(rows) AS rows FROM system.parts WHERE active AND table = 'website_hours'`
  const merged = await connection.query(parts, {}, { turn: 'report' })
  console.log(JSON.stringify({ inserted: PARTS * HOURS, parts: merged }))
} finally {
  await connection.close()
}
