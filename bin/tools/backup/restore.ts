/** `whencectl restore DIR`: restores a backup into an empty data folder. Each file is checked against its digest first. */

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { eraseAgain, type RememberedErasure } from '../../../delivery/tools/erase.ts'
import { clickhouseFacts } from '../../../ports/facts/clickhouse.ts'
import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import { MAX_NAMES } from '../../../ports/facts/erasure/names.ts'
import type { FactsConnection } from '../../../ports/facts/engine/connection.ts'
import { migrate } from '../../../ports/facts/migrate.ts'
import { makePrivateFolder } from '../../../ports/shared/folders.ts'
import { sha256Hex } from '../../../common/digest.ts'
import { FACTS_WRITER_GROUP } from '../../../domain/collection/facts-lag.ts'
import { HOUR_MS } from '../../../domain/durations.ts'
import { readRecord } from '../../../domain/read-record.ts'
import type { LogProgress, LogTail } from '../../../ports/event-log/event-log.ts'
import { MAX_PAGE } from '../../../ports/facts/query-parts.ts'
import { openFolders } from '../folders.ts'
import { changedOwners } from '../../../domain/published/changed-owners.ts'
import { compileCatalog } from '../../../domain/catalog/compile-catalog.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { parseManifests, readManifests } from '../../../runtime/catalog/manifests.ts'
import type { RunOutcome } from '../../../runtime/settings/settings.ts'
import type { SettingsOf } from '../../../runtime/settings/settings-of.ts'
import { print } from '../../terminal/output.ts'
import { ERASURES_FILE, readErasures } from '../erasure/erasures-file.ts'
import { copyInto, mustBeEmpty, readBackupManifest, type BackupManifest } from './files.ts'

/** Everything is written here first and moved at the end: an interrupted restore leaves no folder that a service would start on. */
const UNFINISHED = 'unfinished-restore'

export async function restoreTool({ settings, positionals, flags }: RunOutcome<'restore'>): Promise<number> {
  const [named = ''] = positionals
  if (named === '') throw new Error('name the folder of the backup')
  const backup = resolve(named)
  const data = resolve(settings.data)
  const erasures = flags.has('--erasures') ? await readErasures(resolve(flags.get('--erasures') ?? '')) : []
  const manifest = await readBackupManifest(backup)
  rmSync(join(data, UNFINISHED), { recursive: true, force: true })
  mustBeEmpty(data)
  makePrivateFolder(data)
  const unfinished = join(data, UNFINISHED)
  try {
    const names = await fill(unfinished, backup, { manifest, erasures })
    if (!flags.has('--other-owners')) await mustKeepOwners(unfinished, settings, Date.parse(manifest.beganAt))
    // The stores come last: without them a service does not start.
    for (const name of names) renameSync(join(unfinished, name), join(data, name))
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  print(`${data} holds everything that was answered before ${manifest.beganAt}; start the service\n`)
  return 0
}

/** Resolves with the restored paths, in the order to move them. */
interface Filling {
  readonly manifest: BackupManifest
  readonly erasures: readonly RememberedErasure[]
}

async function fill(unfinished: string, backup: string, { manifest, erasures }: Filling): Promise<readonly string[]> {
  mkdirSync(unfinished, { mode: 0o700 })
  const tops = [...new Set(Object.keys(manifest.files).map((path) => path.split('/')[0] ?? path))]
  const found: Record<string, string> = {}
  for (const name of tops) Object.assign(found, await copyInto(unfinished, join(backup, name), name))
  const damaged = Object.entries(manifest.files).find(([path, digest]) => found[path] !== digest)
  if (damaged !== undefined) throw new Error(`${join(backup, damaged[0])} is damaged or missing: nothing was restored`)
  const connection = await openChdb(join(unfinished, 'chdb'))
  try {
    await connection.copies?.read(join(unfinished, 'facts'))
    await migrate(connection)
    if (erasures.length > 0) await eraseFrom(connection, erasures)
  } finally {
    await connection.close()
  }
  rmSync(join(unfinished, 'facts'), { recursive: true })
  const lines = erasures.map((each) => `${JSON.stringify(each)}\n`)
  if (lines.length > 0) writeFileSync(join(unfinished, ERASURES_FILE), lines.join(''), { mode: 0o600, flush: true })
  const beside = [...new Set([...tops, ERASURES_FILE])].filter((name) => name !== 'lmdb' && name !== 'facts')
  return [...beside, 'chdb', 'lmdb'].filter((name) => existsSync(join(unfinished, name)))
}

/**
 * An organisation is its namespace, name and tenant: under another one nothing of a website would be found again.
 * @throws Error that names each website whose facts are of others
 */
async function mustKeepOwners(
  unfinished: string,
  { manifests, dashboardFolder }: SettingsOf<'restore'>,
  beganAtMs: number,
): Promise<void> {
  if (!existsSync(manifests)) return
  const restored = join(unfinished, 'dashboard')
  const files = await readManifests(manifests, existsSync(restored) ? restored : dashboardFolder)
  const { objects } = parseManifests(files, process.env)
  const { catalog } = compileCatalog({ objects, sha256Hex, rules: { isWithoutSecrets: true } })
  const changed = changedOwners(catalog.websites.values(), await storedOwners(unfinished, beganAtMs))
  if (changed.length === 0) return
  const lines = changed.map(
    ({ website, now, stored }) => `  ${website} belongs to ${now} in ${manifests}, its data to ${stored.join(' and ')}`,
  )
  throw new Error(
    `nothing was restored, as data would not be found again under another namespace, name or tenant of its organisation:\n${lines.join('\n')}\nMend the manifests, or give --other-owners: these websites then start without data`,
  )
}

/** Facts of so long before a copy may not be counted by the hour yet. */
const UNCOUNTED_MS = 3 * HOUR_MS

/**
 * Whose visits and installs a copy from `beganAtMs` holds, in any order and more than once: those that are counted, those that are facts
 * and not counted yet, and those that are on the log alone.
 */
export async function storedOwners(folder: string, beganAtMs: number): Promise<readonly OwnedWebsite[]> {
  const { eventLog, facts, close } = await openFolders(join(folder, 'lmdb'), join(folder, 'chdb'))
  try {
    const counted = await facts.run('websitesWithFigures', {})
    const period = { since_ms: beganAtMs - UNCOUNTED_MS, until_ms: beganAtMs + UNCOUNTED_MS, limit: MAX_PAGE }
    const uncounted = await facts.run('hoursWithFacts', period)
    return [...counted, ...uncounted, ...(await ownersOnLog(eventLog))]
  } finally {
    await close()
  }
}

/** Of entries that are no facts yet, of which there may be millions: each owner once, and nothing else of a record. */
async function ownersOnLog(eventLog: LogTail & LogProgress): Promise<readonly OwnedWebsite[]> {
  const owners = new Map<string, OwnedWebsite>()
  for (const topic of ['visits', 'installs'] as const) {
    const { done } = await eventLog.progress(topic, FACTS_WRITER_GROUP)
    for await (const entries of eventLog.readLast(topic, { from: done }))
      for (const { organization, website } of entries.flatMap(({ value }) => ownerIn(value)))
        owners.set(`${organization}/${website}`, { organization, website })
  }
  return [...owners.values()]
}

/** None of an entry that cannot be read. */
function ownerIn(entry: string): readonly OwnedWebsite[] {
  const reading = readRecord('fact', entry)
  if (reading.kind !== 'record') return []
  if (reading.record.kind === 'visit') return [reading.record.visit]
  return reading.record.kind === 'install' ? [reading.record.install] : []
}

async function eraseFrom(connection: FactsConnection, erasures: readonly RememberedErasure[]): Promise<void> {
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  for (let from = 0; from < erasures.length; from += MAX_NAMES)
    await eraseAgain({ facts, nowMs: Date.now }, erasures.slice(from, from + MAX_NAMES))
}
