/** Only the service's own user can read what it writes, whatever umask it is started with and whatever folder it finds. */

import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'

import { openDataFolder } from '../../bin/wiring/data-folder.ts'
import { createLogger } from '../../runtime/logger.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { send } from '../../fixtures/service/requests.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'
import { PROGRAM, startProgram, type Running } from './support/run-whencectl.ts'

const QUICKSTART = new URL('../../examples/quickstart', import.meta.url).pathname
const UMASK_AS_IT_COMES = '022'
/** The user of the image; only root can become another user; other users test with their own. */
const IMAGE_USER = 65_532
const isRoot = process.getuid?.() === 0
const PATIENCE_MS = 30_000
const PAUSE_MS = 50
const OTHERS = 0o007
const GROUP_AND_OTHERS = 0o077

describe('the data folder', function () {
  this.timeout(120_000)
  let root: string
  let data: string
  let running: Running | undefined

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'whence-modes-'))
    await cp(QUICKSTART, join(root, 'manifests'), { recursive: true })
    data = join(root, 'data')
    await chmod(root, 0o755)
  })
  afterEach(async () => {
    running?.child.kill('SIGKILL')
    await running?.ended
    running = undefined
    await rm(root, { recursive: true, force: true })
  })

  const start = async (prefix: readonly string[] = []): Promise<string> => {
    const port = await freePort()
    const words = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0', '--data', data]
    const manifests = ['--manifests', join(root, 'manifests')]
    const program = [...prefix, process.execPath, PROGRAM, 'embedded', ...words, ...manifests]
    running = startProgram('sh', ['-c', `umask ${UMASK_AS_IT_COMES}; exec "$@"`, 'sh', ...program], {
      WHENCE_GA4_URL: 'http://127.0.0.1:9',
    })
    return `http://127.0.0.1:${port}`
  }
  const serve = async (prefix: readonly string[] = []): Promise<void> => {
    const url = await start(prefix)
    const early = running?.ended.then(({ stderr }) => expect.fail(`it ended: ${stderr}`))
    const answering = async (): Promise<void> => {
      const endMs = Date.now() + PATIENCE_MS
      while ((await send(`${url}/health`).catch(() => null)) === null) {
        if (Date.now() > endMs) throw new Error('it did not answer')
        await wait(PAUSE_MS)
      }
    }
    await Promise.race([answering(), early])
  }
  /** `MODE PATH` of everything in it that others than its owner can do something with. */
  const openIn = async (folder: string, excess = GROUP_AND_OTHERS): Promise<readonly string[]> => {
    const names = await readdir(folder, { recursive: true })
    expect(names).to.include.members(['secret', 'lmdb', 'chdb', 'tools.sock'])
    const all = await Promise.all(
      ['', ...names].map(async (name) => ({ name, found: await stat(join(folder, name)).catch(() => null) })),
    )
    return all.flatMap(({ name, found }) =>
      found === null || (found.mode & excess) === 0 ? [] : [`${(found.mode & 0o7777).toString(8)} ${name}`],
    )
  }

  it('is closed to others with everything in it if it is new', async () => {
    await serve()
    expect(await openIn(data)).to.deep.equal([])
  })

  it('is closed to others if an older version or another umask has left it open', async () => {
    for (const folder of [data, join(data, 'chdb'), join(data, 'lmdb'), join(data, 'chdb', 'inbox')]) {
      await mkdir(folder)
      await chmod(folder, 0o755)
    }
    await serve()
    expect(await openIn(data)).to.deep.equal([])
  })

  it('is closed to all but the group if it is a volume that was handed over by its group', async () => {
    await mkdir(data)
    await chmod(data, 0o2775)
    await serve()
    expect(await openIn(data, OTHERS)).to.deep.equal([])
  })

  it("is closed for the image's own user, in the folder that the image makes for it", async function () {
    if (isRoot) {
      await mkdir(data, { mode: 0o700 })
      await chown(data, IMAGE_USER, IMAGE_USER)
      await serve(['setpriv', `--reuid=${IMAGE_USER}`, `--regid=${IMAGE_USER}`, '--clear-groups'])
      expect((await stat(join(data, 'secret'))).uid).to.equal(IMAGE_USER)
    } else await serve()
    expect(await openIn(data)).to.deep.equal([])
  })

  it('is refused if every user may write to it and it is not ours', async () => {
    await mkdir(data)
    await writeFile(join(data, 'something'), '')
    await chmod(data, 0o777)
    await start()
    const { status, stderr } = (await running?.ended) ?? {}
    expect(stderr).to.include('every user may write to the folder').and.to.include(data)
    expect(status).to.equal(1)
    expect((await stat(data)).mode & 0o777, 'what is not ours stays as it is').to.equal(0o777)
  })

  it('is refused if its secret is open to other users, without showing the secret', async () => {
    await mkdir(data)
    await writeFile(join(data, 'secret'), `${TEST_SECRET}\n`)
    for (const mode of [0o644, 0o640]) {
      await chmod(join(data, 'secret'), mode)
      if (mode === 0o640) {
        await serve()
        continue
      }
      await start()
      const { status, stderr = '' } = (await running?.ended) ?? {}
      expect(stderr).to.include('is open to other users').and.not.include(TEST_SECRET)
      expect(status).to.equal(1)
    }
  })

  it('causes a warning if it is mounted and open to others', function () {
    if (process.platform !== 'linux') this.skip()
    const warnings: unknown[] = []
    const logger = {
      ...createLogger({ program: 'test', level: 'silent', format: 'json' }),
      warn: (fields: unknown) => warnings.push(fields),
    }
    openDataFolder('/proc', logger)
    expect(warnings).to.deep.equal([{ folder: '/proc' }])
  })
})
