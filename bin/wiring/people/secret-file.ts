/** Reads secrets that others gave us from the files that the settings name. */

import { readFileSync } from 'node:fs'

/**
 * The text of a file, without white space around it. `what` is how errors call the file.
 * @throws Error if it cannot be read or is empty: every use of it would fail, long after the start
 */
export function readSecret(file: string, what: string): string {
  const text = fileText(file, what).trim()
  if (text === '') throw new Error(`${what} is empty`)
  return text
}

/** Several, one a line. Throws as `readSecret` does. */
export function readSecrets(file: string, what: string): readonly string[] {
  return readSecret(file, what)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function fileText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${what} cannot be read`, { cause: error })
  }
}
