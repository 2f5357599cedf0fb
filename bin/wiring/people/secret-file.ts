/** Reads secrets that others gave us from the files that the settings name. */

import { readFileSync } from 'node:fs'

import { hasInvisible, withoutEdges } from '../../../domain/schema/pasted-text.ts'

/**
 * The text of a file, without white space around it. `what` is how errors call the file.
 * @throws Error if it cannot be read, is empty or has more than one line: every use of it would fail, long after the start
 */
export function readSecret(file: string, what: string): string {
  const [secret = '', ...more] = readSecrets(file, what)
  if (more.length > 0) throw new Error(`${what} has more than one line`)
  return secret
}

/**
 * Several, one a line.
 * @throws Error if it cannot be read, is empty, or has a character in it that nobody can see
 */
export function readSecrets(file: string, what: string): readonly string[] {
  const lines = fileText(file, what)
    .split('\n')
    .map(withoutEdges)
    .filter((line) => line !== '')
  if (lines.length === 0) throw new Error(`${what} is empty`)
  if (lines.some(hasInvisible)) throw new Error(`${what} has an invisible character in it`)
  return lines
}

function fileText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${what} cannot be read`, { cause: error })
  }
}
