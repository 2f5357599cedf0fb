/**
 * Measures the hook's scan: `node bench/hook-scan.ts [runs] [files] [shells]`.
 *
 * Builds a profile in which other websites keep `files` (20,000) files and this website one marker, and prints, per kind
 * of foreign file, the medians of several runs in turn: a bare `find` that looks at the same files, the hook's whole work
 * with `--print` (which sends nothing), the same with the scan switched off, and their difference, which is the scan. The
 * files are in the page cache, as they are on a machine whose browser is running.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { renderHookScript } from '../domain/collection/hook-script.ts'
import { median } from './support/rounds.ts'

const [runs = 11, files = 20_000] = process.argv.slice(2, 4).map(Number)
const shells = (process.argv[4] ?? 'dash,bash').split(',')

/** Sizes in bytes by which foreign files differ; the last kind makes the second pass open every one of them. */
const KINDS: readonly (readonly [string, (number: number) => number])[] = [
  ['large and small', (number) => (number % 2 === 0 ? 4_096 : 20 + (number % 150))],
  ['half of 200 to 1,020', (number) => (number % 2 === 0 ? 16_384 : 200 + (number % 800))],
  ['all of 200 to 1,020', (number) => 200 + (number % 800)],
]
const WEBSITE = 'acme-dev'
const RECEIPT = 'bench'.padEnd(43, '_')
const BODY = readFileSync(new URL('../hook/report.sh', import.meta.url), 'utf8')

const folder = mkdtempSync(join(tmpdir(), 'hook-bench-'))
try {
  for (const [kind, sizeOf] of KINDS) measureKind(kind, sizeOf)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function measureKind(kind: string, sizeOf: (number: number) => number): void {
  const home = join(folder, kind.replaceAll(' ', '-'))
  const profile = join(home, '.config/google-chrome/Default/File System')
  for (let number = 0; number < files; number++) write(join(profile, nameOf(number)), Buffer.alloc(sizeOf(number), 'x'))
  write(join(profile, nameOf(files)), Buffer.from(marker()))
  const bareFind = ['find', [profile, '-type', 'f', '-size', '1021c']] as const
  const bare = median(times(runs, () => milliseconds(...bareFind, home)))
  console.log(`${files.toLocaleString('en')} foreign files, ${kind}; bare find ${bare.toFixed(0)} ms`)
  for (const shell of shells) {
    const whole = median(times(runs, () => hook(shell, home, 'Silent')))
    const without = median(times(runs, () => hook(shell, home, 'Disabled')))
    const scan = whole - without
    console.log(
      `  ${shell.padEnd(6)} whole hook ${whole.toFixed(0)} ms, without the scan ${without.toFixed(0)} ms, ` +
        `scan ${scan.toFixed(0)} ms = ${(scan / bare).toFixed(1)} x bare find`,
    )
  }
}

function hook(shell: string, home: string, scan: 'Silent' | 'Disabled'): number {
  const values = {
    website: WEBSITE,
    path: null,
    origins: ['https://acme.dev'],
    baseUrl: 'http://127.0.0.1:9',
    brand: 'whence',
  }
  const file = join(folder, `${scan}.sh`)
  writeFileSync(file, renderHookScript(BODY, { ...values, scan }))
  return milliseconds(shell, [file, 'install_completed', '--print'], home, (output) => {
    if (output.includes(RECEIPT) !== (scan === 'Silent'))
      throw new Error(`the scan did not do what it is measured for: ${output}`)
  })
}

function milliseconds(
  program: string,
  args: readonly string[],
  home: string,
  check?: (output: string) => void,
): number {
  const began = performance.now()
  const output = execFileSync(program, args, { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: home } })
  const took = performance.now() - began
  check?.(output)
  return took
}

function marker(): string {
  const now = Date.now()
  const times = `"created_at":${now},"expires_at":${now + 2_592_000_000}`
  const head = '{"format":"opfs-install-attribution","version":1'
  return `${head},"project":"${WEBSITE}","url_id":"url_0123456789abcdef","origin":"https://acme.dev","receipt":"${RECEIPT}",${times}}`.padEnd(
    1_021,
  )
}

/** Named as in Chromium: 200 files for each of a hundred websites. */
function nameOf(number: number): string {
  const digits = String(Math.floor(number / 100)).padStart(8, '0')
  return `${String(number % 100).padStart(3, '0')}/t/${digits.slice(4, 6)}/${digits}`
}

function write(path: string, content: Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

function times(count: number, run: () => number): number[] {
  return Array.from({ length: count }, run)
}
