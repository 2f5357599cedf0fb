/** What a test run says at its end, and its exit code: CI relies on them, so they must be honest. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { blocksOf } from './output-blocks.ts'
import {
  exitCodeOf,
  failureLine,
  mergeReports,
  notRunLines,
  reportOfLines,
  summaryLine,
  testLinesIn,
  timeLines,
  tooLongLines,
  type RunReport,
} from './run-report.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('the summary of a test run', () => {
  it('names skipped tests only if there are any', () => {
    expect(summaryLine({ passed: 12, failed: 0, skipped: 0 })).to.equal('12 passed, 0 failed')
    expect(summaryLine({ passed: 12, failed: 1, skipped: 2 })).to.equal('12 passed, 1 failed, 2 skipped')
  })

  it('fails on a failure, on an empty run, and with CI=true on a skipped test', () => {
    expect(exitCodeOf({ passed: 1, failed: 0, skipped: 0 }, {})).to.equal(0)
    expect(exitCodeOf({ passed: 1, failed: 1, skipped: 0 }, {})).to.equal(1)
    expect(exitCodeOf({ passed: 0, failed: 0, skipped: 0 }, {})).to.equal(1)
    expect(exitCodeOf({ passed: 1, failed: 0, skipped: 1 }, {})).to.equal(0)
    expect(exitCodeOf({ passed: 1, failed: 0, skipped: 1 }, { CI: 'true' })).to.equal(1)
  })

  it('says how a long error begins and how it ends: a program says last why it ended', () => {
    const error = new Error(`the service ended: ${'a line of its log\n'.repeat(500)}the port is taken`)
    const line = failureLine({ file: 'test/a/x.test.ts', title: 'starts', error })
    expect(line).to.match(/^FAILED test\/a\/x\.test\.ts: starts: the service ended: a line .* … .* the port is taken$/)
    expect(line.length).to.be.below(1_000)
  })

  it('adds up what the processes of a run report', () => {
    const reports: RunReport[] = [
      {
        tally: { passed: 3, failed: 1, skipped: 2 },
        seconds: { 'test/a/x.test.ts': 1 },
        skipped: {},
        failures: ['FAILED x'],
      },
      {
        tally: { passed: 4, failed: 0, skipped: 1 },
        seconds: { 'test/b/y.test.ts': 2 },
        skipped: { 'test/b/y.test.ts': 1 },
        failures: ['FAILED y'],
      },
    ]
    expect(mergeReports(reports)).to.deep.equal({
      tally: { passed: 7, failed: 1, skipped: 3 },
      seconds: { 'test/a/x.test.ts': 1, 'test/b/y.test.ts': 2 },
      skipped: { 'test/b/y.test.ts': 1 },
      failures: ['FAILED x', 'FAILED y'],
    })
  })

  it('gives the seconds of each folder and file, the slowest first', () => {
    const seconds = { 'test/a/x.test.ts': 1, 'test/b/y.test.ts': 2.25, 'test/b/deep/z.test.ts': 10 }
    expect(timeLines(seconds).map((line) => line.trim().replace(/ +/g, ' '))).to.deep.equal([
      '12.3 s test/b',
      '10.0 s deep/z.test.ts',
      '2.3 s y.test.ts',
      '1.0 s test/a',
      '1.0 s x.test.ts',
    ])
  })

  it('cannot be read without seeing what was not run', () => {
    const tally = { passed: 7, failed: 0, skipped: 3 }
    const lines = notRunLines({ tally, seconds: {}, skipped: { 'test/b/y.test.ts': 3 }, failures: [] })
    expect(lines.join('\n')).to.match(/^!{80,}\n!! NOT RUN: 3 tests.*\n!! +3 +test\/b\/y\.test\.ts\n/)
    expect(notRunLines({ tally: { ...tally, skipped: 0 }, seconds: {}, skipped: {}, failures: [] })).to.deep.equal([])
  })
})

describe('a test that takes longer than its level allows', () => {
  it('is named with its seconds, the slowest first, and fails nothing', () => {
    const line = (title: string, ms: number) => ({ file: 'test/a/x.test.ts', title, state: 'passed', ms }) as const
    const lines = tooLongLines([line('fast', 9_999), line('slow', 10_001), line('slower', 20_000)], 10_000)
    expect(lines.slice(1, 3).map((text) => text.trim())).to.deep.equal([
      '20.0 s  test/a/x.test.ts: slower',
      '10.0 s  test/a/x.test.ts: slow',
    ])
    expect(tooLongLines([line('fast', 9_999)], 10_000)).to.deep.equal([])
  })
})

describe('the reporter', () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'whence-reporter-'))))
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function run(text: string, flags: readonly string[] = []): Promise<{ output: string; code: number | null }> {
    const file = join(folder, 'sample.test.mjs')
    await writeFile(file, text)
    const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js')
    const reporter = join(import.meta.dirname, 'reporter.ts')
    const env = { ...process.env, CI: 'false' }
    const child = spawn(process.execPath, [mocha, '--no-config', '--reporter', reporter, ...flags, file], {
      cwd: ROOT,
      env,
    })
    let output = ''
    child.stdout.on('data', (data: Buffer) => (output += data.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { output, code }
  }

  it('ends with the tally, above it the seconds and what was skipped in hooks too', async () => {
    const { output, code } = await run(`
      describe('a', () => { it('passes', () => undefined) })
      describe('b', () => { before(function () { this.skip() }); it('is left out', () => undefined) })`)
    const lines = output.trimEnd().split('\n')
    expect(lines.at(-1)).to.equal('1 passed, 0 failed, 1 skipped')
    expect(output).to.match(/Seconds by file:\n.* s .*\n.* s .*sample\.test\.mjs\n/)
    expect(output).to.match(/!! NOT RUN: 1 tests/)
    expect(code).to.equal(0)
  })

  it('names what failed, hooks included, right above the tally', async () => {
    const { output } = await run(`
      describe('a', () => {
        it('fails', () => { throw new Error('no such thing\\nand more') })
        it('passes', () => undefined)
        after(() => { throw new Error('late') })
      })`)
    expect(output.trimEnd().split('\n').slice(-3)).to.satisfy(([one, other, tally]: string[]) =>
      [
        /^FAILED .*sample\.test\.mjs: a fails: no such thing and more$/.test(one ?? ''),
        /^FAILED .*sample\.test\.mjs: a "after all" hook.*: late$/.test(other ?? ''),
        tally === '1 passed, 2 failed',
      ].every(Boolean),
    )
  })

  it('says in one line, and without colours, what a browser waited for', async () => {
    const message = "Timeout 90000ms exceeded.\\nCall log:\\n\\u001b[2m  - waiting for getByText('Live')\\u001b[22m"
    const { output } = await run(`describe('a', () => { it('fails', () => { throw new Error("${message}") }) })`)
    expect(output).to.include("a fails: Timeout 90000ms exceeded. Call log: - waiting for getByText('Live')\n")
  })

  it('shows the list that an assertion found, which the message abridges', async () => {
    const list = ['one that is long enough to be abridged', 'another of them']
    const error = `Object.assign(new Error('expected [ …(2) ]'), { actual: ${JSON.stringify(list)} })`
    const { output } = await run(`describe('a', () => { it('fails', () => { throw ${error} }) })`)
    expect(output).to.include(`expected [ …(2) ]; it was ${JSON.stringify(list)}`)
  })

  it('leaves the closing lines to the caller of a report, failures of hooks included', async () => {
    const reportFile = join(folder, 'report.json')
    const { output, code } = await run(
      `describe('a', () => { after(() => { throw new Error('late') }); it('passes', () => undefined) })`,
      ['--reporter-option', `report=${reportFile}`],
    )
    expect(output).not.to.match(/\d+ passed, \d+ failed/)
    expect(code).to.equal(1)
    const report = JSON.parse(await readFile(reportFile, 'utf8')) as RunReport
    expect(report.tally).to.deep.equal({ passed: 1, failed: 1, skipped: 0 })
    expect(Object.keys(report.seconds).join()).to.match(/sample\.test\.mjs$/)
  })

  it('writes a line for each test as it ends, which outlive the process', async () => {
    const linesFile = join(folder, 'lines.jsonl')
    const { code } = await run(
      `describe('a', () => {
        it('passes', () => new Promise((done) => setTimeout(done, 30)))
        it('fails', () => { throw new Error('no such thing') })
        it.skip('is left out', () => undefined)
        it('is interrupted', () => process.kill(process.pid, 'SIGKILL'))
      })`,
      ['--reporter-option', `lines=${linesFile}`],
    )
    expect(code).to.equal(null)
    const lines = `${await readFile(linesFile, 'utf8')}{"cut`
    const { tally, failures } = reportOfLines(lines)
    expect(testLinesIn(lines)[0]?.ms).to.be.greaterThan(20)
    expect(tally).to.deep.equal({ passed: 1, failed: 1, skipped: 1 })
    expect(failures).to.have.length(1)
    expect(failures[0]).to.match(/^FAILED .*sample\.test\.mjs: a fails: no such thing$/)
  })

  it('ends with its runner, and so does what its tests have started', async () => {
    const test = join(folder, 'sample.test.mjs')
    const pids = join(folder, 'pids')
    await writeFile(
      test,
      `import { spawn } from 'node:child_process'
      import { writeFileSync } from 'node:fs'
      it('never ends', () => {
        const { pid } = spawn('sleep', ['1000'])
        writeFileSync(${JSON.stringify(pids)}, process.pid + ' ' + pid + ' ')
        return new Promise(() => setInterval(() => undefined, 1_000))
      })`,
    )
    const words = [join(ROOT, 'node_modules/mocha/bin/mocha.js'), '--no-config', '--timeout', '0']
    const all = JSON.stringify([...words, '--require', join(import.meta.dirname, 'ends-with-runner.ts'), test])
    const script = `import { spawn } from 'node:child_process'
      spawn(process.execPath, ${all}, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], detached: true })`
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: ROOT, stdio: 'inherit' })
    const written = async (): Promise<string> => readFile(pids, 'utf8').catch(() => '')
    await until(async () => /^\d+ \d+ $/.test(await written()))
    const started = (await written()).trim().split(' ').map(Number)
    expect(started.filter(isRunning)).to.deep.equal(started)
    runner.kill('SIGKILL')
    await until(() => !started.some(isRunning))
  })
})

describe('the output of two processes', () => {
  it('is cut behind each suite, and not among the failures', async () => {
    async function* lines(): AsyncGenerator<string> {
      yield* ['', '', '  one', '    ok', '', '  two', '    ok', '', '', '  2 passing (1s)', '', '  1) one', '', 'why']
    }
    const blocks: string[] = []
    for await (const block of blocksOf(lines())) blocks.push(block)
    expect(blocks.filter((block) => block !== '')).to.deep.equal([
      '  one\n    ok\n',
      '  two\n    ok\n',
      '  2 passing (1s)\n\n  1) one\n\nwhy',
    ])
  })
})

/** A process that has ended may stay known until somebody asks for its exit code. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc/self') || !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
