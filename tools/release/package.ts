/**
 * Builds the npm package `whence-server`: the command `whencectl` and the plugin of kubectl, as JavaScript. Node runs no
 * TypeScript below a `node_modules`, so types are taken out here; nothing is bundled or renamed.
 */

import { existsSync } from 'node:fs'
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import ts from 'typescript'

const ROOT = path.join(import.meta.dirname, '../..')
const SERVER_PACKAGE = path.join(ROOT, 'dist/whence-server')
/** What runs. The two `dist` folders are made by `npm run build`. */
const PARTS = ['api', 'bin', 'common', 'dashboard', 'delivery', 'domain', 'hook', 'operator', 'ports', 'runtime']
const WHOLE_PARTS = ['examples/quickstart', 'examples/site', 'examples/vm', 'sdk/dist/browser', 'pages/dist', 'LICENSE']
/** For developers: needs browsers and what only tests are installed with. */
const LEFT_OUT = /^bin\/demo(\.ts$|\/)/

interface Manifest {
  readonly version: string
  readonly license: string
  readonly description: string
  /** npm checks a package's provenance against it. */
  readonly repository: object
  readonly engines: object
  readonly dependencies: object
  readonly optionalDependencies: object
}

/** Empties `outputFolder` and writes the package there; `npm pack` makes the tarball from it. */
export async function buildServerPackage(outputFolder: string): Promise<void> {
  await rm(outputFolder, { recursive: true, force: true })
  await mkdir(outputFolder, { recursive: true })
  for await (const file of glob(
    [...PARTS, 'stand-ins'].map((part) => `${part}/**/*.*`),
    { cwd: ROOT },
  )) {
    if (!LEFT_OUT.test(file)) await copyPart(file, outputFolder)
  }
  for (const part of [...WHOLE_PARTS, 'sdk/dist/browser.js', 'sdk/dist/browser.debug.js', 'sdk/dist/manifest.json'])
    await cp(path.join(ROOT, part), path.join(outputFolder, part), { recursive: true })
  const earlier = path.join(ROOT, 'sdk/dist/earlier')
  if (existsSync(earlier)) await cp(earlier, path.join(outputFolder, 'sdk/dist/earlier'), { recursive: true })
  for (const name of ['whencectl', 'kubectl-whence'])
    await cp(path.join(ROOT, 'bin', name), path.join(outputFolder, 'bin', name))
  const manifest = await manifestOfPackage()
  await writeFile(path.join(outputFolder, 'README.md'), README)
  await writeJson(path.join(outputFolder, 'package.json'), manifest)
  await writeJson(path.join(outputFolder, 'npm-shrinkwrap.json'), await lockFor(manifest))
}

async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
}

async function copyPart(file: string, outputFolder: string): Promise<void> {
  const source = path.join(ROOT, file)
  const target = path.join(outputFolder, file)
  await mkdir(path.dirname(target), { recursive: true })
  if (!file.endsWith('.ts')) return cp(source, target)
  await writeFile(target.replace(/\.ts$/, '.js'), withoutTypes(await readFile(source, 'utf8')))
}

function withoutTypes(text: string): string {
  const compilerOptions = {
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  }
  return ts.transpileModule(text, { compilerOptions }).outputText
}

interface ServerManifest extends Manifest {
  readonly name: string
  readonly type: string
  readonly bin: object
}

async function manifestOfPackage(): Promise<ServerManifest> {
  const own = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as Manifest
  const { version, license, description, repository, engines, dependencies, optionalDependencies } = own
  return {
    name: 'whence-server',
    version,
    description,
    license,
    repository,
    type: 'module',
    bin: { whencectl: 'bin/whencectl', 'kubectl-whence': 'bin/kubectl-whence' },
    engines,
    dependencies,
    optionalDependencies,
  }
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly dev?: true }>>
}

/** The lockfile goes along, so that an install brings what the tests ran with, each package by its digest. */
async function lockFor({ name, version, ...manifest }: ServerManifest): Promise<object> {
  const lock = JSON.parse(await readFile(path.join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile
  const { dependencies, optionalDependencies, engines, license, bin } = manifest
  const own = { name, version, license, dependencies, optionalDependencies, engines, bin }
  const needed = Object.entries(lock.packages).filter(([place, { dev }]) => place !== '' && dev !== true)
  return { ...lock, name, version, packages: { '': own, ...Object.fromEntries(needed) } }
}

const README = `# whence-server

From which website visit did this install of your command-line product come? This package is the service: the command
\`whencectl\`, and the kubectl plugin. \`whencectl --help\` lists the programs and tools.
`

if (import.meta.main) await buildServerPackage(SERVER_PACKAGE)
