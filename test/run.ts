/**
 * Runs every test of a level (`node test/run.ts slow`), several mocha processes at a time, with one closing line for all. Each test is a line of JSON below
 * `tmp/tests` as soon as it has ended. A run that is interrupted says what failed until then, and leaves no process behind.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import { blocksOf } from './support/output-blocks.ts'
import { learnSeconds, planProcesses, type Seconds } from './support/plan.ts'
import { closingLines } from './support/reporter.ts'
import {
  exitCodeOf,
  mergeReports,
  reportOfLines,
  testLinesIn,
  tooLongLines,
  type RunReport,
  type TestLine,
} from './support/run-report.ts'

const ROOT = join(import.meta.dirname, '..')
const MOCHA = join(ROOT, 'node_modules/mocha/bin/mocha.js')
const ENDS_WITH_RUNNER = join(import.meta.dirname, 'support/ends-with-runner.ts')
/** Of the last run. */
const LINES = join(ROOT, 'tmp/tests')
const REPORTER = join(import.meta.dirname, 'support/reporter.ts')

/** How the files of a level are called, and how long one of their tests may take. `lanes` is how many processes run at a time. */
const LEVELS = {
  /** Most of these tests wait for something outside, so that three lanes keep two cores busy where two leave a third of them idle. */
  test: { files: 'test/**/*.test.ts', lanes: 3, timeoutMs: 60_000, mostMs: 10_000 },
  slow: { files: 'test/**/*.slow.ts', lanes: 3, timeoutMs: 180_000, mostMs: 60_000 },
  /** One at a time: they fill the machine by themselves. */
  long: { files: 'test/**/*.long.ts', lanes: 1, timeoutMs: 900_000, mostMs: Infinity },
} as const
/** Seconds of each file on two quiet cores; `--keep-seconds` writes what the run measured. */
const SECONDS = join(import.meta.dirname, 'seconds.json')

const KEEP = '--keep-seconds'

/** The longest that a process may take to end after its last test. */
const LINGERS_MS = 60_000
const LOOK_EVERY_MS = 1_000

interface Settings {
  readonly require: readonly string[]
  readonly timeoutMs: number
}

const children = new Set<ChildProcess>()

async function main(words: readonly string[]): Promise<number> {
  const startedAtMs = performance.now()
  const { level, isKept } = wordsOf(words)
  const { files: pattern, lanes, timeoutMs, mostMs } = LEVELS[level]
  const { require } = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as Pick<Settings, 'require'>
  const known = existsSync(SECONDS) ? (JSON.parse(readFileSync(SECONDS, 'utf8')) as Seconds) : {}
  const processes = planProcesses(globSync(pattern, { cwd: ROOT }), known).entries()
  const folder = mkdtempSync(join(tmpdir(), 'whence-tests-'))
  rmSync(LINES, { recursive: true, force: true })
  mkdirSync(LINES, { recursive: true })
  try {
    const settings = { require, timeoutMs }
    const reports = await Promise.all(Array.from({ length: lanes }, () => runLane(processes, settings, folder)))
    const report = mergeReports(reports.flat())
    if (isKept) keepSeconds(learnSeconds(known, report.seconds, (file) => existsSync(join(ROOT, file))))
    const minutes = ((performance.now() - startedAtMs) / 60_000).toFixed(1)
    console.log(
      [`${minutes} minutes in all.`, ...tooLongLines(testLines(), mostMs), ...closingLines(report)].join('\n'),
    )
    return exitCodeOf(report.tally, process.env)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function wordsOf(words: readonly string[]): { readonly level: keyof typeof LEVELS; readonly isKept: boolean } {
  const [level = '', ...flags] = words
  if (!isLevel(level) || flags.some((flag) => flag !== KEEP))
    throw new Error(`expected one of ${Object.keys(LEVELS).join(', ')}, and at most ${KEEP}: ${words.join(' ')}`)
  return { level, isKept: flags.includes(KEEP) }
}

function isLevel(word: string): word is keyof typeof LEVELS {
  return Object.hasOwn(LEVELS, word)
}

function keepSeconds(seconds: Seconds): void {
  writeFileSync(SECONDS, `${JSON.stringify(seconds, null, 2)}\n`)
}

/** Takes one group of files after the other from those that are left, and runs each in a process of its own. A signal ends them all. */
async function runLane(
  left: Iterator<readonly [number, readonly string[]]>,
  settings: Settings,
  folder: string,
): Promise<RunReport[]> {
  const done: RunReport[] = []
  for (let next = left.next(); next.done !== true && process.exitCode === undefined; next = left.next()) {
    const [place, files] = next.value
    done.push(await runProcess(files, settings, join(folder, `${place}.json`)))
  }
  return done
}

/** Of all processes of this run. */
function testLines(): readonly TestLine[] {
  return readdirSync(LINES).flatMap((name) => testLinesIn(readFileSync(join(LINES, name), 'utf8')))
}

/** Runs these files in one process; what it prints appears suite by suite. A process that dies, or does not end, is a failure. */
async function runProcess(files: readonly string[], settings: Settings, reportFile: string): Promise<RunReport> {
  const linesFile = join(LINES, `${basename(reportFile, '.json')}.jsonl`)
  const loaded = [ENDS_WITH_RUNNER, ...settings.require].flatMap((module) => ['--require', module])
  const flags = ['--no-config', '--forbid-only', '--timeout', String(settings.timeoutMs), ...loaded]
  const reporting = ['--reporter', REPORTER, '--reporter-option', `report=${reportFile},lines=${linesFile}`]
  const child = spawn(process.execPath, [MOCHA, ...flags, ...reporting, ...files], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    // The leader of a group, which what its tests start belongs to.
    detached: true,
  })
  children.add(child)
  const ended = once(child, 'close')
  endLingering(child, reportFile)
  for await (const block of blocksOf(createInterface({ input: child.stdout as Readable }))) console.log(block)
  const [code, signal] = (await ended) as [number | null, string | null]
  children.delete(child)
  try {
    const report = JSON.parse(readFileSync(reportFile, 'utf8')) as RunReport
    const left = `A mocha process ended by ${String(signal)}, not by itself after its last test: is something still open?`
    return signal === null ? report : withFailure(report, left)
  } catch {
    const failure = `A mocha process ended without a report: exit code ${String(code)}, signal ${String(signal)}.`
    const known = reportOfLines(existsSync(linesFile) ? readFileSync(linesFile, 'utf8') : '')
    return withFailure(known, failure)
  }
}

/**
 * Kills a process that goes on after its tests, of which it has written its report: a test has left something open, most often one that failed, and
 * the run would wait for ever.
 */
function endLingering(child: ChildProcess, reportFile: string): void {
  let reportedAtMs: number | null = null
  const timer = setInterval(() => {
    if (existsSync(reportFile)) reportedAtMs ??= performance.now()
    if (reportedAtMs !== null && performance.now() - reportedAtMs >= LINGERS_MS) endGroup(child)
  }, LOOK_EVERY_MS)
  child.once('close', () => clearInterval(timer))
}

function withFailure(report: RunReport, failure: string): RunReport {
  const failed = report.tally.failed + 1
  return { ...report, tally: { ...report.tally, failed }, failures: [...report.failures, failure] }
}

/** A process of mocha and all that its tests have started: nothing of theirs is to be kept. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of children) endGroup(child)
    process.exitCode = 1
  })
process.exitCode = await main(process.argv.slice(2))
