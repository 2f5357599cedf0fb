/** Keeps the catalog compiled from a watched folder: swapped whole, and only for one that compiles. */

import { withNumber } from '../../domain/published/catalog-number.ts'
import { catalogNumbers } from './last-number.ts'
import type { Catalog, CatalogProblem, Credentials } from '../../domain/catalog.ts'
import { isBlocking } from '../../domain/resources/problems.ts'
import type { Compilation } from '../../domain/catalog/compile-catalog.ts'
import type { PublishedProblem } from '../../domain/published/problems.ts'
import {
  compileCatalog,
  emptyCompileMemory,
  type CompileMemory,
  type PassesInForce,
} from '../../domain/catalog/compile-catalog.ts'
import type { SourceObject } from '../../domain/catalog/objects.ts'
import type { Member } from '../../domain/people/member.ts'
import type { ProviderSettingsChecker } from '../../domain/catalog/compiler.ts'
import { withoutMissing } from '../../domain/catalog/missing-references.ts'
import type { FolderState } from './folder-watch.ts'
import { watchFolder } from './folder-watch.ts'
import type { Logger } from '../logger.ts'
import {
  compareNames,
  isWritten,
  ManifestsUnreadable,
  parseManifests,
  readManifests,
  rememberingFiles,
  rememberingParser,
} from './manifests.ts'
import type { KnownFiles, ManifestFile, ManifestFolders, ParsedFile, ParsedManifests, Variables } from './manifests.ts'
import { sha256Hex } from '../../common/digest.ts'

export interface CatalogSource {
  /** The catalog in force. Read it once per request: the next call may return another. */
  readonly current: () => Catalog
  /** The copy here holds everything up to this number (`CatalogInHand` in `domain/published/catalog-number.ts`). */
  readonly asOf: () => number
  readonly credentials: () => Credentials
  /** Problems of the folder as it is now, whether or not the catalog in force came from it. */
  readonly problems: () => readonly CatalogProblem[]
  /** Problems of single objects, for the activity of their organisations. In a cluster they come with their times. */
  readonly objectProblems: () => readonly (CatalogProblem | PublishedProblem)[]
  /** Called after each change of catalog or problems; returns a function that unsubscribes. */
  readonly onChange: (listener: (change: CatalogChange) => void) => () => void
  readonly close: () => Promise<void>
}

/** One that is compiled from a folder in this very process. */
export interface FolderCatalog extends CatalogSource {
  /** Who may do what, of the catalog in force. */
  readonly members: () => readonly Member[]
  /** The same without a session. */
  readonly passes: () => PassesInForce
  /** The objects of the folder and what they compile to, whether or not that is in force. */
  readonly latest: () => FolderView
  /** Its files, for whoever reads them beside this. */
  readonly content: FolderContent
  readonly repairs: FolderRepairs
  /** Reads the folder again at once; resolves with whether what it holds now is in force. */
  readonly refresh: () => Promise<boolean>
}

/** For what must take effect even while the folder as it is now is refused or cannot be read. */
export interface FolderRepairs {
  /** Those that the catalog in force was compiled from. */
  readonly files: () => readonly ManifestFile[]
  /** Puts the catalog in force that these files and this one compile to; false if they are refused. */
  readonly amend: (file: ManifestFile) => boolean
}

/** What changed since it was read or parsed last is read and parsed, and nothing else. */
export interface FolderContent {
  /** @throws ManifestsUnreadable */
  readonly read: () => Promise<readonly ManifestFile[]>
  readonly parse: (files: readonly ManifestFile[]) => readonly ParsedFile[]
}

export function folderContent({ folder, written, env }: ManifestFolders & { readonly env: Variables }): FolderContent {
  const known: KnownFiles = new Map()
  return { read: () => readManifests(folder, written, known), parse: rememberingFiles(env) }
}

interface CatalogOutcome {
  readonly catalog: Catalog
  readonly problems: readonly CatalogProblem[]
  /** False if the folder is refused and the previous catalog stays in force. */
  readonly isAccepted: boolean
}

export interface CatalogChange extends CatalogOutcome {
  readonly previous: Catalog
}

interface CatalogFolderOptions {
  readonly folder: string
  /** Where the dashboard writes; null or absent if there is none. */
  readonly written?: string | null
  /** Values for `${NAME}` inside Secrets. */
  readonly env: Variables
  readonly logger: Logger
  readonly nowMs: () => number
  /**
   * Where the number of the last catalog is kept, so that it only grows whatever the clock does; null or absent for a process that shares its
   * folder with others, whose clock is the number.
   */
  readonly numberFile?: string | null
}

export interface FolderView {
  readonly objects: readonly SourceObject[]
  readonly compilation: FolderCompilation
}

interface FolderCompilation extends Compilation {
  /** Whether the folder may take effect; problems that only exclude single objects do not prevent it. */
  readonly isAccepted: boolean
  /** The problems that prevent it. */
  readonly blocking: readonly CatalogProblem[]
}

/**
 * The folder does not compile at the start, when there is no catalog to keep.
 * @internal
 */
export class CatalogRefused extends Error {
  override readonly name = 'CatalogRefused'
  readonly problems: readonly CatalogProblem[]
  constructor(folder: string, problems: readonly CatalogProblem[]) {
    super(`the manifests in ${folder} do not compile:\n${formatProblems(problems)}`)
    this.problems = problems
  }
}

/**
 * Reads and compiles a folder, and watches it from then on. `check` is set by tests.
 * @throws CatalogRefused if the folder cannot be read or does not compile: a start must not serve half of it.
 */
export async function openCatalogFolder(
  options: CatalogFolderOptions,
  check: { readonly checkProviderSettings?: ProviderSettingsChecker } = {},
): Promise<FolderCatalog> {
  const { folder, logger, written = null, nowMs } = options
  const content = folderContent({ folder, written, env: options.env })
  const initial = await filesOf(folder, content)
  const parse = rememberingParser(options.env, content.parse)
  const memory = emptyCompileMemory()
  const numbers = catalogNumbers(options)
  const compile = (files: readonly ManifestFile[]): FolderView => {
    const parsed = parse(files)
    return { objects: parsed.objects, compilation: compileParsed(parsed, { ...check, nowMs: nowMs(), memory }) }
  }
  let latest = compile(initial)
  let { compilation } = latest
  if (!compilation.isAccepted) throw new CatalogRefused(folder, compilation.problems)
  let current = withNumber(compilation.catalog, numbers.next())
  let problems = compilation.problems
  let isInForce = true
  let inForce = initial
  const listeners = new Set<(change: CatalogChange) => void>()
  logOutcome(logger, { ...compilation, catalog: current, isAccepted: true })

  const accept = ({ compilation: next }: FolderView, files: readonly ManifestFile[]): boolean => {
    if (!next.isAccepted) return false
    compilation = next
    inForce = files
    const isSame = next.catalog.version === current.version
    current = withNumber(next.catalog, isSame ? current.number : numbers.next())
    return true
  }
  const amend = (file: ManifestFile): boolean => {
    const files = withFile(inForce, file)
    return accept(compile(files), files)
  }
  const take = (state: FolderState): void => {
    const previous = current
    const next = state.kind === 'files' ? compile(state.files) : null
    isInForce = state.kind === 'files' && next !== null && accept(next, state.files)
    if (next !== null) latest = next
    problems = next?.compilation.problems ?? [folderProblem(folder, state.kind === 'unreadable' ? state.message : '')]
    const change = { catalog: current, previous, problems, isAccepted: isInForce }
    logOutcome(logger, change)
    for (const listener of listeners) notify(listener, change, logger)
  }
  const watching = watchFolder({
    folders: { folder, written },
    read: content.read,
    initial,
    nowMs,
    logger,
    onChange: take,
  })
  return {
    current: () => current,
    asOf: () => Math.max(current.number, watching.unchangedAtMs()),
    credentials: () => compilation.credentials,
    members: () => compilation.people.members,
    passes: () => compilation.people,
    latest: () => latest,
    content,
    repairs: { files: () => inForce, amend },
    refresh: async () => (await watching.refresh()) && isInForce,
    problems: () => problems,
    objectProblems: () => problems,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: watching.close,
  }
}

function withFile(files: readonly ManifestFile[], file: ManifestFile): readonly ManifestFile[] {
  const others = files.filter(({ name }) => name !== file.name)
  return [...others, file].sort((a, b) => compareNames(a.name, b.name))
}

/** Compiles files as a folder: `whencectl lint` prints exactly what the embedded program would report. */
export function compileManifests(
  files: readonly ManifestFile[],
  { env, ...time }: { readonly env: Variables; readonly nowMs?: number },
): FolderCompilation {
  return compileParsed(parseManifests(files, env), time)
}

/** Compiles what was parsed of a folder. */
export function compileParsed(
  parsed: ParsedManifests,
  {
    checkProviderSettings,
    nowMs,
    memory,
  }: {
    readonly checkProviderSettings?: ProviderSettingsChecker
    readonly nowMs?: number
    /** For callers that compile nearly the same objects again. */
    readonly memory?: CompileMemory
  },
): FolderCompilation {
  const compilation = compileCatalog({
    objects: parsed.objects,
    sha256Hex,
    ...(nowMs === undefined ? {} : { nowMs }),
    ...(memory === undefined ? {} : { memory }),
    ...(checkProviderSettings === undefined ? {} : { rules: { checkProviderSettings } }),
  })
  const unread = parsed.problems.filter((problem) => problem.reason === 'InvalidYaml')
  const onlySeemBroken = unread.some(({ source }) => !isWritten(source))
  // While a document cannot be read, references to it only seem broken.
  const compiled = compilation.problems.filter((problem) => !onlySeemBroken || !problem.reason.startsWith('Ref'))
  const problems = [...parsed.problems, ...compiled]
  const blocking = problems.filter((problem) => blocksFolder(problem, unread.length > 0))
  return { ...compilation, problems, blocking, isAccepted: blocking.length === 0 }
}

/**
 * What the dashboard wrote leaves only itself out, as in a cluster: nobody may stop the changes of others, or the next start, with
 * an object of their own. Of its documents that cannot be read nobody knows what they were, so references do not count meanwhile.
 */
function blocksFolder(problem: CatalogProblem, hasUnread: boolean): boolean {
  return isBlocking(problem) && !isWritten(problem.source) && !(hasUnread && problem.reason === 'RefNotFound')
}

interface LintOptions {
  readonly folder: string
  readonly env: Variables
  /** Referenced objects may be elsewhere. */
  readonly allowsMissing?: boolean
}

/** The problems of a folder as it is now; being unreadable is one of them. */
export async function lintFolder({
  folder,
  env,
  allowsMissing = false,
}: LintOptions): Promise<readonly CatalogProblem[]> {
  try {
    const files = await readManifests(folder)
    const { problems } = compileManifests(files, { env })
    return allowsMissing ? withoutMissing(problems, parseManifests(files, env).objects) : problems
  } catch (error) {
    if (error instanceof ManifestsUnreadable) return [folderProblem(folder, error.message)]
    throw error
  }
}

/** One problem a line, as a terminal shows it. */
export function formatProblems(problems: readonly CatalogProblem[]): string {
  return problems
    .map(
      ({ object, source, reason, message }) => `${source === '' ? '' : `${source}: `}${object}: ${message} [${reason}]`,
    )
    .join('\n')
}

async function filesOf(folder: string, { read }: FolderContent): Promise<readonly ManifestFile[]> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ManifestsUnreadable) throw new CatalogRefused(folder, [folderProblem(folder, error.message)])
    throw error
  }
}

function folderProblem(folder: string, message: string): CatalogProblem {
  return { object: `Folder/${folder}`, source: '', field: '', reason: 'FolderUnreadable', message }
}

function logOutcome(logger: Logger, { catalog, problems, isAccepted }: CatalogOutcome): void {
  for (const { object, source, field, reason, message } of problems) {
    logger.warn({ object, source, field, reason, why: message }, 'manifest refused')
  }
  const { version, number } = catalog
  const counts = { version, number, websites: catalog.websites.size, problems: problems.length }
  if (isAccepted) logger.info(counts, 'catalog in force')
  else logger.error(counts, 'folder refused, keeping the catalog in force')
}

function notify(listener: (change: CatalogChange) => void, change: CatalogChange, logger: Logger): void {
  try {
    listener(change)
  } catch (error) {
    logger.error({ err: error }, 'listener of the catalog failed')
  }
}
