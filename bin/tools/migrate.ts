/** `whence migrate`: brings ClickHouse's tables up to date and says what was applied. */

import { openChdb } from '../../ports/facts/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { DataFolderInUse, lockDataFolder } from '../../ports/lmdb/folder-lock.ts'
import type { RunOutcome } from '../../runtime/settings.ts'

export async function migrateTool({ settings }: RunOutcome): Promise<number> {
  const engine = settings.facts
  if (engine === null) throw new Error('no engine is set')
  // One process may open chDB's folder. A running service has migrated it when it started.
  const lock = await lockDataFolder(`${settings.data}/lmdb`).catch((error: unknown) => {
    if (error instanceof DataFolderInUse) throw new Error(`${error.message}, which did this when it started`)
    throw error
  })
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
