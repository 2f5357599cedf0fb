/** `whencectl migrate`: brings ClickHouse's tables and Kafka's topics up to date and prints what was done. */

import { checkKafkaTopics } from '../../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { requireEveryInsert } from '../../ports/facts/engine/self-test.ts'
import { DataFolderInUse, lockDataFolder } from '../../ports/shared/lmdb/folder-lock.ts'
import type { RunOutcome } from '../../runtime/settings/settings.ts'
import type { StoreSettings } from '../../runtime/settings/settings-of.ts'
import { print } from '../terminal/output.ts'

export async function migrateTool({ settings, flags }: RunOutcome<'migrate'>): Promise<number> {
  const { facts, eventLog } = settings
  if (facts === null) throw new Error('no engine is set')
  const applied =
    facts.scheme === 'chdb' ? await migrateFolder(settings, facts.location) : await migrateServer(facts.url)
  print(applied.length === 0 ? 'Everything is up to date.\n' : `Applied:\n  ${applied.join('\n  ')}\n`)
  return eventLog?.scheme === 'kafka' ? migrateTopics(eventLog.url, flags.has('--all-topics') ? 'all' : 'needed') : 0
}

/** Only one process can open chDB's folder. A running service has migrated it at its start. */
async function migrateFolder({ data }: StoreSettings, location: string): Promise<readonly string[]> {
  const lock = await lockDataFolder(`${data}/lmdb`).catch((error: unknown) => {
    if (error instanceof DataFolderInUse) throw new Error(`${error.message}, which did this when it started`)
    throw error
  })
  try {
    return await migrateOpened(await openChdb(location))
  } finally {
    await lock.release()
  }
}

/** The embedded engine is tested at each opening; a server here, once for all processes that will write to it. */
async function migrateServer(url: string): Promise<readonly string[]> {
  const connection = openClickHouse(url)
  try {
    const applied = await migrate(connection)
    await requireEveryInsert(connection)
    return applied
  } finally {
    await connection.close()
  }
}

async function migrateOpened(connection: FactsConnection): Promise<readonly string[]> {
  try {
    return await migrate(connection)
  } finally {
    await connection.close()
  }
}

/** Unsafe topics are reported, because only their owner may change them. */
async function migrateTopics(url: string, create: 'all' | 'needed'): Promise<number> {
  const parsed = parseKafkaUrl(url)
  if (!parsed.ok) throw new Error(`the event log's address ${parsed.why}`)
  const { created, problems } = await checkKafkaTopics(parsed.value, { create })
  print(`Topics created: ${created.length === 0 ? 'none' : created.join(', ')}\n`)
  for (const { topic, message } of problems) print(`topic ${topic} ${message}\n`)
  return problems.length === 0 || parsed.value.layout.isUnsafeAllowed ? 0 : 1
}
