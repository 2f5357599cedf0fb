/** Bundles the dashboard's pages into `pages/dist`: hashed files, each compressed once, and a manifest of them. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'

import { build, type Metafile, type OutputFile } from 'esbuild'

import { sha256Integrity } from '../common/digest.ts'
import type { BuiltAsset, PagesManifest } from '../common/pages-manifest.ts'

const SOURCE = import.meta.dirname
const ENTRY = 'main.tsx'
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** The best compression: it is done once. */
const BEST_QUALITY = constants.BROTLI_MAX_QUALITY

/** Builds into `folder`, which is emptied first. The same sources always give the same bytes. */
export async function buildPages(folder: string, quality = BEST_QUALITY): Promise<PagesManifest> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(SOURCE, ENTRY)],
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    jsx: 'automatic',
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const assets = await Promise.all(outputFiles.map((file) => writeAsset(folder, file, quality)))
  // Pages that are loaded later are entry points of their own.
  const [entry = ''] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => basename(entryPoint ?? '') === ENTRY) ?? []
  const named = (extension: string): string => {
    const found = assets.find(({ name }) => name.startsWith('main-') && name.endsWith(extension))
    if (found === undefined) throw new Error(`the bundle has no main file with the ending ${extension}`)
    return found.name
  }
  const preload = importedBy(entry, metafile.outputs).map((path) => basename(path))
  const manifest = { script: named('.js'), style: named('.css'), preload, assets }
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

/** What a file imports at once, and what that imports: all of it is needed before the file runs. */
function importedBy(file: string, outputs: Metafile['outputs']): readonly string[] {
  const found = new Set([file])
  for (const each of found)
    for (const { path, kind } of outputs[each]?.imports ?? []) if (kind === 'import-statement') found.add(path)
  found.delete(file)
  return [...found]
}

async function writeAsset(folder: string, { path, contents }: OutputFile, quality: number): Promise<BuiltAsset> {
  const name = basename(path)
  const compressed = brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
  await writeFile(join(folder, name), contents)
  await writeFile(join(folder, `${name}.br`), compressed)
  return {
    name,
    contentType: CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    integrity: sha256Integrity(contents),
    bytes: contents.byteLength,
    brotliBytes: compressed.byteLength,
  }
}

if (import.meta.main) await buildPages(join(SOURCE, 'dist'))
