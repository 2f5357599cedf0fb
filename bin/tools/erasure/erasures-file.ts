/** The erasures of this machine, as digests: one line of JSON each, in the data folder beside the stores. */

import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shapeOf, isText, isWhole, isNumber, parsedAs } from '../../../domain/guards.ts'
import type { RememberedErasure } from '../../../delivery/tools/erase.ts'

export const ERASURES_FILE = 'erasures'

const isErasure = shapeOf<RememberedErasure>({
  organization: isText,
  website: isText,
  digest: isText,
  reference: isWhole,
  erasedAtMs: isNumber,
})

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
    const erasure = parsedAs(isErasure, line)
    if (erasure !== null) {
      const { organization, website, digest, reference, erasedAtMs } = erasure
      const isNamed = /^[0-9a-f]{64}$/.test(digest) || (website === '' && digest === '')
      if (isNamed) return { organization, website, digest, reference, erasedAtMs }
    }
    throw new Error(`line ${index + 1} of ${file} is no erasure`)
  })
}
