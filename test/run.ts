/**
 * Runs every test: three mocha processes at a time, and one closing line for all. Each test is a line of JSON below `tmp/tests` as soon as it has ended. A run
 * that is interrupted says what failed until then, and leaves no process behind.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import { blocksOf } from './support/output-blocks.ts'
import { closingLines } from './support/reporter.ts'
import { exitCodeOf, mergeReports, reportOfLines, type RunReport } from './support/run-report.ts'

const ROOT = join(import.meta.dirname, '..')
const MOCHA = join(ROOT, 'node_modules/mocha/bin/mocha.js')
const ENDS_WITH_RUNNER = join(import.meta.dirname, 'support/ends-with-runner.ts')
/** Of the last run. */
const LINES = join(ROOT, 'tmp/tests')
const REPORTER = join(import.meta.dirname, 'support/reporter.ts')

/**
 * Folders that share a lane: one of its processes runs after the other, and no two of them compete. All other folders share one more. Most of these
 * tests wait for brokers, API servers and processes, so that three lanes keep two cores busy where two lanes left a third of them idle.
 * The seconds at the end say whether the lanes are still about equally long.
 */
const LANES_OF_ENGINES = [
  ['contract', 'crash', 'faults', 'hook', 'scale', 'sdk'],
  ['charts', 'dashboard', 'e2e', 'operator', 'pages', 'versions'],
] as const

/**
 * So many files at least share a process; those after them get a new one. An engine in the process of a test keeps
 * some memory when it is closed, and after some dozens of them one has too little.
 */
const FILES_OF_A_PROCESS = 12
/** A folder of more files is divided among several processes, for the same reason. */
const MOST_FILES_OF_A_PROCESS = 24

/** The longest that a process may take to end after its last test. */
const LINGERS_MS = 60_000
const LOOK_EVERY_MS = 1_000

/** Not in `.mocharc.json`: `npx mocha FILE` would then run all of them. */
const TESTS = 'test/**/*.test.ts'

interface MochaSettings {
  readonly require: readonly string[]
  readonly timeout: number
}

const children = new Set<ChildProcess>()

async function main(): Promise<number> {
  const startedAtMs = performance.now()
  const settings = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as MochaSettings
  const files = globSync(TESTS, { cwd: ROOT }).sort()
  const lanes = Object.values(Object.groupBy(files, laneOf)) as string[][]
  const folder = mkdtempSync(join(tmpdir(), 'whence-tests-'))
  rmSync(LINES, { recursive: true, force: true })
  mkdirSync(LINES, { recursive: true })
  try {
    const reports = await Promise.all(lanes.map((lane, index) => runLane(lane, settings, join(folder, `${index}`))))
    const report = mergeReports(reports.flat())
    const minutes = ((performance.now() - startedAtMs) / 60_000).toFixed(1)
    console.log([`${minutes} minutes in all.`, ...closingLines(report)].join('\n'))
    return exitCodeOf(report.tally, process.env)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Its place in `LANES_OF_ENGINES`, or the one after them. */
function laneOf(file: string): number {
  const folder = file.split('/')[1]
  const lane = LANES_OF_ENGINES.findIndex((folders) => folders.some((name) => name === folder))
  return lane === -1 ? LANES_OF_ENGINES.length : lane
}

/** Runs these files in one process after the other; a signal ends them all. */
async function runLane(files: readonly string[], settings: MochaSettings, reports: string): Promise<RunReport[]> {
  const done: RunReport[] = []
  for (const some of processesOf(files)) {
    if (process.exitCode !== undefined) break
    done.push(await runProcess(some, settings, `${reports}-${done.length}.json`))
  }
  return done
}

function processesOf(files: readonly string[]): readonly (readonly string[])[] {
  const processes: string[][] = []
  for (const some of [...Map.groupBy(files, (file) => file.split('/')[1]).values()].flatMap(piecesOf)) {
    const last = processes.at(-1)
    if (last === undefined || last.length >= FILES_OF_A_PROCESS) processes.push([...some])
    else last.push(...some)
  }
  return processes
}

/** About equally many files each. */
function piecesOf(files: readonly string[]): readonly (readonly string[])[] {
  const size = Math.ceil(files.length / Math.ceil(files.length / MOST_FILES_OF_A_PROCESS))
  return files.flatMap((_, index) => (index % size === 0 ? [files.slice(index, index + size)] : []))
}

/** Runs these files in one process; what it prints appears suite by suite. A process that dies, or does not end, is a failure. */
async function runProcess(files: readonly string[], settings: MochaSettings, reportFile: string): Promise<RunReport> {
  const linesFile = join(LINES, `${basename(reportFile, '.json')}.jsonl`)
  const loaded = [ENDS_WITH_RUNNER, ...settings.require].flatMap((module) => ['--require', module])
  const flags = ['--no-config', '--forbid-only', '--timeout', String(settings.timeout), ...loaded]
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
process.exitCode = await main()
