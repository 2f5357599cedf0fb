/** The recipes of docs/hook-recipes.md, run as printed there against a service that records what it gets. */

import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { until } from '../../fixtures/until.ts'
import { buildHome, CHROME, marker, receipt } from './support/home.ts'
import { listen, portOf } from './support/recorder.ts'
import { isInstalled, PATIENT, REAL_PATH, servedScript, SHELLS, temporaryFolder, VARIANTS } from './support/shells.ts'

const PAGE = readFileSync(new URL('../../docs/hook-recipes.md', import.meta.url), 'utf8')
const TOKEN = 'wht_0123456789012345678901234567890123456789abc'
type Body = Readonly<Record<string, unknown>>
type Environment = Readonly<Record<string, string>>

describe('hook: recipes', function () {
  this.timeout(120_000)
  let server: Server
  let baseUrl: string
  let bodies: Body[] = []
  let folder: ReturnType<typeof temporaryFolder>
  let place: string
  let home: string
  let count = 0

  before(async () => {
    folder = temporaryFolder()
    server = createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (part: string) => (text += part))
      request.on('end', () => {
        if (request.method === 'POST') bodies.push(JSON.parse(text) as Body)
        response.end(request.method === 'POST' ? '{}' : servedScript({ baseUrl }))
      })
    })
    await listen(server)
    baseUrl = `http://127.0.0.1:${portOf(server)}`
  })
  beforeEach(() => {
    bodies = []
    place = join(folder.path, String(++count))
    home = join(place, 'home')
    buildHome(home).chromium(`${CHROME}/Default`, 1, marker(1))
  })
  after(() => {
    server.closeAllConnections()
    server.close()
    folder.remove()
  })

  /** A snippet of the page, for the service of this test. */
  function recipe(name: string): string {
    const found = new RegExp(`<!-- recipe: ${name} -->\n\`\`\`\\w+\n([^]*?)\n\`\`\``).exec(PAGE)?.[1]
    if (found === undefined) throw new Error(`the page has no recipe ${name}`)
    return `${found.replaceAll('https://whence.acme.dev', baseUrl)}\n`
  }

  const environment = (): Environment => ({
    HOME: home,
    PATH: `${PATIENT}:${REAL_PATH}`,
    HOOK_TEST_NOW: String(Math.floor(Date.now() / 1000)),
  })

  /** Runs a command to its end; `input` is what it reads. */
  function execute(argv: readonly string[], env: Environment, input = ''): Promise<{ status: number; output: string }> {
    const child = spawn(argv[0] as string, argv.slice(1), { env, cwd: place, stdio: 'pipe' })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (status) => resolve({ status: status ?? -1, output }))
    })
  }

  const summary = (): unknown[] =>
    bodies.map(({ event_type: type, receipts, handoff }) => [
      type,
      receipts,
      ...(handoff === undefined ? [] : [handoff]),
    ])

  for (const { name, argv } of SHELLS.filter((shell) => !VARIANTS.includes(shell.name))) {
    it(`an installer that is piped into ${name}: with the token, without, and without the service`, async () => {
      const script = recipe('installer')
      const done = { status: 0, output: 'acme is installed.\n' }
      expect(await execute(argv, { ...environment(), WHENCE_HANDOFF: TOKEN }, script)).to.deep.equal(done)
      expect(await execute(argv, environment(), script)).to.deep.equal(done)
      expect(summary()).to.deep.equal([
        ['install_completed', [], TOKEN],
        ['install_completed', [receipt(1)]],
      ])
      const lost = await execute(argv, environment(), script.replaceAll(baseUrl, 'http://127.0.0.1:1'))
      expect([lost.status, lost.output.split('\n').at(-2)]).to.deep.equal([0, 'acme is installed.'])
    })
  }

  describe('npm', () => {
    beforeEach(async () => {
      const source = join(place, 'source')
      mkdirSync(source)
      writeFileSync(join(source, 'package.json'), recipe('npm-package'))
      writeFileSync(join(source, 'report-install.sh'), recipe('npm-postinstall'))
      writeFileSync(join(source, 'acme.js'), `#!/usr/bin/env node\n${recipe('first-run-node')}`, { mode: 0o755 })
      expect((await execute(['npm', 'pack', source], npmEnvironment())).status).to.equal(0)
    })

    const npmEnvironment = (): Environment => ({
      ...environment(),
      npm_config_prefix: join(place, 'prefix'),
      npm_config_cache: join(place, 'cache'),
      npm_config_audit: 'false',
      npm_config_update_notifier: 'false',
    })
    const install = (...options: string[]): Promise<{ status: number; output: string }> =>
      execute(['npm', 'install', '-g', './acme-1.0.0.tgz', ...options], { ...npmEnvironment(), WHENCE_HANDOFF: TOKEN })

    it('install scripts on: the token reaches postinstall', async () => {
      const { status, output } = await install('--foreground-scripts')
      expect(status, output).to.equal(0)
      expect(summary()).to.deep.equal([['install_completed', [], TOKEN]])
    })

    it('install scripts off: nothing happens, and the first run is reported', async () => {
      const { status, output } = await install('--ignore-scripts')
      expect(status, output).to.equal(0)
      expect(bodies).to.deep.equal([])
      expect((await execute([join(place, 'prefix/bin/acme')], environment())).status).to.equal(0)
      await reported(1)
      expect(summary()).to.deep.equal([['first_run', [receipt(1)]]])
    })
  })

  /** Waits for a report that the program itself does not wait for. */
  async function reported(number: number): Promise<void> {
    await until(() => bodies.length >= number, { what: `${number} reports` })
    expect(bodies).to.have.length(number)
  }

  describe('first run', () => {
    interface Language {
      readonly name: string
      readonly file: string
      /** Needed beside the language's own; the test is skipped without it. */
      readonly tool: string
      readonly build?: readonly string[]
      readonly start: readonly string[]
    }
    const LANGUAGES: readonly Language[] = [
      { name: 'node', file: 'main.cjs', tool: 'node', start: ['node', 'main.cjs'] },
      { name: 'python', file: 'main.py', tool: 'python3', start: ['python3', 'main.py'] },
      { name: 'go', file: 'main.go', tool: 'go', build: ['go', 'build', '-o', 'acme', 'main.go'], start: ['./acme'] },
      { name: 'rust', file: 'main.rs', tool: 'rustc', build: ['rustc', '-o', 'acme', 'main.rs'], start: ['./acme'] },
    ]
    for (const { name, file, tool, build, start } of LANGUAGES) {
      it(`${name}: reports once, in the background, even without a home folder`, async function () {
        if (!isInstalled(tool)) this.skip()
        writeFileSync(join(place, file), recipe(`first-run-${name}`))
        // Tools that replace others need the home folder of the user who installed them.
        const own = { ...process.env, GOFLAGS: '-mod=mod', GOCACHE: join(place, 'go-cache') } as Environment
        if (build) {
          const built = await execute(build, own)
          expect(built.status, built.output).to.equal(0)
        }
        const env = {
          ...own,
          ...environment(),
          CI: '',
          PYENV_ROOT: process.env['PYENV_ROOT'] ?? join(process.env['HOME'] ?? '', '.pyenv'),
        }
        for (let time = 0; time < 2; time++) expect(await execute(start, env)).to.deep.equal({ status: 0, output: '' })
        expect(await execute(start, { ...env, HOME: '/dev/null' })).to.deep.equal({ status: 0, output: '' })
        await reported(1)
        expect(summary()).to.deep.equal([['first_run', [receipt(1)]]])
        expect(existsSync(join(home, '.local/state/acme-dev/first-run'))).to.equal(true)
      })
    }
  })

  it('a Homebrew post_install, whose environment is filtered: neither token nor visit', async () => {
    writeFileSync(join(place, 'post_install.sh'), recipe('homebrew'))
    const brewed = join(place, 'brew-home')
    mkdirSync(brewed)
    const cleared = ['env', '-i', `HOME=${brewed}`, `PATH=${REAL_PATH}`, 'sh', 'post_install.sh']
    const { status } = await execute(cleared, { ...environment(), WHENCE_HANDOFF: TOKEN })
    expect(status).to.equal(0)
    expect(summary()).to.deep.equal([['install_completed', []]])
  })

  it('a Debian package: reported at the first installation, no profile is looked at', async function () {
    if (process.getuid?.() !== 0 || !isInstalled('dpkg-deb') || !isInstalled('dpkg')) this.skip()
    const tree = join(place, 'tree')
    mkdirSync(join(tree, 'DEBIAN'), { recursive: true })
    const control = 'Package: acme\nArchitecture: all\nMaintainer: ACME <a@acme.dev>\nDescription: a program\n'
    writeFileSync(join(tree, 'DEBIAN/control'), `${control}Version: 1.0\n`)
    writeFileSync(join(tree, 'DEBIAN/postinst'), recipe('debian-postinst'), { mode: 0o755 })
    const admin = join(place, 'dpkg')
    for (const part of ['updates', 'info', 'triggers']) mkdirSync(join(admin, part), { recursive: true })
    for (const part of ['status', 'available']) writeFileSync(join(admin, part), '')
    expect((await execute(['dpkg-deb', '--build', 'tree', 'acme.deb'], environment())).status).to.equal(0)
    // The files go elsewhere; the script runs on this machine, as with dpkg's --force-script-chrootless.
    const options = [
      `--admindir=${admin}`,
      `--instdir=${join(place, 'root')}`,
      '--force-script-chrootless',
      '--log=/dev/null',
    ]
    mkdirSync(join(place, 'root'))
    for (let time = 0; time < 2; time++) {
      const { status, output } = await execute(['dpkg', ...options, '-i', 'acme.deb'], environment())
      expect(status, output).to.equal(0)
    }
    expect(summary()).to.deep.equal([['install_completed', []]])
  })

  it('GitHub Actions: without a visit if CI is set, and not at all with the variable of the recipe', async () => {
    const [, name = '', value = ''] = /^ +(\w+): (\S+)$/m.exec(recipe('github-actions')) ?? []
    const env = { ...environment(), CI: 'true' }
    await execute(['sh'], env, recipe('installer'))
    expect(summary()).to.deep.equal([['install_completed', []]])
    expect(bodies[0]).to.include({ ci: true })
    await execute(['sh'], { ...env, [name]: value }, recipe('installer'))
    await execute(['sh'], { ...env, DO_NOT_TRACK: '1' }, recipe('installer'))
    expect(bodies).to.have.length(1)
  })
})
