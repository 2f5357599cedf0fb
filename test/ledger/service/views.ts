/** The views of docs/clickhouse-views.md, made as it prints them over the facts of a service that has stopped. */

import { readFile } from 'node:fs/promises'

import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import { ZONE } from '../world/calendar.ts'
import type { Row } from './surfaces.ts'

const PAGE = new URL('../../../docs/clickhouse-views.md', import.meta.url)

export type ReadViews = (sql: string) => Promise<readonly Row[]>

export interface Views {
  readonly read: ReadViews
  readonly close: () => Promise<void>
}

export async function openViews(folder: string): Promise<Views> {
  const connection = await openChdb(folder)
  const page = (await readFile(PAGE, 'utf8'))
    .replaceAll('Europe/Berlin', ZONE)
    // The embedded engine has one database and one user, both of the name "default".
    .replaceAll('whence.', 'default.')
    .replaceAll('DEFINER = whence ', 'DEFINER = default ')
  const blocks = [...page.matchAll(/^```sql\n(.*?)^```/gms)].map(([, block = '']) => block)
  const statements = blocks.flatMap((block) => block.split(';')).map((statement) => statement.trim())
  for (const statement of statements.filter((each) => /^CREATE (DATABASE|VIEW)/.test(each)))
    await connection.command(statement)
  return {
    read: async (sql) => (await connection.query(sql, {}, { turn: 'report' })) as readonly Row[],
    close: () => connection.close(),
  }
}
