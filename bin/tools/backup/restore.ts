/** `whence restore DIR`: puts a backup into an empty data folder. Each file is held against its digest first. */

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import { makePrivateFolder } from '../../../ports/shared/folders.ts'
import type { RunOutcome } from '../../../runtime/settings/settings.ts'
import { print } from '../../terminal/output.ts'
import { copyInto, mustBeEmpty, readManifest, type BackupManifest } from './files.ts'

/** Everything is made in here and moved at the end: what was cut short leaves no folder that a service would start on. */
const UNFINISHED = 'unfinished-restore'

export async function restoreTool({ settings, positionals }: RunOutcome): Promise<number> {
  const [named = ''] = positionals
  if (named === '') throw new Error('name the folder of the backup')
  const backup = resolve(named)
  const data = resolve(settings.data)
  const manifest = await readManifest(backup)
  rmSync(join(data, UNFINISHED), { recursive: true, force: true })
  mustBeEmpty(data)
  makePrivateFolder(data)
  const unfinished = join(data, UNFINISHED)
  try {
    const names = await fill(unfinished, backup, manifest)
    // The stores last: without them a service has nothing to start on.
    for (const name of names) renameSync(join(unfinished, name), join(data, name))
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  print(`${data} holds everything that was answered before ${manifest.beganAt}; start the service\n`)
  return 0
}

/** Resolves with what it made, in the order to move it. */
async function fill(unfinished: string, backup: string, manifest: BackupManifest): Promise<readonly string[]> {
  mkdirSync(unfinished, { mode: 0o700 })
  const tops = [...new Set(Object.keys(manifest.files).map((path) => path.split('/')[0] ?? path))]
  const found: Record<string, string> = {}
  for (const name of tops) Object.assign(found, await copyInto(unfinished, join(backup, name), name))
  const damaged = Object.entries(manifest.files).find(([path, digest]) => found[path] !== digest)
  if (damaged !== undefined) throw new Error(`${join(backup, damaged[0])} is damaged or missing: nothing was restored`)
  const connection = await openChdb(join(unfinished, 'chdb'))
  try {
    await connection.copies?.read(join(unfinished, 'facts'))
  } finally {
    await connection.close()
  }
  rmSync(join(unfinished, 'facts'), { recursive: true })
  const beside = tops.filter((name) => name !== 'lmdb' && name !== 'facts')
  return [...beside, 'chdb', 'lmdb'].filter((name) => existsSync(join(unfinished, name)))
}
