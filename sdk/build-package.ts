/**
 * Builds the npm package `whence-js` into `sdk/dist/package`: ES modules, in a silent and an explaining build, with
 * their types.
 */

import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import ts from 'typescript'
import { objectOf } from '../domain/strict-json.ts'
import { limitsAsNumbers } from './build.ts'

const SOURCE = import.meta.dirname
const ROOT = path.dirname(SOURCE)
/** Folder of the build that bundlers choose in development. */
const TALKING = 'development'
/** What users import: `whence-js` and `whence-js/react`. */
const ENTRIES = ['index', 'react']

/** Empties `outputFolder` and writes the package there; `npm pack` makes the tarball from it. */
export async function buildPackage(outputFolder: string): Promise<void> {
  await rm(outputFolder, { recursive: true, force: true })
  await mkdir(outputFolder, { recursive: true })
  await bundlePackage(outputFolder, false)
  await bundlePackage(path.join(outputFolder, TALKING), true)
  for (const name of ENTRIES)
    await writeFile(path.join(outputFolder, `${name}.d.ts`), await typesOf(path.join(SOURCE, 'package', `${name}.ts`)))
  await copyFile(path.join(SOURCE, 'package/README.md'), path.join(outputFolder, 'README.md'))
  await copyFile(path.join(SOURCE, 'whence.d.ts'), path.join(outputFolder, 'whence.d.ts'))
  await copyFile(path.join(ROOT, 'LICENSE'), path.join(outputFolder, 'LICENSE'))
  const manifest = await manifestOfPackage()
  await writeFile(path.join(outputFolder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

async function bundlePackage(outputFolder: string, isTalking: boolean): Promise<void> {
  await build({
    entryPoints: ENTRIES.map((name) => path.join(SOURCE, 'package', `${name}.ts`)),
    outdir: outputFolder,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    target: 'es2021',
    charset: 'utf8',
    legalComments: 'none',
    tsconfigRaw: {},
    define: { DEBUG: String(isTalking) },
    external: ['react'],
    // Frameworks with server components need the mark that hooks are for the browser.
    banner: { js: '"use client";' },
    plugins: [limitsAsNumbers, extrasByImport],
  })
}

/** A module imports the extras from its own bundle, instead of loading a script of the service. */
const extrasByImport: Plugin = {
  name: 'extras-by-import',
  setup: (plugin) => {
    plugin.onResolve({ filter: /\/load-script\.ts$/ }, () => ({ path: path.join(SOURCE, 'package/load-import.ts') }))
    plugin.onResolve({ filter: /\/core\/places\.ts$|^\.\/places\.ts$/ }, () => ({
      path: path.join(SOURCE, 'package/places.ts'),
    }))
  },
}

/** The public types of a module, with import paths as in the package. */
async function typesOf(file: string): Promise<string> {
  const options = { isolatedDeclarations: true, declaration: true, stripInternal: true }
  const { outputText } = ts.transpileDeclaration(await readFile(file, 'utf8'), { compilerOptions: options })
  return outputText.replace(/'\.\.?\/(\w+)(?:\.d)?\.ts'/g, "'./$1.js'")
}

async function manifestOfPackage(): Promise<object> {
  const { version, license, repository } = objectOf(JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')))
  const entry = (name: string) => ({
    types: `./${name}.d.ts`,
    development: `./${TALKING}/${name}.js`,
    default: `./${name}.js`,
  })
  return {
    name: 'whence-js',
    version,
    description: 'Which website visit did an install of your command-line product come from? The browser side.',
    license,
    repository,
    type: 'module',
    sideEffects: false,
    exports: { '.': entry('index'), './react': entry('react') },
    peerDependencies: { react: '>=18' },
    peerDependenciesMeta: { react: { optional: true } },
  }
}

if (import.meta.main) await buildPackage(path.join(SOURCE, 'dist/package'))
