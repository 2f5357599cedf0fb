/** Reads a folder of YAML manifests, and parses them into objects that know the line of each of their fields. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml'
import type { Node } from 'yaml'

import type { CatalogProblem } from '../../domain/catalog.ts'
import type { SourceObject } from '../../domain/catalog/objects.ts'
import type { ProblemReason } from '../../domain/resources/problems.ts'
import { isObject, memberOf, textOf } from '../../domain/strict-json.ts'

export interface ManifestFile {
  readonly name: string
  readonly text: string
}

export interface ParsedManifests {
  /** In the order of their creation: file name, then position in the file. */
  readonly objects: readonly SourceObject[]
  readonly problems: readonly CatalogProblem[]
}

/** The folder itself, or a file in it, cannot be read; the message names it and the reason. */
export class ManifestsUnreadable extends Error {
  override readonly name = 'ManifestsUnreadable'
}

export type Variables = Readonly<Record<string, string | undefined>>

const MAX_FILES = 20_000
const MAX_FILE_BYTES = 16 * 1024 * 1024
const MAX_ERRORS_PER_DOCUMENT = 3
/** Kubernetes reads these as booleans, so this service does too: the same file must not mean two things. */
const YAML_1_1_BOOLEAN = /^(?:(yes|on)|no|off)$/i
const ENV_REFERENCE = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** Whether a file name counts: `.yaml` or `.yml`, but not an editor's temporary files. */
export function isManifestName(name: string): boolean {
  return /\.ya?ml$/i.test(name) && !/^[.#~]/.test(name)
}

/** Begins the names of files that the dashboard wrote. */
export const WRITTEN_PREFIX = 'dashboard/'

/** Where manifests are read and written. */
export interface ManifestFolders {
  readonly folder: string
  /** Where the dashboard writes; null if nothing is written. It need not exist. */
  readonly written: string | null
}

/** Of the name of a file, or of a place in it: whether the dashboard wrote it. */
export function isWritten(file: string): boolean {
  return file.startsWith(WRITTEN_PREFIX)
}

/** Order of creation: what the dashboard wrote is younger than the other files. */
export function compareNames(a: string, b: string): number {
  return Number(isWritten(a)) - Number(isWritten(b)) || (a < b ? -1 : 1)
}

/** What was read of folders, by their path, for whoever reads them again; made empty. */
export type KnownFiles = Map<string, ReadonlyMap<string, KnownFile>>

interface KnownFile {
  /** Changes with each write. */
  readonly signature: string
  readonly file: ManifestFile
}

/**
 * All manifests of a folder, by name, without its subfolders, then those that the dashboard wrote. A file that vanishes
 * meanwhile is skipped. Of those that are known only the changed ones are read; the others have the very same text.
 * @throws ManifestsUnreadable
 */
export async function readManifests(
  folder: string,
  written: string | null = null,
  known: KnownFiles = new Map(),
): Promise<readonly ManifestFile[]> {
  const own = await filesIn(folder, known)
  if (written === null || !(await folderExists(written))) return own
  const more = await filesIn(written, known)
  return [...own, ...more.map(({ name, text }) => ({ name: `${WRITTEN_PREFIX}${name}`, text }))]
}

async function filesIn(folder: string, known: KnownFiles): Promise<readonly ManifestFile[]> {
  const names = await manifestNames(folder)
  const before = known.get(folder)
  const read = await Promise.all(names.map((name) => readManifestFile(folder, name, before?.get(name))))
  const files = read.filter((each) => each !== null)
  known.set(folder, new Map(files.map((each) => [each.file.name, each])))
  return files.map(({ file }) => file)
}

async function folderExists(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  )
}

/** What no version of YAML reads as anything but this text: it begins with a letter, and is none of the words below. */
const PLAIN_TEXT = /^[A-Za-z](?:[A-Za-z0-9._/@'-]|[ :](?=[A-Za-z0-9._/@]))*$/
const YAML_WORD = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i

/**
 * An object as the text of a file, which is read back here: what would be read as something else is not written.
 * @throws Error if it would be
 */
export function manifestText(object: object): string {
  const document = new Document(object, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_key, scalar) {
      const { value } = scalar
      if (typeof value === 'string' && (!PLAIN_TEXT.test(value) || YAML_WORD.test(value))) scalar.type = 'QUOTE_DOUBLE'
      // A body may say -0, which is the same number.
      if (value === 0) scalar.value = 0
    },
  })
  const text = document.toString({ lineWidth: 0 })
  const [read] = documentsIn(text)
  if (!isDeepStrictEqual(read?.toJS(), JSON.parse(JSON.stringify(object)))) {
    throw new Error('the object would be read as another one')
  }
  return text
}

/** As Kubernetes reads them. An empty stream has none; the library then returns an empty array of its own kind. */
function documentsIn(text: string, lines = new LineCounter()): readonly Document.Parsed[] {
  const documents: readonly Document.Parsed[] = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
  })
  for (const document of documents) {
    visit(document, { Scalar: (key, scalar) => asKubernetesReads(key, scalar) })
  }
  return documents
}

/** Changes whenever a manifest is written, added, removed or linked elsewhere; reads no file. */
export async function folderSignature({ folder, written }: ManifestFolders): Promise<string> {
  const own = await signatureOf(folder)
  return written === null ? own : `${own}\n\n${await signatureOf(written)}`
}

async function signatureOf(folder: string): Promise<string> {
  try {
    const names = await manifestNames(folder)
    const stats = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)))
    return names
      .map((name, index) => {
        const file = stats[index]
        return file === null || file === undefined ? name : `${name}:${file.ino}:${file.size}:${file.mtimeMs}`
      })
      .join('\n')
  } catch (error) {
    return error instanceof ManifestsUnreadable ? error.message : 'unreadable'
  }
}

/** Parses files, already in order. `${NAME}` is replaced inside Secrets only; values of Secrets never reach a message. */
export function parseManifests(files: readonly ManifestFile[], env: Variables): ParsedManifests {
  return ofAllFiles(files.map((file) => parseManifest(file, env)))
}

/** What one file holds. */
export interface ParsedFile extends ParsedManifests {
  readonly name: string
}

/**
 * The same file by file, and caches the result of each file's text: parsing takes most of the time, and a change affects few files.
 * The environment must not change.
 */
export function rememberingFiles(env: Variables): (files: readonly ManifestFile[]) => readonly ParsedFile[] {
  let known = new Map<string, { readonly text: string; readonly parsed: ParsedFile }>()
  return (files) => {
    const next: typeof known = new Map()
    for (const file of files) {
      const { name, text } = file
      const before = known.get(name)
      const parsed = before?.text === text ? before.parsed : { name, ...parseManifest(file, env) }
      next.set(name, { text, parsed })
    }
    known = next
    return [...known.values()].map(({ parsed }) => parsed)
  }
}

/** The same for the whole folder; `parse` parses its files. */
export function rememberingParser(
  env: Variables,
  parse = rememberingFiles(env),
): (files: readonly ManifestFile[]) => ParsedManifests {
  return (files) => ofAllFiles(parse(files))
}

export function ofAllFiles(parsed: readonly ParsedManifests[]): ParsedManifests {
  return { objects: parsed.flatMap(({ objects }) => objects), problems: parsed.flatMap(({ problems }) => problems) }
}

function parseManifest(file: ManifestFile, env: Variables): ParsedManifests {
  const objects: SourceObject[] = []
  const problems: CatalogProblem[] = []
  const lines = new LineCounter()
  const documents = documentsIn(file.text, lines)
  documents.forEach((document, index) => {
    const place: DocumentPlace = { file: file.name, document: index + 1, lines }
    const object = readDocument(document, place, problems)
    if (object === null) return
    for (const each of listItems(object, problems)) {
      expandSecret(each, env, problems)
      objects.push(isWritten(file.name) ? { ...each, uid: uidOf(file.name) } : each)
    }
  })
  return { objects, problems }
}

/** The dashboard names each file by the time at which the object was made, and no second one so. */
function uidOf(file: string): string {
  return file.slice(WRITTEN_PREFIX.length).replace(/\.ya?ml$/, '')
}

interface DocumentPlace {
  readonly file: string
  readonly document: number
  readonly lines: LineCounter
}

async function manifestNames(folder: string): Promise<readonly string[]> {
  let names: readonly string[]
  try {
    names = await readdir(folder)
  } catch (error) {
    throw new ManifestsUnreadable(`the folder ${folder} cannot be read (${readFault(error)})`, { cause: error })
  }
  const manifests = names.filter(isManifestName).sort()
  if (manifests.length > MAX_FILES) throw new ManifestsUnreadable(`${folder} has more than ${MAX_FILES} manifests`)
  return manifests
}

/** A file may be written twice within a tick of the clock of its disk: what was just written is read again next time. */
const SETTLED_MS = 1_000

function isAtRest({ mtimeMs, ctimeMs }: { readonly mtimeMs: bigint; readonly ctimeMs: bigint }): boolean {
  return Date.now() - Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs) > SETTLED_MS
}

/** Null if there is none; its signature is empty if it may change without another one. */
async function readManifestFile(folder: string, name: string, known?: KnownFile): Promise<KnownFile | null> {
  try {
    const path = join(folder, name)
    const found = await stat(path, { bigint: true })
    if (!found.isFile()) return null
    if (found.size > MAX_FILE_BYTES) throw new ManifestsUnreadable(`${name} has more than ${MAX_FILE_BYTES} bytes`)
    const signature = `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`
    if (signature === known?.signature) return known
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
    // Equal texts are compared at every look, which takes no time if they are one and the same.
    const file = text === known?.file.text ? known.file : { name, text }
    return { signature: isAtRest(found) ? signature : '', file }
  } catch (error) {
    if (error instanceof ManifestsUnreadable) throw error
    if (readFault(error) === 'ENOENT') return null
    const why = error instanceof TypeError ? 'it is not UTF-8' : readFault(error)
    throw new ManifestsUnreadable(`${name} cannot be read (${why})`, { cause: error })
  }
}

/** The object of one document, or null if it is empty or broken; broken ones are added to the problems. */
function readDocument(
  document: Document.Parsed,
  place: DocumentPlace,
  problems: CatalogProblem[],
): SourceObject | null {
  const broken = (line: number, message: string) => problems.push(fileProblem(place, line, 'InvalidYaml', message))
  for (const error of document.errors.slice(0, MAX_ERRORS_PER_DOCUMENT)) {
    broken(place.lines.linePos(error.pos[0]).line, firstLine(error.message))
  }
  if (document.errors.length > 0 || document.contents === null) return null
  const root: Node = document.contents
  if (isScalar(root) && root.value === null) return null
  if (!isMap(root)) {
    broken(lineNumberOf(root, place), 'the document is not a map of fields')
    return null
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return { value, locate: (field) => sourceText(place, lineOfField(root, field, document, place)) }
  } catch (error) {
    broken(lineNumberOf(root, place), error instanceof Error ? firstLine(error.message) : 'cannot be read')
    return null
  }
}

/**
 * The objects of a list, as `kubectl get -o yaml` writes and `kubectl apply` accepts it; otherwise the object itself.
 */
function listItems(object: SourceObject, problems: CatalogProblem[]): readonly SourceObject[] {
  const kind = memberOf(object.value, 'kind')
  const items = memberOf(object.value, 'items')
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [object]
  return items.flatMap((value: unknown, index): readonly SourceObject[] => {
    const source = object.locate(`/items/${index}`)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return listItems({ value, locate: (field) => object.locate(`/items/${index}${field}`) }, problems)
    const message = `items.${index}: is not a map of fields`
    problems.push({ object: kind, source, field: `/items/${index}`, reason: 'InvalidYaml', message })
    return []
  })
}

function asKubernetesReads(key: unknown, scalar: { value: unknown; type?: unknown }): void {
  if (key === 'key' || scalar.type !== 'PLAIN' || typeof scalar.value !== 'string') return
  const match = YAML_1_1_BOOLEAN.exec(scalar.value)
  if (match !== null) scalar.value = match[1] !== undefined
}

/** `$${NAME}` means the text `${NAME}` itself. */
function expandSecret(object: SourceObject, env: Variables, problems: CatalogProblem[]): void {
  const stringData = memberOf(object.value, 'stringData')
  if (memberOf(object.value, 'kind') !== 'Secret' || !isObject(stringData)) return
  for (const [key, value] of Object.entries(stringData)) {
    if (typeof value !== 'string') continue
    const expanded = value.replaceAll(ENV_REFERENCE, (reference, name: string) => {
      if (reference.startsWith('$$')) return reference.slice(1)
      const found = env[name]
      if (found !== undefined) return found
      const field = `/stringData/${key}`
      const message = `stringData.${key}: the environment variable ${name} is not set`
      const subject = `Secret/${textOf(memberOf(memberOf(object.value, 'metadata'), 'name'))}`
      problems.push({ object: subject, source: object.locate(field), field, reason: 'EnvNotSet', message })
      return reference
    })
    Reflect.set(stringData, key, expanded)
  }
}

function fileProblem(place: DocumentPlace, line: number, reason: ProblemReason, message: string): CatalogProblem {
  return { object: `File/${place.file}`, source: sourceText(place, line), field: '', reason, message }
}

function sourceText(place: DocumentPlace, line: number): string {
  return `${place.file}, document ${place.document}, line ${line}`
}

/** The line of a field's name, or of the nearest existing parent. */
function lineOfField(root: Node, field: string, document: Document.Parsed, place: DocumentPlace): number {
  let line = lineNumberOf(root, place)
  let node: unknown = root
  for (const step of field.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const resolved = isAlias(node) ? node.resolve(document) : node
    const child = nodeChild(resolved, name)
    if (child === null) break
    line = isNode(child.at) ? lineNumberOf(child.at, place) : line
    node = child.node
  }
  return line
}

function nodeChild(node: unknown, name: string): { readonly at: unknown; readonly node: unknown } | null {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
    return pair === undefined ? null : { at: pair.key, node: pair.value }
  }
  const item = isSeq(node) ? node.items[Number(name)] : undefined
  return item === undefined ? null : { at: item, node: item }
}

function lineNumberOf(node: Node, place: DocumentPlace): number {
  return place.lines.linePos(node.range?.[0] ?? 0).line
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? ''
}

function readFault(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
