/** `whence migrate`: brings ClickHouse's tables up to date and says what was applied. */

import { openChdb } from '../../ports/facts/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { lockDataFolder } from '../../ports/lmdb/folder-lock.ts'
import type { RunOutcome } from '../../runtime/settings.ts'

export async function migrateTool({ settings }: RunOutcome): Promise<number> {
  const engine = settings.facts
  if (engine === null || engine.scheme !== 'chdb') throw new Error('this version migrates chdb: folders only')
  // chDB lets one process open a folder; a running service has migrated it already.
  const lock = await lockDataFolder(`${settings.data}/lmdb`)
  try {
    const connection = await openChdb(engine.location)
    const applied = await migrate(connection)
    await connection.close()
    process.stdout.write(applied.length === 0 ? 'Everything is up to date.\n' : `Applied:\n  ${applied.join('\n  ')}\n`)
  } finally {
    await lock.release()
  }
  return 0
}
