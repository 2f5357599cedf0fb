/**
 * Both images, built from the Dockerfile by buildah on a base of Debian packages and the Node of this checkout, and started as an
 * unprivileged user on a root that cannot be written to. Needs root. Prints the row of docs/long-tests.md.
 */

import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { ROOT } from '../tidy/source-files.ts'

const run = promisify(execFile)
const BUILD_MS = 1_500_000
const MB = 1_000_000
const MOST_ABOVE_BASE = 150 * MB
const BASE = 'localhost/whence-base'
const CERTIFICATES = '/etc/ssl/certs'
/** What is built as which image. */
const TARGETS = { small: ['--target', 'without-chdb'], embedded: [] } as const
const READY_TRIES = 600

describe('the images', function () {
  this.timeout(BUILD_MS)
  let folder: string
  const buildah = async (...words: string[]): Promise<string> => {
    const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
    const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
    const options = { cwd: ROOT, env, timeout: BUILD_MS, maxBuffer: 100 * MB }
    return (await run('buildah', [...store, ...words], options)).stdout.trim()
  }
  const sizes = new Map<string, number>()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-images-'))
    await makeBase()
    // A registry behind a proxy may need this machine's certificates while it is built, and only then.
    const trust = ['--volume', `${CERTIFICATES}:${CERTIFICATES}:ro`, '--network', 'host']
    for (const [name, target] of Object.entries(TARGETS)) {
      const parts = ['--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', `BUILD_IMAGE=${BASE}-build`]
      await buildah('bud', '--layers', ...trust, ...parts, ...target, '-t', `localhost/${name}`, '.')
    }
    for (const name of [BASE, 'localhost/small', 'localhost/embedded']) sizes.set(name, await sizeOf(name))
  })
  after(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  it('is small without chDB', () => {
    const above = (name: string): number => (sizes.get(name) ?? 0) - (sizes.get(BASE) ?? 0)
    const row = ['localhost/small', 'localhost/embedded'].map((name) => `${name} ${(above(name) / MB).toFixed(0)} MB`)
    console.log(`above a base of ${((sizes.get(BASE) ?? 0) / MB).toFixed(0)} MB: ${row.join(', ')}`)
    expect(above('localhost/small')).to.be.greaterThan(0).and.lessThan(MOST_ABOVE_BASE)
    expect(above('localhost/embedded')).to.be.greaterThan(above('localhost/small'))
  })

  it('has every program of a cluster, and says what the smaller one lacks', async () => {
    const { version } = (await import('../../package.json', { with: { type: 'json' } })).default
    await inImage('localhost/small', async (start) => {
      expect(await start('whence', '--version')).to.equal(`whence ${version}\n`)
      for (const program of ['api', 'delivery', 'operator', 'dashboard'])
        expect(await start('whence', program, '--help')).to.contain(`whence ${program}`)
      expect(await start('node', '-e', "import('lmdb').then(() => console.log('loads'))")).to.equal('loads\n')
      expect(await start('sh', '-c', 'id -u; touch /app/x /etc/x 2>&1 || true')).to.match(/^65532\n.*Read-only/)
      const lacking = await start('node', '-e', "import('chdb').catch(({ code }) => console.log(code))")
      expect(lacking).to.equal('ERR_MODULE_NOT_FOUND\n')
    })
  })

  it('serves from one process on a root that cannot be written to', async () => {
    await inImage('localhost/embedded', async (_, root) => {
      const [port, metricsPort] = [await freePort(), await freePort()]
      const words = ['embedded', '--listen', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${metricsPort}`]
      const places = [
        '--data',
        '/var/lib/whence',
        '--manifests',
        '/app/examples/quickstart',
        '--dashboard-folder',
        '/var/lib/whence/dashboard',
      ]
      const child = spawn('chroot', [...AS_NOBODY, root, 'whence', ...words, ...places], { stdio: 'pipe' })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()))
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
      try {
        await ready(`http://127.0.0.1:${metricsPort}/ready`)
        expect(await (await fetch(`http://127.0.0.1:${port}/health`)).json()).to.include({ ok: true })
      } catch (error) {
        throw new Error(`${String(error)}\n${said}`)
      } finally {
        child.kill('SIGTERM')
      }
      expect(await ended, said).to.equal(0)
    })
  })

  /** What docker.io/library/node is: a small Debian, Node and npm. A second one carries this machine's certificates. */
  async function makeBase(): Promise<void> {
    const tar = join(folder, 'base.tar')
    await run('mmdebstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', tar], {
      maxBuffer: 100 * MB,
    })
    await run('npm', ['install', '--prefix', join(folder, 'npm'), '--no-save', 'npm@11'], { cwd: folder })
    const own = await buildah('from', 'scratch')
    const root = await buildah('mount', own)
    await run('tar', ['-xf', tar, '-C', root, '--exclude=./dev/*'])
    await mkdir(join(root, 'usr/local/lib/node_modules'), { recursive: true })
    await cp(process.execPath, join(root, 'usr/local/bin/node'))
    const modules = join(root, 'usr/local/lib/node_modules')
    await cp(join(folder, 'npm/node_modules/npm'), join(modules, 'npm'), { recursive: true })
    await run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm')])
    const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
    await buildah('config', '--env', `PATH=${path}`, own)
    await buildah('commit', own, BASE)
    const certificates = `${CERTIFICATES}/ca-certificates.crt`
    const env = [`NODE_EXTRA_CA_CERTS=${certificates}`, `npm_config_cafile=${certificates}`]
    await buildah('config', ...env.flatMap((each) => ['--env', each]), own)
    await buildah('commit', own, `${BASE}-build`)
    await buildah('rm', own)
  }

  /** Bytes of all files. */
  async function sizeOf(image: string): Promise<number> {
    const container = await buildah('from', image)
    const root = await buildah('mount', container)
    const { stdout } = await run('du', ['-sb', '--apparent-size', root])
    await buildah('rm', container)
    return Number(stdout.split('\t')[0])
  }

  type Start = (...words: string[]) => Promise<string>

  /** A read-only view of an image's files, with /proc, /dev, /tmp and a data folder as a container engine mounts them. */
  async function inImage(image: string, use: (start: Start, root: string) => Promise<void>): Promise<void> {
    const container = await buildah('from', image)
    const files = await buildah('mount', container)
    const root = await mkdtemp(join(folder, 'root-'))
    const mounts = [root]
    const mount = (...words: string[]) => run('mount', words)
    try {
      await mount('--bind', files, root)
      await mount('-o', 'remount,ro,bind', root)
      for (const [kind, at] of [
        ['proc', 'proc'],
        ['tmpfs', 'tmp'],
        ['tmpfs', 'var/lib/whence'],
      ] as const) {
        await mount('-t', kind, kind, join(root, at))
        mounts.unshift(join(root, at))
      }
      await mount('--bind', '/dev', join(root, 'dev'))
      mounts.unshift(join(root, 'dev'))
      await run('chown', ['65532:65532', join(root, 'var/lib/whence')])
      await run('chmod', ['1777', join(root, 'tmp')])
      await use(async (...words) => (await run('chroot', [...AS_NOBODY, root, ...words])).stdout, root)
    } finally {
      for (const each of mounts) await run('umount', [each])
      await buildah('rm', container)
    }
  }
})

const AS_NOBODY = ['--userspec=65532:65532']

async function ready(url: string): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries++) {
    const response = await fetch(url).catch(() => null)
    await response?.arrayBuffer()
    if (response?.ok === true) return
    await wait(100)
  }
  throw new Error(`${url} does not answer`)
}
