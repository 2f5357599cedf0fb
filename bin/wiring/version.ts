/** The version of this checkout, from package.json. */

import { readFileSync } from 'node:fs'

import { textOf, memberOf } from '../../domain/strict-json.ts'

export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return textOf(memberOf(JSON.parse(text), 'version'))
}
