/** A release rehearsed: every file of it, made without a network, and used as people would use it. */

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'chai'
import { parse } from 'yaml'

import { kubeTools } from '../../fixtures/engines/kube.ts'
import { writeArtifacts } from '../../tools/release/artifacts.ts'
import { releaseNotes } from '../../tools/release/changelog.ts'
import { ROOT } from '../tidy/source-files.ts'

const run = promisify(execFile)
const REHEARSAL_MS = 300_000
const LEAST_VALUES = 'charts/whence/ci/cluster.yaml'
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`

interface Bill {
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } }
  readonly components: readonly {
    readonly name: string
    readonly version: string
    readonly hashes?: readonly object[]
  }[]
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly dev?: true; readonly version: string }>>
}

interface KrewManifest {
  readonly spec: {
    readonly platforms: readonly { readonly uri: string; readonly sha256: string; readonly bin: string }[]
  }
}

describe('a release', function () {
  this.timeout(REHEARSAL_MS)
  let folder: string
  let helm: string
  let version: string
  let names: readonly string[]
  const at = (name: string): string => join(folder, name)

  before(async function () {
    const tools = await kubeTools()
    if (tools === null) return this.skip()
    ;({ helm } = tools)
    folder = await mkdtemp(join(tmpdir(), 'whence-release-'))
    version = (JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
    names = await writeArtifacts({ folder: at('release'), helm, imageDigest: DIGEST })
  })
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  })

  it('has every file, under one version, with its checksum', async () => {
    expect(names).to.have.members([
      `whence-server-${version}.tgz`,
      `whence-js-${version}.tgz`,
      `whence-${version}.tgz`,
      `whence-crds-${version}.tgz`,
      `kubectl-whence-${version}.tar.gz`,
      'whence.yaml',
      'whence-server.cdx.json',
      'whence.cdx.json',
      'whence-embedded.cdx.json',
      'release-notes.md',
      'checksums.txt',
    ])
    expect(await readdir(at('release'))).to.have.members(names)
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'checksums.txt'], { cwd: at('release') })
    expect(stdout.match(/: OK$/gm)).to.have.length(names.length - 1)
    const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')
    expect(await readFile(at('release/release-notes.md'), 'utf8')).to.equal(releaseNotes(changelog, version))
  })

  it('has packages that say where they come from, which npm holds their provenance against', async () => {
    for (const name of ['whence-server', 'whence-js']) {
      const { stdout } = await run('tar', ['-xzOf', at(`release/${name}-${version}.tgz`), 'package/package.json'])
      const manifest = JSON.parse(stdout) as Record<string, unknown>
      expect(manifest).to.include({ name, version })
      expect(manifest['repository']).to.deep.equal({ type: 'git', url: 'git+https://github.com/whence-dev/whence.git' })
    }
  })

  it('has bills of materials that name what is installed, and no more', async () => {
    const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile
    const shipped = Object.entries(lock.packages).filter(([place, { dev }]) => place !== '' && dev !== true)
    const idOf = ([place, { version: own }]: readonly [string, { readonly version: string }]): string =>
      `${place.replace(/^.*node_modules\//, '')}@${own}`
    const all = new Set(shipped.map(idOf))
    const listed = async (name: string): Promise<ReadonlySet<string>> => {
      const bill = JSON.parse(await readFile(at(`release/${name}.cdx.json`), 'utf8')) as Bill
      expect(bill.metadata.component).to.include({ name, version })
      for (const component of bill.components) {
        if (component.name.startsWith('@chdb/')) continue
        expect(component.hashes, component.name).to.have.length.above(0)
      }
      return new Set(bill.components.map((component) => `${component.name}@${component.version}`))
    }
    const without = (pattern: RegExp): string[] => [...all].filter((id) => !pattern.test(id))
    expect([...(await listed('whence-server'))]).to.have.members([...all])
    expect([...(await listed('whence-embedded'))]).to.have.members(without(/^node-linux-/))
    const onlyForChdb = /^(node-linux-|chdb@|@chdb\/|@clickhouse\/client-common@|node-gyp-build@|zod@)/
    expect([...(await listed('whence'))]).to.have.members(without(onlyForChdb))
  })

  it('has charts that start the image by its digest', async () => {
    const words = [
      'template',
      'whence',
      at(`release/whence-${version}.tgz`),
      '-f',
      join(ROOT, LEAST_VALUES),
      '--kube-version',
      '1.32.4',
    ]
    const { stdout } = await run(helm, words, { maxBuffer: 50_000_000 })
    const images = new Set([...stdout.matchAll(/^\s*image: "?([^"\s]+)"?$/gm)].map(([, image]) => image))
    expect([...images]).to.deep.equal([`ghcr.io/whence-dev/whence@${DIGEST}`])
    expect((await run(helm, ['show', 'chart', at(`release/whence-crds-${version}.tgz`)])).stdout).to.contain(version)
  })

  it('has a plugin that krew can install: its digest, its command, and what it does', async () => {
    const manifest = parse(await readFile(at('release/whence.yaml'), 'utf8')) as KrewManifest
    const [platform] = manifest.spec.platforms
    const archive = platform?.uri.split('/').at(-1) ?? ''
    expect(names).to.include(archive)
    const checksums = await readFile(at('release/checksums.txt'), 'utf8')
    expect(checksums).to.contain(`${platform?.sha256}  ${archive}\n`)
    await run('mkdir', [at('plugin')])
    await run('tar', ['-xzf', at(`release/${archive}`), '-C', at('plugin')])
    expect(await readdir(at('plugin'))).to.include('LICENSE')
    const env = { PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` }
    const plugin = (...words: string[]) => run(at(`plugin/${platform?.bin}`), words, { cwd: folder, env })
    expect((await plugin('--help')).stdout).to.match(/^Usage: kubectl whence/)
    expect((await plugin('lint', '-f', join(ROOT, 'examples/quickstart'))).stdout).to.match(/no problems/)
  })
})
