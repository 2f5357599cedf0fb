/** Makes folders for data and secrets, and says plainly which one cannot be made. */

import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and those above it that are missing. Level by level: Node's own recursion never ends where a file system
 * refuses new names as if their parent were missing, which /proc does.
 * @throws Error that names the folder and the system's code
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) missing.push(folder)
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      // Another process may have made it in between.
      if (code !== 'EEXIST') throw new Error(`the folder ${path} cannot be made (${code})`, { cause: error })
    }
  }
}
