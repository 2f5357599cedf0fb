/**
 * `make release-dry-run`: everything of a release that needs no network, in dist/release. The workflow publishes these very
 * files; the image is built there.
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

import { buildPackage } from '../../sdk/build-package.ts'
import { releaseNotes } from './changelog.ts'
import { archiveName, buildPlugin, krewManifest } from './plugin.ts'
import { buildServerPackage } from './package.ts'
import { writeBillsOfMaterials } from './sbom.ts'

const run = promisify(execFile)
const ROOT = path.join(import.meta.dirname, '../..')
const CHARTS = ['whence', 'whence-crds']
const IMAGE = 'ghcr.io/whence-dev/whence'

export interface ReleaseOptions {
  /** Emptied first. */
  readonly folder: string
  /** The program `helm`. */
  readonly helm: string
  /** `sha256:…` of the published image, which the chart then names. */
  readonly imageDigest?: string
}

/** Resolves to the names of the files. */
export async function writeArtifacts(options: ReleaseOptions): Promise<readonly string[]> {
  const { folder } = options
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  await writePackages(folder)
  await writeCharts(options)
  await writePlugin(folder, version)
  const changelog = await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8')
  await writeFile(path.join(folder, 'release-notes.md'), releaseNotes(changelog, version))
  return writeChecksums(folder)
}

async function writePackages(folder: string): Promise<void> {
  const built = path.join(folder, 'built')
  await buildServerPackage(path.join(built, 'server'))
  await buildPackage(path.join(built, 'sdk'))
  for (const name of ['server', 'sdk']) await run('npm', ['pack', '--silent', path.join(built, name)], { cwd: folder })
  await writeBillsOfMaterials(path.join(built, 'server'), folder)
  await rm(built, { recursive: true })
}

async function writeCharts({ folder, helm, imageDigest }: ReleaseOptions): Promise<void> {
  const source = path.join(folder, 'charts')
  await cp(path.join(ROOT, 'charts'), source, { recursive: true })
  const values = path.join(source, 'whence/values.yaml')
  const text = await readFile(values, 'utf8')
  await writeFile(
    values,
    text
      .replace('\n  repository: whence\n', `\n  repository: ${IMAGE}\n`)
      .replace("\n  digest: ''\n", `\n  digest: '${imageDigest ?? ''}'\n`),
  )
  for (const chart of CHARTS) await run(helm, ['package', path.join(source, chart), '--destination', folder])
  await rm(source, { recursive: true })
}

async function writePlugin(folder: string, version: string): Promise<void> {
  const plugin = path.join(folder, 'plugin')
  await buildPlugin(plugin)
  await cp(path.join(ROOT, 'LICENSE'), path.join(plugin, 'LICENSE'))
  await chmod(path.join(plugin, 'kubectl-whence'), 0o755)
  const archive = path.join(folder, archiveName(version))
  // The same bytes from the same sources.
  const same = [
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--use-compress-program=gzip -n',
  ]
  await run('tar', [...same, '-cf', archive, '-C', plugin, '.'])
  await rm(plugin, { recursive: true })
  await writeFile(path.join(folder, 'whence.yaml'), krewManifest(version, await sha256Of(archive)))
}

async function sha256Of(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}

/** As `sha256sum -c` reads them. */
async function writeChecksums(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).sort()
  const lines = await Promise.all(names.map(async (name) => `${await sha256Of(path.join(folder, name))}  ${name}\n`))
  await writeFile(path.join(folder, 'checksums.txt'), lines.join(''))
  return [...names, 'checksums.txt']
}

if (import.meta.main) {
  const [imageDigest] = process.argv.slice(2)
  if (imageDigest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(imageDigest)) throw new Error('the digest is sha256:…')
  const helm = process.env['HELM'] ?? 'helm'
  const folder = path.join(ROOT, 'dist/release')
  const names = await writeArtifacts({ folder, helm, ...(imageDigest === undefined ? {} : { imageDigest }) })
  for (const name of names) console.log(`dist/release/${name}`)
}
