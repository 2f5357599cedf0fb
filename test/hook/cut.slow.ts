/** A download that was cut short does nothing at all, wherever the cut is. */

import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DASH,
  isInstalled,
  programPath,
  servedScript,
  SHELLS,
  temporaryFolder,
  TOOLS,
  VARIANTS,
  type Shell,
} from './support/shells.ts'

const SCRIPT = Buffer.from(servedScript({ baseUrl: 'http://127.0.0.1:9' }))
const BATCH = 2_000
const WORKERS = 2

/** Gives each file of a folder to a new shell as its standard input and writes "<name> <status>" for it. */
const AS_INPUT = `
cd "$1" || exit 1
shift
for cut in *; do
  PATH=$STUBS "$@" -s -- install_completed <"$cut" >>"$OUT" 2>>"$ERR"
  echo "$cut $?"
done
`

/**
 * The same by the running dash itself, which removes one more byte each time, in a fifth of the time: below `command` a syntax
 * error ends the text and not the shell. A cut that ended the shell would leave lines out, which are counted.
 */
const IN_PLACE = `
text=$(cat "$1"; echo .)
text=\${text%.}
length=\${#text}
lowest=$2
set -- install_completed
PATH=$STUBS
while [ "$length" -ge "$lowest" ]; do
  command eval "$text" >>"$OUT" 2>>"$ERR"
  echo "$length $?"
  text=\${text%?}
  length=$((length - 1))
done
`

interface Batches {
  readonly name: string
  readonly driver: string
}

describe('hook: cut short', function () {
  this.timeout(180_000)
  let folder: ReturnType<typeof temporaryFolder>
  let stubs: string
  let calls: string

  before(() => {
    folder = temporaryFolder()
    stubs = join(folder.path, 'stubs')
    calls = join(folder.path, 'calls')
    mkdirSync(stubs)
    for (const tool of new Set([...TOOLS, 'wget', 'w', 'sudo', 'su', 'runuser', 'whence'])) {
      writeFileSync(
        join(stubs, tool),
        `#!/bin/sh\necho ${tool} >>${calls}\n${tool === 'sleep' ? `exec ${programPath('sleep')} 1\n` : ''}`,
        { mode: 0o755 },
      )
    }
  })
  after(() => folder.remove())

  it('does something when it is whole, so that these tests can fail', async () => {
    for (const driver of [AS_INPUT, IN_PLACE]) {
      const statuses = await runCuts(DASH, [SCRIPT.length], { name: 'whole', driver })
      const called = readFileSync(calls, 'utf8')
      rmSync(calls)
      expect(statuses.get(SCRIPT.length)).to.equal(0)
      expect(called).to.include('curl').and.to.include('uname')
    }
  })

  it('runs nothing in dash, cut at every single byte', async () => {
    await checkCuts(
      DASH,
      Array.from({ length: SCRIPT.length }, (_, offset) => offset),
      IN_PLACE,
    )
  })

  for (const shell of SHELLS.filter(({ name }) => !VARIANTS.includes(name))) {
    it(`runs nothing in ${shell.name}, cut in every byte of the settings and of the last line, and in every 197th between`, async function () {
      if (!isInstalled(shell.argv[0]) && process.env['CI'] !== 'true') this.skip()
      const head = SCRIPT.indexOf('\n}\n') + 30
      const tail = SCRIPT.lastIndexOf('\n')
      const offsets = Array.from({ length: SCRIPT.length }, (_, offset) => offset)
      await checkCuts(
        shell,
        offsets.filter((offset) => offset < head || offset > tail || offset % 197 === 0),
        AS_INPUT,
      )
    })
  }

  it('starts no process, opens no connection and writes no file, as the system sees it', function () {
    if (!isInstalled('strace') && process.env['CI'] !== 'true') this.skip()
    for (let offset = 50; offset < SCRIPT.length; offset += 1_501) {
      const { stderr } = spawnSync('strace', ['-f', '-e', 'trace=process,network,file', programPath('dash'), '-s'], {
        input: SCRIPT.subarray(0, offset),
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      })
      expect(stderr.match(/execve\(/g), `cut at ${offset}`).to.have.length(1)
      expect(stderr).to.not.match(/\b(v?fork|clone3?|socket|connect|unlink|mkdir|rename)\(|O_WRONLY|O_RDWR|O_CREAT/)
    }
  })

  async function checkCuts(shell: Shell, offsets: readonly number[], driver: string): Promise<void> {
    const statuses = await runCuts(shell, offsets, { name: shell.name.replaceAll(' ', '-'), driver })
    expect(statuses.size).to.equal(offsets.length)
    // Between the braces a cut is a syntax error; outside of them there are only comments.
    const wrong = offsets.filter((offset) => (statuses.get(offset) === 0) !== isOutsideOfBraces(offset))
    expect(wrong).to.deep.equal([])
    expect(existsSync(calls), 'a program was run').to.equal(false)
  }

  async function runCuts(
    shell: Shell,
    offsets: readonly number[],
    { name, driver }: Batches,
  ): Promise<Map<number, number>> {
    const statuses = new Map<number, number>()
    const batches: number[][] = []
    for (let start = 0; start < offsets.length; start += BATCH) batches.push(offsets.slice(start, start + BATCH))
    const work = async (): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        const lines = await runBatch(shell, batch, { name: join(folder.path, `${name}-${batch[0]}`), driver })
        for (const line of lines) statuses.set(Number(line.split(' ')[0]), Number(line.split(' ')[1]))
      }
    }
    await Promise.all(Array.from({ length: WORKERS }, work))
    return statuses
  }

  async function runBatch(
    shell: Shell,
    offsets: readonly number[],
    { name: cuts, driver }: Batches,
  ): Promise<string[]> {
    const lowest = offsets[0] ?? 0
    const highest = offsets.at(-1) ?? 0
    if (driver === IN_PLACE) writeFileSync(cuts, SCRIPT.subarray(0, highest))
    else {
      mkdirSync(cuts)
      for (const offset of offsets) writeFileSync(join(cuts, String(offset)), SCRIPT.subarray(0, offset))
    }
    const env = { LC_ALL: 'C', STUBS: stubs, OUT: `${cuts}.out`, ERR: `${cuts}.err`, HOME: join(folder.path, 'home') }
    const argv = driver === IN_PLACE ? [String(lowest)] : [programPath(shell.argv[0]), ...shell.argv.slice(1)]
    const lines = await output(programPath('dash'), ['-c', driver, 'driver', cuts, ...argv], env)
    expect(readFileSync(env.OUT, 'utf8')).to.equal('')
    // A shell that looked for a program and did not find it would have run it elsewhere.
    expect(readFileSync(env.ERR, 'utf8')).to.not.match(/not found|No such file|inaccessible/)
    expect(existsSync(env.HOME), 'the home folder was made').to.equal(false)
    rmSync(cuts, { recursive: true })
    return lines.trim().split('\n')
  }
})

const BLOCK_OPEN = SCRIPT.indexOf('\n{\n') + 1
const BLOCK_CLOSE = SCRIPT.indexOf('\n}\n') + 1
const BODY_OPEN = SCRIPT.indexOf('\n{\n', BLOCK_CLOSE) + 1

function isOutsideOfBraces(offset: number): boolean {
  return offset <= BLOCK_OPEN || (offset > BLOCK_CLOSE && offset <= BODY_OPEN) || offset === SCRIPT.length
}

function output(command: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => resolve(text))
  })
}
