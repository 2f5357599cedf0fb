/**
 * From a clone to the first matched install, as in the README: `git clone`, then `make demo`, which installs, builds,
 * starts everything and opens the example page in a real Chromium. With npm's cache as it is on this machine, and with an
 * empty one. `node bench/newcomer/first-match.ts [warm|cold]`
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** Linux's USER_HZ. */
const TICKS_PER_S = 100

/** Processor time of all ended children, in seconds: on a busy machine it says more than the clock. */
function processorS(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S
}

/** Seconds of each step, in order. */
function measure(isCold: boolean): ReadonlyMap<string, number> {
  const folder = mkdtempSync(join(tmpdir(), 'whence-first-match-'))
  const clone = join(folder, 'whence')
  const env = { ...process.env, ...(isCold ? { npm_config_cache: join(folder, 'cache') } : {}) }
  const seconds = new Map<string, number>()
  const step = (name: string, file: string, words: readonly string[], cwd: string): string => {
    const startedMs = performance.now()
    const said = execFileSync(file, words, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    seconds.set(name, (performance.now() - startedMs) / 1_000)
    return said
  }
  try {
    step('clone', 'git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone], folder)
    step('install', 'make', ['node_modules'], clone)
    const said = step('build, start, visit, install', 'make', ['demo'], clone)
    if (!/matched/.test(said)) throw new Error(said)
    return seconds
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const wanted = process.argv.slice(2)
for (const kind of ['warm', 'cold']) {
  if (wanted.length > 0 && !wanted.includes(kind)) continue
  const load = (loadavg()[0] ?? 0).toFixed(1)
  const before = processorS()
  const seconds = measure(kind === 'cold')
  const worked = (processorS() - before).toFixed(0)
  const total = [...seconds.values()].reduce((sum, each) => sum + each, 0)
  const parts = [...seconds].map(([name, each]) => `${name} ${each.toFixed(1)} s`).join(', ')
  console.log(
    `from a clone to the first match, ${kind} cache: ${total.toFixed(1)} s (${parts}), ${worked} s of processor time, at a load of ${load}`,
  )
}
