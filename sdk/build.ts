/**
 * Bundles the SDK into `sdk/dist`: the core, the parts loaded on demand, and a manifest of what to serve at which
 * address.
 */

import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { minify } from 'terser'
import { DIGEST_CHARS } from './core/digest.ts'
import { READERS } from './readers/index.ts'

/** One file of the bundle as the service serves it. Addresses are relative to the base address. */
interface BuiltFile {
  /** Path below `sdk/dist`. */
  readonly name: string
  /** Address that always serves the newest version; for parts the immutable one. */
  readonly url: string
  /** Address that serves these bytes for ever. */
  readonly immutableUrl: string
  /** Hex digest, for ETags. */
  readonly sha256: string
  /** For the `integrity` attribute. */
  readonly integrity: string
  readonly bytes: number
  readonly brotliBytes: number
}

export interface BuildManifest {
  readonly files: readonly BuiltFile[]
  /** What earlier releases have served at addresses that never change. */
  readonly earlier: readonly Pick<BuiltFile, 'name' | 'immutableUrl'>[]
}

interface BuildChoice {
  /** Most bytes with brotli, by the beginning of an address. */
  readonly budgetBytes?: Readonly<Record<string, number>>
  /** Folder of the builds of earlier releases, each file below it named as its address. */
  readonly earlierFolder?: string
}

/** Long name to short name. */
type MangleCache = Record<string, string | false>

const SOURCE = import.meta.dirname
/**
 * Internal property names, which are shortened. None of them may be a name of the wire, of the public interface or of
 * the browser. Core and extras share the short names.
 */
const INTERNAL_NAMES =
  /^(adapters|attend|clickOf|configuring|cookieOf|documentValue|draft|count|currentReceipt|addCustom|firstGroup|fit|forget|keep|keeper|linkFor|place|settle|isAllowed|isAutomatic|isDue|isOpen|isUrgent|loaded|loading|part|mayCollect|memoryKey|nowMs|isPipe|feeder|isWindows|landing|obey|prepareAgain|record|recorder|resume|ask|askExtras|complete|scopeOf|scopes|send|sent|serviceUrl|running|view|wait|tagAttributes)$/
/** What the two files of ordinary pages may weigh, compressed with brotli at its best, by the beginning of their address. */
const BUDGET_BYTES: Readonly<Record<string, number>> = { '/browser.js': 3 * 1024, '/browser/extras': 4 * 1024 }
/** Digits of the SHA-256 in an immutable address that pages name, beside the digest in full. */
const HASH_CHARS = 12

/**
 * Builds into `outputFolder` and removes the remains of an earlier build. The same sources always give the same bytes.
 * The manifest is written last, so that a process that starts meanwhile finds every file in it. Rejects if a file is larger than
 * its budget, or if one of an earlier release is not what its name says.
 */
export async function buildSdk(outputFolder: string, choice: BuildChoice = {}): Promise<BuildManifest> {
  const { budgetBytes = BUDGET_BYTES, earlierFolder = path.join(SOURCE, 'earlier') } = choice
  const shortNames: MangleCache = {}
  // The names that every visitor loads are chosen first.
  await bundle('main.ts', shortNames)
  const extras = await buildPart('extras', shortNames)
  const readers = new Map<string, BuiltPart>()
  for (const provider of Object.keys(READERS))
    readers.set(provider, await buildPart('reader', shortNames, { define: { PROVIDER: provider } }))
  const keeper = await buildPart('keeper', shortNames, { parts: { EXTRAS: extras.text } })
  const readersText = [...readers].map(([provider, { text }]) => `${provider}: ${text}`).join()
  const recorder = await buildPart('recorder', shortNames, { parts: { READERS: `{ ${readersText} }` } })
  const parts = { RECORDER: recorder.text, KEEPER: keeper.text }
  const core = await bundle('main.ts', shortNames, { parts })
  const talking = await bundle('main.ts', shortNames, { parts, define: { DEBUG: true } })
  const coreFile = describeEntry('browser', core)
  const talkingFile = describeEntry('browser.debug', talking)
  const builtParts = [extras, recorder, keeper, ...readers.values()]
  const files = [coreFile, talkingFile, ...builtParts.map(({ file }) => file)]
  const isCurrent = ({ immutableUrl }: EarlierFile) => files.some((file) => file.immutableUrl === immutableUrl)
  const kept = (await readEarlier(earlierFolder)).filter((file) => !isCurrent(file))
  const manifest: BuildManifest = { files, earlier: kept.map(({ name, immutableUrl }) => ({ name, immutableUrl })) }
  for (const { url, brotliBytes } of manifest.files) {
    const allowed = Object.entries(budgetBytes).find(([stem]) => url.startsWith(stem))?.[1] ?? Infinity
    if (brotliBytes > allowed) throw new Error(`${url} has ${brotliBytes} bytes with brotli; ${allowed} are allowed`)
  }
  await writeBuilt(outputFolder, coreFile.name, core)
  for (const { file, contents } of builtParts) await writeBuilt(outputFolder, file.name, contents)
  await writeBuilt(outputFolder, talkingFile.name, talking)
  for (const { name, contents } of kept) await writeBuilt(outputFolder, name, contents)
  await writeBuilt(outputFolder, 'manifest.json', `${JSON.stringify(manifest, null, 2)}\n`)
  await removeOthers(outputFolder, manifest)
  return manifest
}

interface BuiltPart {
  readonly file: BuiltFile
  readonly contents: Uint8Array
  /** The part as the sources of another know it: with its address below the base. */
  readonly text: string
}

interface BuiltWith {
  /** Values of the constants that the sources declare. `DEBUG` is false if it is missing. */
  readonly define?: Readonly<Record<string, unknown>>
  /** The parts that the bundle names, by their names in `core/places.ts`, as texts of JavaScript. */
  readonly parts?: Readonly<Record<string, string>>
}

async function buildPart(name: string, shortNames: MangleCache, values: BuiltWith = {}): Promise<BuiltPart> {
  const contents = await bundle(`${name}-script.ts`, shortNames, values)
  const file = describe(`/browser/${name}`, contents)
  return { file, contents, text: `{ place: ${JSON.stringify(file.immutableUrl.slice(1))} }` }
}

async function bundle(entry: string, mangleCache: MangleCache, values: BuiltWith = {}): Promise<Uint8Array> {
  const define = Object.entries({ DEBUG: false, ...values.define })
  const { outputFiles, mangleCache: renamed } = await build({
    entryPoints: [path.join(SOURCE, entry)],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    target: 'es2021',
    charset: 'utf8',
    legalComments: 'none',
    tsconfigRaw: {},
    define: Object.fromEntries(define.map(([name, value]) => [name, JSON.stringify(value)])),
    mangleProps: INTERNAL_NAMES,
    mangleCache,
    plugins: [limitsAsNumbers, partsAs(values.parts ?? {})],
  })
  Object.assign(mangleCache, renamed)
  const [file] = outputFiles
  if (!file) throw new Error(`esbuild wrote nothing for ${entry}`)
  // esbuild renames across bundles; terser saves another 3 % of what every visitor loads.
  const { code } = await minify(file.text, {
    compress: {
      passes: 4,
      ecma: 2022,
      inline: 1,
      unsafe_arrows: true,
      unsafe: true,
      unsafe_methods: true,
      arrows: false,
    },
    // Of a script's own names none may become one of the page's.
    toplevel: false,
  })
  return Buffer.from(code ?? '')
}

/** Replaces the module of limits by its evaluated numbers: the table behind it is for servers. */
export const limitsAsNumbers: Plugin = {
  name: 'limits-as-numbers',
  setup: (plugin) => {
    plugin.onLoad({ filter: /[/\\]core[/\\]limits\.ts$/ }, async () => {
      const limits = Object.entries(await import('./core/limits.ts'))
      return {
        loader: 'js',
        contents: limits.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`).join('\n'),
      }
    })
  },
}

/** Replaces the module of parts by one with their addresses. */
function partsAs(parts: Readonly<Record<string, string>>): Plugin {
  const all = { EXTRAS: '{}', KEEPER: '{}', READERS: '{}', RECORDER: '{}', ...parts }
  const contents = Object.entries(all).map(([name, text]) => `export const ${name} = ${text}`)
  return {
    name: 'parts-with-addresses',
    setup: (plugin) => {
      plugin.onLoad({ filter: /[/\\]core[/\\]places\.ts$/ }, () => ({ loader: 'js', contents: contents.join('\n') }))
    },
  }
}

/**
 * A script that pages reference: at an address that always serves the newest version, and at one that never changes.
 */
function describeEntry(name: string, contents: Uint8Array): BuiltFile {
  return { ...describe(`/${name}`, contents), name: `${name}.js`, url: `/${name}.js` }
}

function describe(stem: string, contents: Uint8Array): BuiltFile {
  const url = immutable(stem, contents)
  return {
    name: url.slice(1),
    url,
    immutableUrl: url,
    sha256: createHash('sha256').update(contents).digest('hex'),
    integrity: `sha384-${createHash('sha384').update(contents).digest('base64')}`,
    bytes: contents.byteLength,
    brotliBytes: brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).byteLength,
  }
}

/** The address of a part contains so much of its digest that the core needs nothing else to check it. */
function immutable(stem: string, contents: Uint8Array): string {
  const digest = createHash('sha256').update(contents).digest()
  const digits = stem.startsWith('/browser/')
    ? digest.toString('base64').replace(/\W/g, '').slice(0, DIGEST_CHARS)
    : digest.toString('hex').slice(0, HASH_CHARS)
  return `${stem}.${digits}.js`
}

interface EarlierFile {
  readonly name: string
  readonly immutableUrl: string
  readonly contents: Uint8Array
}

async function readEarlier(folder: string): Promise<EarlierFile[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.js')).sort()
  return Promise.all(
    names.map(async (name) => {
      const contents = await readFile(path.join(folder, name))
      const immutableUrl = immutable(`/${name.replace(/\.\w+\.js$/, '')}`, contents)
      if (immutableUrl !== `/${name}`)
        throw new Error(`${path.join(folder, name)} is not what was served: ${immutableUrl}`)
      return { name: `earlier/${name}`, immutableUrl, contents }
    }),
  )
}

async function removeOthers(folder: string, { files, earlier }: BuildManifest): Promise<void> {
  const known = new Set([...files, ...earlier].map(({ name }) => name).concat('manifest.json'))
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    const name = path.relative(folder, file)
    // The package is another build's.
    if (entry.isFile() && !known.has(name) && !name.startsWith('package/')) await rm(file)
  }
}

async function writeBuilt(folder: string, name: string, contents: Uint8Array | string): Promise<void> {
  const file = path.join(folder, name)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(`${file}.new`, contents)
  await rename(`${file}.new`, file)
}

if (import.meta.main) {
  const { files } = await buildSdk(path.join(SOURCE, 'dist'))
  for (const { name, bytes, brotliBytes } of files) console.log(`${name}  ${bytes} bytes, ${brotliBytes} with brotli`)
}
