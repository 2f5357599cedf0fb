/** What the hook opens, runs, sends and keeps, as the system sees it. */

import { expect } from 'chai'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildHome, CHROME, FIREFOX, marker, receipt, type Home } from './support/home.ts'
import { startRecorder, type Recorder } from './support/recorder.ts'
import {
  DASH,
  isInstalled,
  programPath,
  run,
  servedScript,
  SHELLS,
  temporaryFolder,
  toolFolder,
  TOOLS,
  WEBSITE,
} from './support/shells.ts'

const TOKEN = 'wht_0123456789012345678901234567890123456789abc'
const CANARY = 'canary-never-to-be-seen'
const isRoot = process.getuid?.() === 0

/** Files that reporting an install must not touch. */
const PRIVATE = [
  '.ssh/id_ed25519',
  '.netrc',
  '.curlrc',
  '.wgetrc',
  '.bash_history',
  '.config/mimeapps.list',
  'Documents/letter.txt',
  `${CHROME}/Local State`,
  `${CHROME}/Default/Cookies`,
  `${CHROME}/Default/Login Data`,
  `${CHROME}/Default/History`,
  `${CHROME}/Default/Local Storage/leveldb/000003.log`,
  `${CHROME}/Default/IndexedDB/https_acme.dev_0.indexeddb.leveldb/000003.log`,
  `${CHROME}/Default/File System/Origins/000003.log`,
  `${CHROME}/Default/File System/000/t/Paths/000003.log`,
  `${FIREFOX}/profiles.ini`,
  `${FIREFOX}/ab.default/logins.json`,
  `${FIREFOX}/ab.default/key4.db`,
  `${FIREFOX}/ab.default/places.sqlite`,
  `${FIREFOX}/ab.default/storage/default/https+++acme.dev/fs/metadata.sqlite`,
  `${FIREFOX}/ab.default/storage/default/https+++acme.dev/ls/data.sqlite`,
  `${FIREFOX}/ab.default/storage/default/https+++bank.example/fs/AB/ABCDEF`,
  'Library/Containers/com.apple.Safari/Data/Library/Cookies/Cookies.binarycookies',
]

describe('hook: privacy', function () {
  this.timeout(60_000)
  let recorder: Recorder
  let folder: ReturnType<typeof temporaryFolder>
  let home: Home

  before(async () => {
    recorder = await startRecorder()
    folder = temporaryFolder()
    home = buildHome(join(folder.path, 'home'))
    for (const name of PRIVATE) home.file(name, CANARY)
    home.chromium(`${CHROME}/Default`, 1, marker(1))
    home.chromium(`${CHROME}/Default`, 2, marker(2, 2000, { project: 'other' }))
    home.chromium(`${CHROME}/Default`, 3, 'x'.repeat(5_000))
    home.chromium(`${CHROME}/Default`, 4, 'x'.repeat(20))
    home.firefox(`${FIREFOX}/ab.default`, 'https+++acme.dev', marker(3))
  })
  after(async () => {
    await recorder.close()
    folder.remove()
  })

  const stateFolder = (): string => join(home.path, '.local/state/whence', WEBSITE)

  /** Runs the hook under strace and gives the lines of all its processes. */
  async function traced(calls: string, args: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
    const file = join(folder.path, 'trace')
    const outcome = await run({
      script: servedScript({ baseUrl: `${recorder.baseUrl}/traced` }),
      wrapper: [programPath('strace'), '-f', '-v', '-s', '20000', '-e', `trace=${calls}`, '-o', file],
      args,
      env: { HOME: home.path, TMPDIR: join(folder.path, 'tmp'), ...env },
    })
    expect(outcome).to.deep.equal({ status: 0, stdout: '', stderr: '' })
    return readFileSync(file, 'utf8').split('\n')
  }

  describe('seen by strace', () => {
    before(function () {
      if (!isInstalled('strace') && process.env['CI'] !== 'true') this.skip()
    })

    it('opens no file below HOME but files of the right size in the right place and its own', async () => {
      const lines = await traced('file', ['install_completed'])
      const opened = lines
        .filter((line) => /\b(open|openat|openat2|creat)\(/.test(line) && !/O_DIRECTORY|ENOENT/.test(line))
        .flatMap((line) => /"([^"]*)"/.exec(line)?.[1] ?? [])
        .filter((path) => path.startsWith(home.path))
        .map((path) => path.slice(home.path.length + 1).replaceAll('/./', '/'))
      expect([...new Set(opened)].sort()).to.deep.equal(
        [
          `${CHROME}/Default/File System/001/t/00/00000001`,
          `${CHROME}/Default/File System/002/t/00/00000002`,
          `${FIREFOX}/ab.default/storage/default/https+++acme.dev/fs/K7/K7${'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.repeat(2).slice(0, 50)}`,
          `.local/state/whence/${WEBSITE}/installation_id`,
          `.local/state/whence/${WEBSITE}/last_request.json`,
        ].sort(),
      )
    })

    it('does not even check for a private file, about another website in Firefox, or about Safari', async () => {
      const lines = await traced('file', ['install_completed'])
      // Looking through "File System" meets the databases of that folder by name; they are not opened.
      const names = PRIVATE.filter((name) => !name.includes('/File System/') && !name.endsWith('metadata.sqlite'))
      for (const name of names)
        expect(
          lines.filter((line) => line.includes(`/${name}"`)),
          name,
        ).to.deep.equal([])
      expect(lines.filter((line) => /bank\.example|Containers/.test(line))).to.deep.equal([])
      expect(recorder.under('/traced').every(({ text }) => !text.includes(CANARY))).to.equal(true)
    })

    it('with a token touches nothing below HOME but its own files', async () => {
      const lines = await traced('file', ['install_completed', '--handoff', TOKEN])
      const touched = lines
        .flatMap((line) => [...line.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? ''))
        .filter((path) => path.startsWith(`${home.path}/`) && path !== `${home.path}/.`)
        .filter((path) => !`${stateFolder()}/`.startsWith(path) && !path.startsWith(stateFolder()))
      expect(touched).to.deep.equal([])
    })

    for (const way of ['curl', 'wget']) {
      it(`shows token and receipts to no other user: neither in arguments nor in the environment (${way})`, async () => {
        const tools = toolFolder(folder.path, [...TOOLS.filter((tool) => tool !== 'curl'), way])
        for (const [args, env] of [
          [['install_completed'], { WHENCE_HANDOFF: TOKEN }],
          [['install_completed'], {}],
        ] as const) {
          const lines = await traced('execve', args, { PATH: tools, ...env })
          const calls = lines.filter((line) => line.includes('execve(')).slice(1) // The first is the shell, as the user called it.
          expect(calls.length).to.be.greaterThan(10)
          expect(calls.filter((line) => line.includes(TOKEN) || line.includes(receipt(1)))).to.deep.equal([])
        }
        expect(recorder.under('/traced').at(-1)?.body['receipts']).to.deep.equal([receipt(1), receipt(3)])
      })
    }

    for (const shell of ['ksh', 'mksh', 'zsh', 'bash', 'busybox']) {
      it(`shows no token in arguments from ${shell} either`, async function () {
        if (!isInstalled(shell) && process.env['CI'] !== 'true') this.skip()
        const file = join(folder.path, 'trace')
        await run({
          shell: SHELLS.find(({ argv }) => argv[0] === shell) ?? DASH,
          script: servedScript({ baseUrl: recorder.baseUrl }),
          wrapper: [programPath('strace'), '-f', '-v', '-s', '20000', '-e', 'trace=execve', '-o', file],
          args: ['install_completed', '--explain'],
          env: { HOME: home.path, WHENCE_HANDOFF: TOKEN },
        })
        const calls = readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.includes('execve('))
          .slice(1)
        // busybox runs itself for its own programs, with the script as it was called: it is already past the first line.
        expect(calls.length).to.be.greaterThan(10)
        expect(calls.filter((line) => line.includes(TOKEN))).to.deep.equal([])
        expect(recorder.all.at(-1)?.body['handoff']).to.equal(TOKEN)
      })
    }

    for (const name of ['DO_NOT_TRACK', 'WHENCE_DISABLED']) {
      it(`${name}=1: no socket, no other program, nothing below HOME`, async () => {
        const sent = recorder.all.length
        const lines = await traced('network,process,file', ['install_completed'], { [name]: '1' })
        expect(lines.filter((line) => /\b(socket|connect|sendto)\(/.test(line))).to.deep.equal([])
        expect(lines.filter((line) => line.includes(home.path) && !line.includes('execve('))).to.deep.equal([])
        const programs = lines.flatMap((line) => /execve\("[^"]*\/([^"/]+)".* = 0$/.exec(line)?.[1] ?? [])
        expect(programs).to.deep.equal(['dash'])
        expect(recorder.all.length).to.equal(sent)
      })
    }
  })

  it('honours the file that holds for every brand', async () => {
    const everyBrands = join(home.path, 'disabled')
    writeFileSync(everyBrands, '')
    for (const brand of ['whence', 'acme-counts']) {
      const script = servedScript({ brand, baseUrl: `${recorder.baseUrl}/every-${brand}` })
      const moved = script.replaceAll('/etc/whence/disabled', everyBrands)
      expect(moved).to.not.equal(script)
      await run({ script: moved, args: ['install_completed'], env: { HOME: home.path } })
      expect(recorder.under(`/every-${brand}`)).to.have.length(0)
    }
  })

  it('honours the file of its own brand, and of no other', async function () {
    if (!isRoot) this.skip()
    // A brand of its own, so that no other hook on this machine is switched off meanwhile.
    const brand = `hooktest${process.pid}`
    mkdirSync(`/etc/${brand}`)
    try {
      writeFileSync(`/etc/${brand}/disabled`, '')
      for (const [name, count] of [
        [brand, 0],
        ['another', 1],
      ] as const) {
        const script = servedScript({ brand: name, baseUrl: `${recorder.baseUrl}/file-${name}` })
        const outcome = await run({ script, args: ['install_completed', '--explain'], env: { HOME: home.path } })
        expect(recorder.under(`/file-${name}`)).to.have.length(count)
        if (count === 0)
          expect(outcome.stderr).to.equal(
            `${brand}: there is a file /etc/${brand}/disabled: nothing is looked at and nothing is sent\n`,
          )
      }
      expect(existsSync(join(home.path, '.local/state', brand))).to.equal(false)
    } finally {
      rmSync(`/etc/${brand}`, { recursive: true })
    }
  })

  it('shows with --print the exact request, sends nothing and writes nothing', async () => {
    for (const shell of SHELLS.filter(({ argv }) => isInstalled(argv[0]))) {
      rmSync(join(home.path, '.local'), { recursive: true, force: true })
      const sent = recorder.all.length
      const script = servedScript({ baseUrl: recorder.baseUrl })
      const { stdout, stderr } = await run({
        shell,
        script,
        args: ['install_completed', '--print'],
        env: { HOME: home.path, TZ: 'UTC' },
      })
      const [head, body] = stdout.split('\n\n')
      expect(head).to.equal(
        `POST ${recorder.baseUrl}/v1/events\nContent-Type: application/json\nUser-Agent: whence-hook/1.0.0`,
      )
      expect(JSON.parse(body ?? '')).to.include({ project: WEBSITE, event_type: 'install_completed' })
      expect((JSON.parse(body ?? '') as { receipts: unknown }).receipts).to.deep.equal([receipt(1), receipt(3)])
      expect(stderr, shell.name).to.equal('')
      expect(recorder.all.length).to.equal(sent)
      expect(existsSync(join(home.path, '.local'))).to.equal(false)
    }
  })

  it('prints nothing at all for people who opted out', async () => {
    const script = servedScript({ baseUrl: recorder.baseUrl })
    const outcome = await run({
      script,
      args: ['install_completed', '--print', '--explain'],
      env: { HOME: home.path, DO_NOT_TRACK: '1' },
    })
    expect(outcome.stdout).to.equal('')
    expect(outcome.stderr).to.include('DO_NOT_TRACK is set')
  })

  it('keeps a copy of exactly what it sent, for the user alone', async () => {
    const script = servedScript({ baseUrl: `${recorder.baseUrl}/copied` })
    await run({ script, args: ['install_completed'], env: { HOME: home.path } })
    expect(readFileSync(join(stateFolder(), 'last_request.json'), 'utf8')).to.equal(recorder.under('/copied')[0]?.text)
    expect(readdirSync(stateFolder()).sort()).to.deep.equal(['installation_id', 'last_request.json'])
    expect(statSync(stateFolder()).mode & 0o777).to.equal(0o700)
    for (const name of readdirSync(stateFolder()))
      expect(statSync(join(stateFolder(), name)).mode & 0o777).to.equal(0o600)
  })

  it('uses one random ID for an installation until that is deleted, and another one for each website', async () => {
    const idOf = async (website: string): Promise<unknown> => {
      await run({
        script: servedScript({ website, baseUrl: `${recorder.baseUrl}/id` }),
        args: ['first_run'],
        env: { HOME: home.path },
      })
      return recorder.under('/id').at(-1)?.body['installation_id']
    }
    const first = await idOf(WEBSITE)
    expect(await idOf(WEBSITE)).to.equal(first)
    expect(await idOf('another')).to.not.equal(first)
    rmSync(join(stateFolder(), 'installation_id'))
    expect(await idOf(WEBSITE)).to.not.equal(first)
  })

  it('keeps its files below XDG_STATE_HOME if that is set', async () => {
    const state = join(folder.path, 'xdg-state')
    await run({
      script: servedScript({ baseUrl: recorder.baseUrl }),
      args: ['first_run'],
      env: { HOME: home.path, XDG_STATE_HOME: state },
    })
    expect(readdirSync(join(state, 'whence', WEBSITE)).sort()).to.deep.equal(['installation_id', 'last_request.json'])
  })

  describe('the notice', () => {
    /** What a person sees on a terminal. */
    const onTerminal = async (scan: 'Notice' | 'Silent', args: string): Promise<string> => {
      const hook = join(folder.path, `notice-${scan}.sh`)
      writeFileSync(hook, servedScript({ scan, baseUrl: recorder.baseUrl }))
      programPath('script')
      const wrapper = [programPath('sh'), '-c', 'exec script -qec "$0" /dev/null', `dash ${hook} ${args}`]
      return (await run({ script: '', wrapper, shell: { name: 'none', argv: ['true'] }, env: { HOME: home.path } }))
        .stdout
    }

    it('is one line on a terminal that names the service and the way to refuse', async () => {
      const shown = await onTerminal('Notice', 'install_completed')
      expect(shown.trim().split('\n')).to.have.length(1)
      expect(shown).to.include(recorder.baseUrl).and.to.include('DO_NOT_TRACK=1').and.to.include('browser')
    })

    it('mentions no browser if none is searched', async () => {
      const shown = await onTerminal('Notice', `install_completed --handoff ${TOKEN}`)
      expect(shown).to.include('DO_NOT_TRACK=1').and.not.to.include('browser')
    })

    it('is left out if the website is set to Silent', async () => {
      expect(await onTerminal('Silent', 'install_completed')).to.equal('')
    })
  })
})
