/** `whencectl backup DIR`: copies everything that a service on one machine stores, whether it runs or not. */

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { RunOutcome } from '../../../runtime/settings/settings.ts'
import type { StoreSettings } from '../../../runtime/settings/settings-of.ts'
import { openBackupSource, type StagedBackup } from '../../wiring/backup.ts'
import { version } from '../../wiring/version.ts'
import { CATALOG_NUMBER_FILE } from '../../../runtime/catalog/last-number.ts'
import { connectTools } from '../control.ts'
import { openFolders } from '../folders.ts'
import { print } from '../../terminal/output.ts'
import { ERASURES_FILE } from '../erasure/erasures-file.ts'
import { copyInto, mustBeEmpty, writeManifest } from './files.ts'

/** Files of the data folder outside of the stores. */
const BESIDE = ['secret', 'dashboard', 'audit.json', CATALOG_NUMBER_FILE, ERASURES_FILE]

export async function backupTool({ settings, positionals }: RunOutcome<'backup'>): Promise<number> {
  const [named = ''] = positionals
  if (named === '') throw new Error('name the folder for the backup')
  const folder = resolve(named)
  mustBeEmpty(folder)
  const staged = await stage(settings)
  try {
    await moveIntoPlace(staged, settings.data, folder)
  } finally {
    rmSync(staged.folder, { recursive: true, force: true })
  }
  const began = new Date(staged.beganAtMs).toISOString()
  print(`${folder} holds everything that was answered before ${began}\n`)
  if (!existsSync(join(folder, 'secret')))
    print('The master secret is outside of the data folder and not part of the backup: keep a copy of it too.\n')
  return 0
}

/** The running service copies its stores; if none runs, the tool copies the folders. */
async function stage({ data, eventLog, facts }: StoreSettings): Promise<StagedBackup> {
  if (eventLog.scheme !== 'lmdb' || facts.scheme !== 'chdb')
    throw new Error('backs up a service on one machine only; use the tools of Kafka and ClickHouse for theirs')
  const live = await connectTools(data)
  if (live !== null) return live.stageBackup()
  for (const { location } of [eventLog, facts])
    if (!existsSync(location)) throw new Error(`there is no data in ${location}; --data names the service's folder`)
  const folders = await openFolders(eventLog.location, facts.location)
  try {
    return await openBackupSource({ ...folders, data, nowMs: Date.now }).stage()
  } finally {
    await folders.close()
  }
}

/** The manifest is written last, so a folder with a manifest is complete. */
async function moveIntoPlace({ folder: staged, beganAtMs }: StagedBackup, data: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const parts = ['lmdb', 'facts'].map((name) => [join(staged, name), name] as const)
  const beside = BESIDE.map((name) => [join(data, name), name] as const).filter(([source]) => existsSync(source))
  let files: Readonly<Record<string, string>> = {}
  for (const [source, name] of [...parts, ...beside]) files = { ...files, ...(await copyInto(folder, source, name)) }
  const beganAt = new Date(beganAtMs).toISOString()
  await writeManifest(folder, { format: 'whence-backup', formatVersion: 1, version: version(), beganAt, files })
}
