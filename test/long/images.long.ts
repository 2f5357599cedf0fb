/**
 * Both images, built from the Dockerfile by buildah on a base of Debian packages and the Node of this checkout, and started as an
 * unprivileged user on a root that cannot be written to. Needs root. Prints the row of docs/evidence.md.
 */

import { execFile, spawn } from 'node:child_process'
import { access, cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { parse } from 'yaml'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { buildServerPackage } from '../../tools/release/package.ts'
import { writeBillsOfMaterials } from '../../tools/release/sbom.ts'
import { ROOT } from '../tidy/source-files.ts'

/** Without standard input: what asks a question gets no answer, instead of waiting for one. */
async function run(file: string, words: readonly string[], options: Options = {}): Promise<{ stdout: string }> {
  const running = promisify(execFile)(file, words, { maxBuffer: 100 * MB, ...options })
  running.child.stdin?.end()
  return running
}

interface Options {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly timeout?: number
}

const BUILD_MS = 1_500_000
const MB = 1_000_000
const MOST_ABOVE_BASE = 150 * MB
const BASE = 'localhost/whence-base'
const CERTIFICATES = '/etc/ssl/certs'
/** What is built as which image. */
const TARGETS = {
  small: ['--target', 'without-chdb'],
  embedded: ['--target', 'whence-embedded'],
} as const
const READY_TRIES = 600
/** Binaries of one system each. */
const FOR_SYSTEMS = /^@[\w-]+\/.*-(linux|darwin|win32)/

interface Bill {
  readonly components: readonly { readonly name: string }[]
}

interface Compose {
  readonly services: { readonly whence: { readonly command: readonly string[] } }
}

describe('the images', function () {
  this.timeout(BUILD_MS)
  let folder: string
  const buildah = async (...words: string[]): Promise<string> => {
    const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'overlay']
    const env = { ...process.env, BUILDAH_ISOLATION: 'chroot' }
    const options = { cwd: ROOT, env, timeout: BUILD_MS }
    return (await run('buildah', [...store, ...words], options)).stdout.trim()
  }
  const sizes = new Map<string, number>()

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-images-'))
    await makeBase()
    // A registry behind a proxy may need this machine's certificates while it is built, and only then.
    // What npm has fetched once on this machine is not fetched again.
    const cache = (await run('npm', ['config', 'get', 'cache'])).stdout.trim()
    const mounts = [`${CERTIFICATES}:${CERTIFICATES}:ro`, `${cache}:/root/.npm`]
    const trust = [...mounts.flatMap((each) => ['--volume', each]), '--network', 'host']
    for (const [name, target] of Object.entries(TARGETS)) {
      const parts = ['--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', `BUILD_IMAGE=${BASE}-build`]
      await buildah('bud', '--layers', ...trust, ...parts, ...target, '-t', `localhost/${name}`, '.')
    }
    for (const name of [BASE, 'localhost/small', 'localhost/embedded']) sizes.set(name, await sizeOf(name))
  })
  after(async () => {
    // Whatever was interrupted is still mounted below it.
    await run('umount', ['--recursive', '--lazy', join(folder, 'store/overlay')]).catch(() => undefined)
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
      expect(await start('whencectl', '--version')).to.equal(`whencectl ${version}\n`)
      for (const program of ['api', 'delivery', 'operator', 'dashboard'])
        expect(await start('whencectl', program, '--help')).to.contain(`whencectl ${program}`)
      expect(await start('node', '-e', "import('lmdb').then(() => console.log('loads'))")).to.equal('loads\n')
      expect(await start('sh', '-c', 'id -u; touch /app/x /etc/x 2>&1 || true')).to.match(/^65532\n.*Read-only/)
      const lacking = await start('node', '-e', "import('chdb').catch(({ code }) => console.log(code))")
      expect(lacking).to.equal('ERR_MODULE_NOT_FOUND\n')
    })
  })

  it('holds the packages of its bill of materials', async () => {
    const server = join(folder, 'server')
    await buildServerPackage(server)
    await writeBillsOfMaterials(server, folder)
    for (const [image, product] of Object.entries({ small: 'whence', embedded: 'whence-embedded' })) {
      const bill = JSON.parse(await readFile(join(folder, `${product}.cdx.json`), 'utf8')) as Bill
      // Packages for other systems are in the lockfile and in no image.
      const listed = new Set(bill.components.map(({ name }) => name).filter((name) => !FOR_SYSTEMS.test(name)))
      await inImage(`localhost/${image}`, async (start) => {
        const found = await start('find', '/app/node_modules', '-name', 'package.json', '-path', '*/node_modules/*')
        const places = found
          .split('\n')
          .map((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(file)?.[1] ?? '')
        const names = new Set(places.filter((name) => name !== '' && !FOR_SYSTEMS.test(name)))
        expect([...names]).to.have.members([...listed])
      })
    }
  })

  it('serves from one process on a root that cannot be written to', async () => {
    await inImage('localhost/embedded', async (_, root) => {
      const port = await freePort()
      const metricsPort = await freePort()
      const { services } = parse(await readFile(join(ROOT, 'compose.yaml'), 'utf8')) as Compose
      // As Compose starts it, but on free ports and with the manifests that the image brings.
      const words = services.whence.command.map((word) =>
        word
          .replace('0.0.0.0:8080', `127.0.0.1:${port}`)
          .replace('0.0.0.0:9090', `127.0.0.1:${metricsPort}`)
          .replace('/etc/whence/manifests', '/app/examples/quickstart'),
      )
      const child = spawn('chroot', [...AS_NOBODY, root, ...IN_APP, 'whencectl', ...words], { stdio: 'pipe' })
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
    const tar = await debianTar()
    await run('npm', ['install', '--prefix', join(folder, 'npm'), '--no-save', '--prefer-offline', 'npm@11'], {
      cwd: folder,
    })
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
    await buildah('rm', own)
    // From the image, so that its files are not written down a second time.
    const building = await buildah('from', BASE)
    const certificates = `${CERTIFICATES}/ca-certificates.crt`
    const trusted = [`NODE_EXTRA_CA_CERTS=${certificates}`, `npm_config_cafile=${certificates}`]
    await buildah('config', ...trusted.flatMap((each) => ['--env', each]), building)
    await buildah('commit', building, `${BASE}-build`)
    await buildah('rm', building)
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
      await use(async (...words) => (await run('chroot', [...AS_NOBODY, root, ...IN_APP, ...words])).stdout, root)
    } finally {
      for (const each of mounts) await run('umount', [each])
      await buildah('rm', container)
    }
  }
})

/** Debian's packages in a file, made once on a machine: that takes minutes. */
async function debianTar(): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'whence')
  const tar = join(cache, 'debian-bookworm-minbase.tar')
  const isThere = await access(tar).then(
    () => true,
    () => false,
  )
  if (isThere) return tar
  await mkdir(cache, { recursive: true })
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('mmdebstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', `${tar}.part.tar`], { env })
  await rename(`${tar}.part.tar`, tar)
  return tar
}

const AS_NOBODY = ['--userspec=65532:65532']
/** As a container engine starts it, in the image's WORKDIR. */
const IN_APP = ['sh', '-c', 'cd /app && exec "$@"', 'sh']

async function ready(url: string): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries++) {
    const response = await fetch(url).catch(() => null)
    await response?.arrayBuffer()
    if (response?.ok === true) return
    await wait(100)
  }
  throw new Error(`${url} does not answer`)
}
