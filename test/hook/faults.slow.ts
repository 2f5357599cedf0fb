/** Whatever is broken around it, the hook ends by itself with status 0 and without standard output. */

import { expect } from 'chai'
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { until } from '../../fixtures/until.ts'
import { buildHome, CHROME, marker, receipt, type Home } from './support/home.ts'
import { listen, portOf, startRecorder, type Recorder } from './support/recorder.ts'
import {
  programPath,
  REAL_PATH,
  run,
  servedScript,
  SHELLS,
  temporaryFolder,
  toolFolder,
  TOOLS,
  VARIANTS,
  WEBSITE,
  type Outcome,
  type Shell,
} from './support/shells.ts'

const SILENT: Outcome = { status: 0, stdout: '', stderr: '' }
const TOKEN = 'wht_0123456789012345678901234567890123456789abc'
const isRoot = process.getuid?.() === 0
/** Shells that are tried beside each other. */
const AT_ONCE = 3
const NOBODY = 65_534

describe('hook: faults', function () {
  this.timeout(60_000)
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>
  let home: Home
  const servers: Server[] = []

  before(async () => {
    recorder = await startRecorder()
    folder = temporaryFolder()
    chmodSync(folder.path, 0o755)
    home = buildHome(join(folder.path, 'home'))
    home.chromium(`${CHROME}/Default`, 1, marker(1))
  })
  after(async () => {
    await recorder.close()
    for (const server of servers) server.close()
    folder.remove()
  })

  /** A server that does with each connection what the test wants; gives its address. */
  async function serverThat(treat: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).unref()
      treat(socket)
    })
    servers.push(server)
    await listen(server)
    return `127.0.0.1:${portOf(server)}`
  }

  const report = (baseUrl: string, env: Record<string, string> = {}): Promise<Outcome> =>
    run({ script: servedScript({ baseUrl }), args: ['install_completed'], env: { HOME: home.path, ...env } })

  const without = (...tools: string[]): string =>
    toolFolder(
      folder.path,
      TOOLS.filter((tool) => !tools.includes(tool)),
    )

  describe('of the service', () => {
    for (const status of [400, 403, 404, 429, 500, 503]) {
      it(`answers ${status}: one try`, async () => {
        const refusing = await startRecorder(status)
        const outcome = await report(refusing.baseUrl)
        await refusing.close()
        expect(outcome).to.deep.equal(SILENT)
        expect(refusing.all).to.have.length(1)
      })
    }

    for (const tool of ['curl', 'wget']) {
      it(`redirects ${tool}: not followed`, async () => {
        const path =
          tool === 'curl' ? {} : { PATH: toolFolder(folder.path, [...TOOLS.filter((name) => name !== 'curl'), 'wget']) }
        const answer = `HTTP/1.1 307 Temporary Redirect\r\nLocation: ${recorder.baseUrl}/redirected/v1/events\r\nContent-Length: 0\r\n\r\n`
        const address = await serverThat((socket) => socket.on('data', () => socket.end(answer)))
        expect(await report(`http://${address}`, path)).to.deep.equal(SILENT)
        expect(recorder.under('/redirected')).to.deep.equal([])
      })
    }

    it('refuses the connection, has no name, speaks no TLS, hangs up or sends nonsense', async () => {
      const refusing = createServer()
      await listen(refusing)
      const closedPort = portOf(refusing)
      refusing.close()
      const plain = recorder.baseUrl.replace('http:', 'https:')
      const hangup = await serverThat((socket) => socket.destroy())
      const nonsense = await serverThat((socket) => socket.end('$(id)\0\r\n'.repeat(100)))
      const addresses = [
        `http://127.0.0.1:${closedPort}`,
        'http://does-not-exist.invalid',
        plain,
        `http://${hangup}`,
        `http://${nonsense}`,
      ]
      for (const address of addresses) expect(await report(address), address).to.deep.equal(SILENT)
    })

    it('never answers, answers without end, or answers drop by drop: ended by the hook', async () => {
      const never = await serverThat((socket) => socket.resume())
      const flood = await serverThat((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        const more = (): boolean => socket.write('x'.repeat(65_536))
        socket.on('drain', more)
        more()
      })
      const drip = await serverThat((socket) => {
        const timer = setInterval(() => socket.write('H'), 500).unref()
        socket.on('close', () => clearInterval(timer))
      })
      const wget = { PATH: toolFolder(folder.path, [...TOOLS.filter((name) => name !== 'curl'), 'wget'], 'real') }
      const runs = [never, flood, drip].flatMap((address) => [
        report(`http://${address}`),
        report(`http://${address}`, wget),
      ])
      for (const outcome of await Promise.all(runs)) expect(outcome).to.deep.equal(SILENT)
    })
  })

  describe('of the tools', () => {
    for (const tool of TOOLS.filter((name) => !/sh$|busybox/.test(name))) {
      it(`no ${tool}`, async () => {
        const prefix = `/no-${tool}`
        expect(await report(`${recorder.baseUrl}${prefix}`, { PATH: without(tool) })).to.deep.equal(SILENT)
        const sent = recorder.under(prefix)
        expect(sent.flatMap(({ complaints }) => complaints)).to.deep.equal([])
        // Without these the scan or even the report is lost; without any other nothing is.
        const isLost = ['curl', 'env'].includes(tool) ? tool === 'curl' : false
        expect(sent).to.have.length(isLost ? 0 : 1)
      })
    }

    it('no curl but wget: the same body', async () => {
      const path = toolFolder(folder.path, [...TOOLS.filter((tool) => tool !== 'curl'), 'wget'])
      const temporary = join(folder.path, 'tmp')
      for (const name of ['.wgetrc', '.netrc', '.wget-hsts']) home.file(name, 'header = X-Evil: 1\n')
      const outcome = await report(`${recorder.baseUrl}/wget`, { PATH: path, TMPDIR: temporary })
      expect(outcome).to.deep.equal(SILENT)
      const [sent] = recorder.under('/wget')
      expect(sent?.complaints).to.deep.equal([])
      expect(sent?.body['receipts']).to.deep.equal([receipt(1)])
      expect(readdirSync(temporary)).to.deep.equal([])
      expect(readFileSync(join(home.path, '.wget-hsts'), 'utf8')).to.equal('header = X-Evil: 1\n')
    })

    it('no curl but the wget of busybox', async () => {
      const path = without('curl')
      symlinkSync(programPath('busybox'), join(path, 'wget'))
      expect(await report(`${recorder.baseUrl}/busybox`, { PATH: path })).to.deep.equal(SILENT)
      const [sent] = recorder.under('/busybox')
      expect(sent?.complaints).to.deep.equal([])
      expect(sent?.body['receipts']).to.deep.equal([receipt(1)])
    })

    it('all tools of busybox', async () => {
      const path = join(folder.path, 'busybox-only')
      mkdirSync(path)
      for (const tool of [...TOOLS.filter((name) => name !== 'curl'), 'wget']) {
        if (!existsSync(join(path, tool))) symlinkSync(programPath('busybox'), join(path, tool))
      }
      const outcome = await run({
        shell: { name: 'busybox sh', argv: [programPath('busybox'), 'sh'] },
        script: servedScript({ baseUrl: `${recorder.baseUrl}/only` }),
        args: ['install_completed'],
        env: { HOME: home.path, PATH: path },
      })
      expect(outcome).to.deep.equal(SILENT)
      expect(recorder.under('/only')[0]?.body['receipts']).to.deep.equal([receipt(1)])
    })

    it('no PATH at all', async () => {
      for (const { name, argv } of SHELLS) {
        const shell = { name, argv: [programPath(argv[0]), ...argv.slice(1)] as [string, ...string[]] }
        const outcome = await run({
          shell,
          script: servedScript({ baseUrl: recorder.baseUrl }),
          args: ['first_run'],
          env: { PATH: '' },
        })
        expect(outcome, name).to.deep.equal(SILENT)
      }
    })

    it('programs that hang: ended by the hook in every shell, and the report is still sent', async () => {
      const hang = mkPath(join(folder.path, 'hanging'))
      for (const tool of ['find', 'ls', 'dd', 'curl', 'xargs']) {
        writeFileSync(join(hang, tool), `#!/bin/sh\ntrap '' TERM INT HUP USR1\nexec ${programPath('sleep')} 60\n`, {
          mode: 0o755,
        })
      }
      const only = (tool: string): string => {
        const path = mkPath(join(folder.path, `hanging-${tool}`))
        symlinkSync(join(hang, tool), join(path, tool))
        return `${path}:${REAL_PATH}`
      }
      const tools = ['find', 'ls', 'dd', 'xargs', 'curl']
      const paths = [...tools.map(only), `${hang}:${REAL_PATH}`]
      const check = async (shell: Shell, index: number): Promise<void> => {
        const runIn = (PATH: string, position: number): Promise<Outcome> => {
          const script = servedScript({ baseUrl: `${recorder.baseUrl}/hang-${index}-${tools[position] ?? 'all'}` })
          return run({ shell, script, args: ['install_completed'], env: { HOME: home.path, PATH } })
        }
        for (const outcome of await Promise.all(paths.map(runIn))) expect(outcome, shell.name).to.deep.equal(SILENT)
        const counts = tools.map((tool) => recorder.under(`/hang-${index}-${tool}`).length)
        expect(counts, shell.name).to.deep.equal([1, 1, 1, 1, 0])
      }
      const tried = SHELLS.filter(({ name }) => !VARIANTS.includes(name))
      // All at once leave a busy machine too little for the report, which the hook may give up for want of time.
      for (let first = 0; first < tried.length; first += AT_ONCE)
        await Promise.all(tried.slice(first, first + AT_ONCE).map((shell, index) => check(shell, first + index)))
    })
  })

  describe('of the home folder', () => {
    const stateOf = (path: string): string => join(path, '.local/state/whence', WEBSITE)

    it('its own files are links, pipes, folders or garbage', async () => {
      const victim = home.file('victim', 'untouched')
      const own = buildHome(join(folder.path, 'odd-home'))
      const state = mkPath(stateOf(own.path))
      const cases: readonly ((path: string) => unknown)[] = [
        (path) => symlinkSync(victim, path),
        (path) => spawnSync('mkfifo', [path]),
        (path) => writeFileSync(path, '"}\n$(id)'),
        (path) => writeFileSync(path, 'short'),
        (path) => mkdirSync(path),
      ]
      for (const [index, make] of cases.entries()) {
        for (const name of ['installation_id', 'last_request.json']) {
          spawnSync('rm', ['-rf', join(state, name)])
          make(join(state, name))
        }
        expect(await report(`${recorder.baseUrl}/own-${index}`, { HOME: own.path, PATH: REAL_PATH })).to.deep.equal(
          SILENT,
        )
        expect(recorder.under(`/own-${index}`)[0]?.complaints).to.deep.equal([])
      }
      expect(readFileSync(victim, 'utf8')).to.equal('untouched')
    })

    it('cannot be written: a new installation ID for each run', async function () {
      if (!isRoot) this.skip()
      const own = buildHome(join(folder.path, 'read-only'))
      own.chromium(`${CHROME}/Default`, 1, marker(1))
      spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, own.path])
      chmodSync(own.path, 0o555)
      const script = servedScript({ baseUrl: `${recorder.baseUrl}/read-only` })
      for (let time = 0; time < 2; time++) {
        const outcome = await run({ script, args: ['install_completed'], env: { HOME: own.path }, userId: NOBODY })
        expect(outcome).to.deep.equal(SILENT)
      }
      const sent = recorder.under('/read-only')
      expect(sent.map(({ body }) => body['receipts'])).to.deep.equal([[receipt(1)], [receipt(1)]])
      expect(new Set(sent.map(({ body }) => body['installation_id'])).size).to.equal(2)
    })

    it('has folders and files that must not be read: the others count', async function () {
      if (!isRoot) this.skip()
      const own = buildHome(join(folder.path, 'forbidden'))
      for (const [index, place] of ['Default', 'Profile 1', 'Profile 2'].entries())
        own.chromium(`${CHROME}/${place}`, 1, marker(index))
      const file = own.chromium(`${CHROME}/Profile 3`, 1, marker(3))
      own.chromium('.config/chromium/Default', 1, marker(4))
      spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, own.path])
      own.forbid(`${CHROME}/Default`)
      own.forbid(`${CHROME}/Profile 1/File System`)
      own.forbid('.config/chromium')
      chownSync(file, 0, 0)
      chmodSync(file, 0o600)
      const script = servedScript({ baseUrl: `${recorder.baseUrl}/forbidden` })
      const outcome = await run({ script, args: ['install_completed'], env: { HOME: own.path }, userId: NOBODY })
      expect(outcome).to.deep.equal(SILENT)
      expect(recorder.under('/forbidden')[0]?.body['receipts']).to.deep.equal([receipt(2)])
    })

    it('belongs to another user: neither read nor written', async function () {
      if (!isRoot) this.skip()
      const own = buildHome(join(folder.path, 'foreign'))
      own.chromium(`${CHROME}/Default`, 1, marker(1))
      spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, own.path])
      expect(await report(`${recorder.baseUrl}/foreign`, { HOME: own.path })).to.deep.equal(SILENT)
      expect(recorder.under('/foreign')[0]?.body['receipts']).to.deep.equal([])
      expect(existsSync(join(own.path, '.local'))).to.equal(false)
    })

    it('and the folder for temporary files are on a full disk', async function () {
      if (!isRoot) this.skip()
      const disk = mkPath(join(folder.path, 'full'))
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', disk]).status !== 0) this.skip()
      try {
        const own = buildHome(join(disk, 'home'))
        own.chromium(`${CHROME}/Default`, 1, marker(1))
        spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'ballast')}`, 'bs=4096'])
        for (const [index, shell] of SHELLS.entries()) {
          const script = servedScript({ baseUrl: `${recorder.baseUrl}/full-${index}` })
          const env = { HOME: own.path, TMPDIR: disk }
          expect(await run({ shell, script, args: ['install_completed'], env }), shell.name).to.deep.equal(SILENT)
          expect(recorder.under(`/full-${index}`)[0]?.body['receipts'], shell.name).to.deep.equal([receipt(1)])
        }
        const path = toolFolder(folder.path, [...TOOLS.filter((tool) => tool !== 'curl'), 'wget'])
        const env = { HOME: own.path, TMPDIR: disk, PATH: path }
        expect(await report(recorder.baseUrl, env), 'wget needs a file').to.deep.equal(SILENT)
      } finally {
        spawnSync('umount', [disk])
      }
    })
  })

  describe('signals', () => {
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
    const cases = SHELLS.filter(({ name }) => !VARIANTS.includes(name)).flatMap((shell) =>
      signals.map((signal) => ({ shell, signal })),
    )
    for (const { shell, signal } of cases) {
      it(`${signal} to ${shell.name} and its group while wget waits: no file stays behind`, async () => {
        const reached = Promise.withResolvers<void>()
        const address = await serverThat((socket) => void socket.once('data', () => reached.resolve()))
        const temporary = mkPath(join(folder.path, `tmp-${signal}-${shell.argv[0]}`))
        const path = toolFolder(folder.path, [...TOOLS.filter((tool) => tool !== 'curl'), 'wget'])
        const args = [...shell.argv.slice(1), '-s', '--', 'install_completed', '--handoff', TOKEN]
        const child = spawn(programPath(shell.argv[0]), args, {
          env: { HOME: home.path, TMPDIR: temporary, PATH: path, HOOK_TEST_NOW: '1' },
          cwd: temporary, // wget likes to leave its log where it was started.
          stdio: ['pipe', 'ignore', 'ignore'],
          detached: true,
        })
        const ended = new Promise((resolve) => child.on('close', resolve))
        child.stdin.end(servedScript({ baseUrl: `http://${address}` }))
        await reached.promise
        expect(readdirSync(temporary)).to.have.length(1)
        process.kill(-(child.pid ?? 0), signal)
        await ended
        await until(() => readdirSync(temporary).length === 0)
        expect(readdirSync(temporary)).to.deep.equal([])
      })
    }
  })
})

function mkPath(path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  mkdirSync(path)
  return path
}
