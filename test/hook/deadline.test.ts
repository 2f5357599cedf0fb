/** However slow the machine is, the hook as a whole ends in the promised time and leaves nothing running. */

import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../fixtures/until.ts'
import { buildHome, CHROME, marker, type Home } from './support/home.ts'
import { startRecorder, type Recorder } from './support/recorder.ts'
import {
  programPath,
  REAL_PATH,
  run,
  servedScript,
  type Shell,
  SHELLS,
  temporaryFolder,
  toolFolder,
  TOOLS,
  VARIANTS,
} from './support/shells.ts'

describe('hook: deadline', function () {
  this.timeout(60_000)
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>
  let home: Home

  before(async () => {
    recorder = await startRecorder()
    folder = temporaryFolder()
    home = buildHome(join(folder.path, 'home'))
    home.chromium(`${CHROME}/Default`, 1, marker(1))
  })
  after(async () => {
    await recorder.close()
    folder.remove()
  })

  /** A PATH on which each of the tools does `first` before it does its work; `$tool` is the real one. */
  function standIns(name: string, tools: readonly string[], first: string): string {
    const path = join(folder.path, name)
    mkdirSync(path)
    for (const tool of tools) {
      const text = `#!/bin/sh\n${first}\nexec ${programPath(tool)} "$@"\n`
      writeFileSync(join(path, tool), text, { mode: 0o755 })
    }
    return `${path}:${REAL_PATH}`
  }

  const processesWith = (word: string): string[] =>
    spawnSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.includes(word))

  describe('a program without its own time limit hangs', () => {
    const shells = SHELLS.filter(({ name }) => !VARIANTS.includes(name))
    const nameOf = (shell: Shell): string => `hangs-${shell.name.replaceAll(' ', '-')}`
    let outcomes: Map<Shell, unknown>

    /** All at the same time: each takes as long as the hook may. */
    before(async () => {
      const runIn = async (shell: Shell): Promise<[Shell, unknown]> => {
        // Only its own alarm can end this run: nothing else limits uname, and the stand-in would stay for ever.
        const path = standIns(nameOf(shell), ['uname'], `trap '' TERM INT HUP\n${programPath('sleep')} 7777 & wait`)
        const script = `${servedScript({ baseUrl: recorder.baseUrl })}\necho "after: \${whence_worker-unset} $(trap)"`
        const env = { HOME: home.path, PATH: path }
        return [shell, await run({ shell, script, args: ['install_completed'], env })]
      }
      outcomes = new Map(await Promise.all(shells.map(runIn)))
    })

    for (const shell of shells)
      it(`${shell.name}: everything ends when the time is up`, () => {
        expect(outcomes.get(shell)).to.deep.equal({ status: 0, stdout: 'after: unset \n', stderr: '' })
        expect(processesWith(join(folder.path, nameOf(shell)))).to.deep.equal([])
        expect(processesWith('sleep 7777').filter((line) => line.includes(programPath('sleep')))).to.deep.equal([])
      })
  })

  it('grep hangs: the scan is cut short, and the request is sent', async () => {
    const path = standIns('slow-grep', ['grep'], `${programPath('sleep')} 8`)
    const script = servedScript({ baseUrl: `${recorder.baseUrl}/slow-grep` })
    await run({ script, args: ['install_completed'], env: { HOME: home.path, PATH: path } })
    expect(recorder.under('/slow-grep').map(({ body }) => body['receipts'])).to.deep.equal([[]])
  })

  it('each start of a program takes a second: ends with nothing left behind', async () => {
    const slow = ['date', 'uname', 'id', 'ls', 'dd', 'find', 'tr', 'od', 'awk', 'readlink', 'curl']
    const path = standIns('slow-starts', slow, `${programPath('sleep')} 1`)
    const before = readdirSync(join(folder.path, 'tmp'))
    const script = servedScript({ baseUrl: `${recorder.baseUrl}/slow-starts` })
    const env = { HOME: home.path, PATH: path, TMPDIR: join(folder.path, 'tmp') }
    const outcome = await run({ script, args: ['install_completed'], env })
    expect(outcome).to.deep.equal({ status: 0, stdout: '', stderr: '' })
    expect(readdirSync(join(folder.path, 'tmp'))).to.deep.equal(before)
    expect(processesWith(join(folder.path, 'slow-starts'))).to.deep.equal([])
  })

  it('hangs, and there is no ps: ends all the same', async () => {
    const hanging = join(folder.path, 'hanging')
    mkdirSync(hanging)
    const text = `#!/bin/sh\necho $$ >${join(hanging, 'pid')}\nexec ${programPath('sleep')} 40 2>&- 3>&-\n`
    writeFileSync(join(hanging, 'uname'), text, { mode: 0o755 })
    const tools = TOOLS.filter((tool) => tool !== 'ps')
    const PATH = `${hanging}:${toolFolder(folder.path, tools, 'real')}`
    const script = servedScript({ baseUrl: `${recorder.baseUrl}/no-ps` })
    const outcome = await run({ script, args: ['install_completed'], env: { HOME: home.path, PATH } })
    expect(outcome).to.deep.equal({ status: 0, stdout: '', stderr: '' })
    // It ended before what hangs, which it could not find.
    expect(process.kill(Number(readFileSync(join(hanging, 'pid'), 'utf8')), 'SIGKILL')).to.equal(true)
    expect(recorder.under('/no-ps')).to.deep.equal([])
  })

  it('the clock says that time is up: no scan and no request', async () => {
    const path = join(folder.path, 'late')
    mkdirSync(path)
    // The first call returns the start, every later one that 9 seconds have passed.
    const text = `#!/bin/sh\nif mkdir ${join(path, 'asked')}; then echo 1700000000; else echo 1700000009; fi\n`
    writeFileSync(join(path, 'date'), text, { mode: 0o755 })
    const script = servedScript({ baseUrl: `${recorder.baseUrl}/late` })
    const env = { HOME: home.path, PATH: `${path}:${REAL_PATH}` }
    const { stderr } = await run({ script, args: ['install_completed', '--explain'], env })
    expect(stderr).to.include('no time is left to look').and.to.include('nothing is sent: no time is left')
    expect(recorder.under('/late')).to.deep.equal([])
  })

  it('interrupted: ends with all that it started', async () => {
    const path = standIns('interrupted', ['uname'], `echo started >${join(folder.path, 'started')}; sleep 6666`)
    const script = servedScript({ baseUrl: recorder.baseUrl })
    const child = spawn('sh', ['-c', `${script}\n`, 'sh', 'install_completed'], {
      env: { HOME: home.path, PATH: path },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.on('close', resolve))
    await until(() => readdirSync(folder.path).includes('started'))
    const [hook] = childrenOf(child.pid as number)
    process.kill(hook as number, 'SIGTERM')
    await ended
    expect(processesWith(join(folder.path, 'interrupted'))).to.deep.equal([])
  })
})

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['--ppid', String(pid), '-o', 'pid='], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}
