/** The erasures of this machine, as digests: one line of JSON each, in the data folder beside the stores. */

import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RememberedErasure } from '../../../delivery/tools/erase.ts'

export const ERASURES_FILE = 'erasures'

/**
 * From such a file, or from a data folder, which has none before the first erasure. @throws Error if there is neither, or if
 * the file contains anything else
 */
export async function readErasures(path: string): Promise<readonly RememberedErasure[]> {
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  const file = statSync(path).isDirectory() ? join(path, ERASURES_FILE) : path
  if (!existsSync(file)) return []
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line, index) => {
    try {
      const { organization, website, digest, reference, erasedAtMs } = JSON.parse(line) as RememberedErasure
      const isOwned = typeof organization === 'string' && typeof website === 'string'
      const isNamed = /^[0-9a-f]{64}$/.test(digest) || (website === '' && digest === '')
      if (isOwned && isNamed && Number.isSafeInteger(reference))
        return { organization, website, digest, reference, erasedAtMs }
    } catch {
      // Reported below.
    }
    throw new Error(`line ${index + 1} of ${file} is no erasure`)
  })
}
