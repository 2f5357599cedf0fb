/** Finds on disk what a page has left in the browsers of a home folder. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMITS } from '../../../domain/limits.ts'

/** Where Chromium and Firefox keep a website's own files. */
const PLACES = /\/File System\/\d{3}\/t\/\d{2}\/\d+$|\/storage\/default\/[^/]+\/fs\/[A-Z2-7]{2}\/[A-Z2-7]{52}$/
const BEGINNING = '{"format":"opfs-install-attribution"'

/** The text of each marker below this folder. */
export async function markersOnDisk(home: string): Promise<string[]> {
  const texts: string[] = []
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!PLACES.test(path) || (await stat(path)).size !== LIMITS.markerBytes) continue
    const text = await readFile(path, 'utf8')
    if (text.startsWith(BEGINNING)) texts.push(text)
  }
  return texts
}
