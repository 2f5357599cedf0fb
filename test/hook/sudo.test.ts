/** Under sudo the hook acts for the person who called sudo, through that person's rights, or leaves home folders alone. */

import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildHome, CHROME, marker, receipt, type Home } from './support/home.ts'
import { startRecorder, type Recorder } from './support/recorder.ts'
import {
  isInstalled,
  programPath,
  run,
  servedScript,
  SHELLS,
  temporaryFolder,
  toolFolder,
  TOOLS,
  WEBSITE,
  type Shell,
} from './support/shells.ts'

const VISITOR = 'hook-visitor'
const VISITOR_ID = 54_321
const isRoot = process.getuid?.() === 0

describe('hook: under sudo', function () {
  this.timeout(60_000)
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>
  let visitor: Home
  let rootHome: Home

  before(async function () {
    // Users are made in a mount namespace of their own, so that the machine's list stays as it is.
    if (!isRoot || spawnSync('unshare', ['-m', 'true']).status !== 0) this.skip()
    recorder = await startRecorder()
    folder = temporaryFolder()
    chmodSync(folder.path, 0o755)
    for (const [name, line] of Object.entries(userLines(join(folder.path, 'visitor')))) {
      writeFileSync(join(folder.path, name), `${readFileSync(`/etc/${name}`, 'utf8').trimEnd()}\n${line}\n`)
    }
    visitor = buildHome(join(folder.path, 'visitor'))
    rootHome = buildHome(join(folder.path, 'root'))
    rootHome.chromium(`${CHROME}/Default`, 1, marker(9))
    visitor.chromium(`${CHROME}/Default`, 1, marker(1))
    const onlyRoots = visitor.chromium(`${CHROME}/Default`, 2, marker(2))
    spawnSync('chown', ['-R', `${VISITOR_ID}:${VISITOR_ID}`, visitor.path])
    chmodSync(visitor.path, 0o700)
    // A process that reads as root would read this one too.
    chownSync(onlyRoots, 0, 0)
    chmodSync(onlyRoots, 0o600)
  })
  after(async () => {
    if (recorder === undefined) return
    await recorder.close()
    folder.remove()
  })
  beforeEach(() => {
    for (const home of [visitor, rootHome]) rmSync(join(home.path, '.local'), { recursive: true, force: true })
  })

  interface Call {
    readonly name: string
    readonly home?: string
    readonly tools?: readonly string[]
    readonly shell?: Shell
    readonly user?: string
    readonly args?: readonly string[]
    readonly userId?: number
  }

  async function report({
    name,
    home,
    tools,
    shell,
    user = VISITOR,
    args = [],
    userId,
  }: Call): Promise<Record<string, unknown>> {
    const lists = ['passwd', 'shadow', 'group']
      .map((list) => `mount --bind ${join(folder.path, list)} /etc/${list} && `)
      .join('')
    const drop = userId === undefined ? '' : `setpriv --reuid=${userId} --regid=${userId} --clear-groups `
    const outcome = await run({
      ...(shell === undefined ? {} : { shell }),
      wrapper: [programPath('unshare'), '-m', programPath('sh'), '-c', `${lists}exec ${drop}"$@"`, 'sh'],
      script: servedScript({ baseUrl: `${recorder.baseUrl}/${name}` }),
      args: ['install_completed', ...args],
      env: {
        HOME: home ?? rootHome.path,
        SUDO_USER: user,
        ...(tools === undefined ? {} : { PATH: `${toolFolder(folder.path, [...TOOLS, ...tools])}` }),
      },
    })
    expect(outcome).to.deep.equal({ status: 0, stdout: '', stderr: '' })
    const [sent] = recorder.under(`/${name}`)
    expect(sent?.complaints).to.deep.equal([])
    return sent?.body ?? {}
  }

  const stateOf = (home: Home): string => join(home.path, '.local/state/whence', WEBSITE)

  for (const tool of ['sudo', 'runuser', 'su']) {
    it(`reads and writes as the caller of sudo, through ${tool}`, async function () {
      if (!isInstalled(tool)) this.skip()
      const extra = ['mount', 'setpriv', 'unshare', tool]
      const body = await report({ name: tool, tools: extra })
      expect(body['receipts']).to.deep.equal([receipt(1)])
      const state = stateOf(visitor)
      expect(readdirSync(state).sort()).to.deep.equal(['installation_id', 'last_request.json'])
      for (const path of [state, ...readdirSync(state).map((name) => join(state, name))]) {
        expect(statSync(path).uid, path).to.equal(VISITOR_ID)
        expect(statSync(path).mode & 0o077, path).to.equal(0)
      }
      expect(existsSync(join(rootHome.path, '.local'))).to.equal(false)
    })
  }

  it('does so in every shell, and if sudo kept the HOME of its caller, as on macOS', async () => {
    for (const [index, shell] of SHELLS.filter(({ argv }) => isInstalled(argv[0])).entries()) {
      const body = await report({ name: `shell-${index}`, home: visitor.path, shell })
      expect(body['receipts'], shell.name).to.deep.equal([receipt(1)])
    }
  })

  it('with no way to become that person: no scan, no file in either home, and the install is reported', async () => {
    const body = await report({ name: 'none', tools: ['mount', 'unshare'] })
    expect(body['receipts']).to.deep.equal([])
    expect(existsSync(join(rootHome.path, '.local')) || existsSync(join(visitor.path, '.local'))).to.equal(false)
  })

  it('from a user who is not root: no scan of either home', async () => {
    const other = buildHome(join(folder.path, 'other'))
    other.chromium(`${CHROME}/Default`, 1, marker(5))
    spawnSync('chown', ['-R', '65534:65534', other.path])
    const body = await report({ name: 'not-root', home: other.path, userId: 65_534 })
    expect(body['receipts']).to.deep.equal([])
    expect(existsSync(join(other.path, '.local'))).to.equal(false)
  })

  it('back as the person who called it: a scan as without sudo', async () => {
    const body = await report({ name: 'back', home: visitor.path, userId: VISITOR_ID })
    expect(body['receipts']).to.deep.equal([receipt(1)])
  })

  it('root who calls sudo is root', async () => {
    const body = await report({ name: 'root', user: 'root' })
    expect(body['receipts']).to.deep.equal([receipt(9)])
  })

  it('a SUDO_USER that does not exist, or that is no name: no scan', async () => {
    for (const [index, user] of ['nobody-here', '-u root', '$(id)', '../root', 'a b'].entries()) {
      const body = await report({ name: `odd-${index}`, user })
      expect(body['receipts'], user).to.deep.equal([])
    }
    expect(existsSync(join(rootHome.path, '.local'))).to.equal(false)
  })

  it('with a token: no scan, and the installation ID is the caller’s', async () => {
    const token = 'wht_0123456789012345678901234567890123456789abc'
    const body = await report({ name: 'token', args: ['--handoff', token] })
    expect(body['handoff']).to.equal(token)
    expect(readFileSync(join(stateOf(visitor), 'installation_id'), 'utf8').trim()).to.equal(body['installation_id'])
  })
})

function userLines(home: string): Record<'passwd' | 'shadow' | 'group', string> {
  return {
    passwd: `${VISITOR}:x:${VISITOR_ID}:${VISITOR_ID}::${home}:/bin/sh`,
    shadow: `${VISITOR}:*:19000:0:99999:7:::`,
    group: `${VISITOR}:x:${VISITOR_ID}:`,
  }
}
