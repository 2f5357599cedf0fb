/**
 * Runs Stryker over the parts that decide what is kept and delivered, and writes `test/mutants/report.md`.
 *
 * Fails if a part has less than 95 % of its mutants noticed, or a survivor that `survivors.ts` gives no reason for.
 * Arguments name parts; without any it is all of them. For the others the page shows the latest run on this machine.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { partResult, reportPage, type PartResult, type StrykerReport } from './report.ts'
import { SURVIVORS } from './survivors.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'tmp/mutants')
const LEAST_SHARE = 0.95
/** Many mutants let a test wait for what never comes; on a busy machine a test takes this long without any. */
const TEST_MS = 20_000

interface Part {
  readonly name: string
  readonly mutate: readonly string[]
  /** Suites that run in the process itself. */
  readonly spec: readonly string[]
}

const PARTS: readonly Part[] = [
  { name: 'resolution', mutate: ['domain/collection/resolve.ts'], spec: ['test/domain/resolve.test.ts'] },
  {
    name: 'receipts',
    mutate: ['domain/receipt.ts', 'api/collection/receipts.ts'],
    spec: [
      'test/domain/receipt.test.ts',
      'test/domain/receipt-after-rotation.test.ts',
      'test/api/receipts.test.ts',
      'test/api/receipt-states.test.ts',
    ],
  },
  {
    name: 'dispatch',
    mutate: [
      'delivery/dispatch/dispatch.ts',
      'delivery/dispatch/plan.ts',
      'delivery/dispatch/reads.ts',
      'delivery/dispatch/awaited-facts.ts',
      'delivery/dispatch/decide-pending.ts',
      'delivery/dispatch/decision-facts.ts',
      'delivery/dispatch/first-records.ts',
    ],
    spec: [
      // Those in memory first: a mutant is done with at its first failure.
      'test/delivery/dispatch-parts.test.ts',
      'test/delivery/decide-pending.test.ts',
      'test/delivery/decision-facts.test.ts',
      'test/delivery/awaited-facts.test.ts',
      'test/delivery/dispatch-facts.test.ts',
      'test/delivery/dispatch-appends.test.ts',
      'test/delivery/dispatch.test.ts',
    ],
  },
  {
    name: 'facts-writer',
    mutate: [
      'delivery/facts-writer/facts-writer.ts',
      'delivery/facts-writer/fact-batch.ts',
      'delivery/facts-writer/fact-rows.ts',
      'delivery/facts-writer/row-versions.ts',
      'delivery/counting/hour-marks.ts',
      'delivery/facts-writer/stream-rows.ts',
      'delivery/facts-writer/erasures.ts',
    ],
    spec: [
      'test/delivery/fact-rows.test.ts',
      'test/delivery/batch-notes.test.ts',
      'test/delivery/fact-batch.test.ts',
      'test/delivery/facts-writer-batches.test.ts',
      'test/delivery/facts-writer-stop.test.ts',
      'test/delivery/facts-writer.test.ts',
    ],
  },
]

function main(names: readonly string[]): number {
  const parts = PARTS.filter(({ name }) => names.length === 0 || names.includes(name))
  if (parts.length === 0) throw new Error(`there are: ${PARTS.map(({ name }) => name).join(', ')}`)
  const reports = new Map(parts.map((part) => [part.name, runStryker(part)]))
  const results = PARTS.flatMap(({ name }) => {
    const report = reports.get(name) ?? readReport(name)
    return report === null ? [] : [partResult(name, report, SURVIVORS)]
  })
  for (const { name, mutants, killed, unexplained } of results) {
    console.log(`${name}: ${killed} of ${mutants} mutants are noticed`)
    for (const { file, line, changed } of unexplained) console.log(`  ${file}\n  - ${line}\n  + ${changed}`)
  }
  const left = PARTS.map(({ name }) => name).filter((name) => !results.some((result) => result.name === name))
  writeFileSync(join(import.meta.dirname, 'report.md'), reportPage(results, left))
  return results.every(isEnough) ? 0 : 1
}

function isEnough({ mutants, killed, unexplained }: PartResult): boolean {
  return mutants > 0 && killed >= mutants * LEAST_SHARE && unexplained.length === 0
}

function runStryker({ name, mutate, spec }: Part): StrykerReport {
  mkdirSync(FOLDER, { recursive: true })
  const settingsFile = join(FOLDER, `${name}.settings.json`)
  const reportFile = reportFileOf(name)
  const settings = {
    testRunner: 'mocha-12',
    plugins: ['./test/mutants/mocha-runner.ts'],
    mocha: { spec, timeoutMs: TEST_MS },
    mutate,
    coverageAnalysis: 'perTest',
    concurrency: 2,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: reportFile },
    tempDirName: join('tmp', 'mutants', `${name}.tree`),
    ignorePatterns: ['data', 'tmp', 'docs', 'charts', 'bench'],
    allowConsoleColors: false,
    warnings: { unknownOptions: false },
    timeoutMS: 60_000,
  }
  writeFileSync(settingsFile, JSON.stringify(settings))
  rmSync(reportFile, { force: true })
  const stryker = join(ROOT, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const { status } = spawnSync(process.execPath, [stryker, 'run', settingsFile], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) throw new Error(`Stryker ended with ${String(status)} over ${name}`)
  const report = readReport(name)
  if (report === null) throw new Error(`Stryker left no report over ${name}`)
  return report
}

function reportFileOf(name: string): string {
  return join(FOLDER, `${name}.json`)
}

/** Of the latest run over a part; null if there was none on this machine. */
function readReport(name: string): StrykerReport | null {
  const file = reportFileOf(name)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StrykerReport) : null
}

process.exitCode = main(process.argv.slice(2))
