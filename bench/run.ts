/** Runs every benchmark one after another, or those that are named: `npm run -s bench -- http facts-writer`. */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const FOLDER = new URL('.', import.meta.url).pathname
/** Parts of others, not benchmarks themselves. */
const PARTS: ReadonlySet<string> = new Set(['run', 'bare-http', 'http-load', 'operator-reader', 'visit-entry'])

const known = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -'.ts'.length))
  .filter((name) => !PARTS.has(name))
const named = process.argv.slice(2)
const unknown = named.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`there is no benchmark ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  process.exit(2)
}
for (const name of named.length === 0 ? known : named) {
  console.log(`\n== ${name}`)
  const { status } = spawnSync(process.execPath, [`${FOLDER}${name}.ts`], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
