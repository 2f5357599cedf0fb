/** The manifest of a backup: what is in it, and the digest of each file, so that a restore notices damage. */

import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, readdirSync } from 'node:fs'
import { mkdir, open, readFile, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { shapeOf, isOneOf, isText, mapOf, parsedAs } from '../../../domain/guards.ts'

export interface BackupManifest {
  readonly format: 'whence-backup'
  readonly formatVersion: 1
  /** Of the program that made it. */
  readonly version: string
  /** ISO 8601: the backup contains everything that was answered before. */
  readonly beganAt: string
  /** SHA-256 of each file, by path. */
  readonly files: Readonly<Record<string, string>>
}

const isManifest = shapeOf<BackupManifest>({
  format: isOneOf(['whence-backup']),
  formatVersion: isOneOf([1]),
  version: isText,
  beganAt: isText,
  files: mapOf(isText),
})

const MANIFEST = 'whence-backup.json'

export async function writeManifest(folder: string, manifest: BackupManifest): Promise<void> {
  const path = join(folder, MANIFEST)
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  await syncFile(path)
}

/** @throws Error in words if the folder holds no backup that this version can read. */
export async function readBackupManifest(folder: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => null)
  if (text === null) throw new Error(`${folder} holds no complete backup: ${MANIFEST} is missing`)
  const manifest = parsedAs(isManifest, text)
  if (manifest === null) throw new Error(`${folder} holds a backup of another form, made by a later version`)
  return manifest
}

/** @throws Error that names the folder, if there is anything in it. */
export function mustBeEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`)
}

/** Copies a file or a folder with all below it, synced to disk; resolves with the digest of each file by path below `root`. */
export async function copyInto(
  root: string,
  source: string,
  target: string,
): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {}
  for (const file of await filesBelow(source)) {
    const to = join(root, target, file)
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    digests[relative(root, to)] = await copyFile(join(source, file), to)
  }
  return digests
}

/** Paths below a folder, in order; of a file, the empty path. */
async function filesBelow(source: string): Promise<readonly string[]> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true }).catch(() => null)
  if (entries === null) return ['']
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => relative(source, join(parentPath, name))).sort()
}

async function copyFile(source: string, target: string): Promise<string> {
  const hash = createHash('sha256')
  const hashed = new Transform({
    transform: (chunk: Buffer, _, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  await pipeline(createReadStream(source), hashed, createWriteStream(target, { mode: 0o600, flush: true }))
  return hash.digest('hex')
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
