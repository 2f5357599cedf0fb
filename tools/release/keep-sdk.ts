/**
 * `make keep-sdk`: adds the built SDK to the builds that every later release serves. With `--check`, as the release's workflow
 * runs it, adds nothing and fails if a file is not among them.
 */

import { cp, mkdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { buildSdk } from '../../sdk/build.ts'
import type { BuildManifest } from '../../sdk/build.ts'

const SDK = path.join(import.meta.dirname, '../../sdk')

/** Copies what is served at addresses that never change into `earlierFolder`, and resolves to the addresses that it lacked. */
export async function keepSdk(builtFolder: string, { files }: BuildManifest, earlierFolder: string): Promise<string[]> {
  const lacking = lackingIn(earlierFolder, files)
  for (const { name, immutableUrl } of lacking) {
    const kept = path.join(earlierFolder, immutableUrl)
    await mkdir(path.dirname(kept), { recursive: true })
    await cp(path.join(builtFolder, name), kept)
  }
  return lacking.map(({ immutableUrl }) => immutableUrl)
}

/** Those of the files that no later release would serve. */
export function lackingIn(earlierFolder: string, files: BuildManifest['files']): BuildManifest['files'] {
  return files.filter(({ immutableUrl }) => !existsSync(path.join(earlierFolder, immutableUrl)))
}

if (import.meta.main) {
  const built = path.join(SDK, 'dist')
  const earlier = path.join(SDK, 'earlier')
  const manifest = await buildSdk(built)
  if (process.argv.includes('--check')) {
    const lacking = lackingIn(earlier, manifest.files).map(({ immutableUrl }) => immutableUrl)
    if (lacking.length)
      throw new Error(`later releases would not serve ${lacking.join(', ')}: run make keep-sdk, and commit`)
  } else console.log((await keepSdk(built, manifest, earlier)).join('\n') || 'kept already')
}
