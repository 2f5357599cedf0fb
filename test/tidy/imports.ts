/** Which file may import what: the boundaries between folders, and what each package is reserved for. */

import { posix } from 'node:path'

import ts from 'typescript'

import type { SourceFile } from './source-files.ts'

/** What the files of a folder may import from, itself included. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: ['domain'],
  common: ['common'],
  ports: ['ports', 'common', 'domain'],
  runtime: ['runtime', 'ports', 'common', 'domain'],
  api: ['api', 'runtime', 'ports', 'common', 'domain'],
  dashboard: ['dashboard', 'runtime', 'ports', 'common', 'domain'],
  delivery: ['delivery', 'runtime', 'ports', 'common', 'domain'],
  operator: ['operator', 'runtime', 'ports', 'common', 'domain'],
  hook: ['hook', 'domain'],
  sdk: ['sdk', 'domain'],
  'stand-ins': ['stand-ins', 'domain'],
  pages: ['pages', 'common', 'domain'],
  bin: ['bin', 'api', 'dashboard', 'delivery', 'operator', 'stand-ins', 'runtime', 'ports', 'common', 'domain'],
}

/** Folders of which others may import types alone, so that nothing of them is bundled. */
const TYPES_ONLY: Readonly<Record<string, string>> = { pages: 'dashboard/api' }

/**
 * The layers of a folder, lowest first: each imports only from itself and from those before it. The longest path counts, so
 * that the folder's own name stands for whatever else it holds.
 */
const LAYERS: readonly (readonly string[])[] = [
  [
    ...below('domain', 'base64url.ts durations.ts host.ts schema providers reasons.ts model.ts limits.ts'),
    ...below('domain', 'errors.ts strict-json.ts origin.ts outbound receipt.ts plan.ts catalog.ts'),
    ...below('domain', 'resources published people catalog privacy collection'),
    // What may be read follows from the schemas of bodies.
    ...below('domain', 'privacy/legible-places.ts privacy/redact-gpc.ts'),
    ...below('domain', 'records.ts logs streams delivery read-record.ts webhooks'),
    'domain',
  ],
  [...below('api', 'metrics.ts deps.ts http openapi collection static-files.ts routes'), 'api'],
  [
    ...below(
      'dashboard',
      'api pages sessions resources http reads events figures logs installs visits exports mail people configuration sign-in',
    ),
    'dashboard',
    ...below('dashboard', 'reading.ts dashboard.ts'),
  ],
  [...below('bin', 'terminal wiring reads demo tools kubectl service.ts'), 'bin'],
  [
    'delivery',
    ...below(
      'delivery',
      'providers exchange outbound streams facts-writer dispatch rollup recovery state worker mail webhooks tools',
    ),
  ],
  ['operator', ...below('operator', 'gather decide apply operator.ts')],
  ['runtime', ...below('runtime', 'kube settings catalog http')],
  ['ports/event-log', ...below('ports/event-log', 'lmdb spool kafka')],
  [
    ...below(
      'ports/facts',
      'column-types.ts visits.ts stream-tables.ts columns.ts query-rows.ts query-parts.ts erasure/names.ts erasure/queries.ts erasure/kept.ts',
    ),
    ...below('ports/facts', 'pages streams.ts deciding.ts queries.ts facts.ts engine erasure'),
    'ports/facts',
  ],
  ['ports/hot-state', ...below('ports/hot-state', 'lmdb redis')],
  ['sdk/whence.d.ts', 'sdk/core', 'sdk/extras', 'sdk/package', 'sdk'],
  ['bench/support', 'bench'],
  ['pages/data', 'pages/shell/navigation.ts', 'pages/parts', 'pages/shell', 'pages'],
  // What the others need of a test lies in fixtures/.
  ['tools', 'fixtures', 'examples', 'bench', 'test'],
]

function below(folder: string, names: string): readonly string[] {
  return names.split(' ').map((name) => `${folder}/${name}`)
}

/** Folders that reach no package and nothing of Node, with the files that are exempt: because they only build, unless it says otherwise. */
const WITHOUT_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  // One validator for all: it checks plain data and does no I/O.
  domain: ['domain/schema/check-schema.ts', 'domain/schema/finding-order.ts', 'domain/schema/finding-words.ts'],
  sdk: ['sdk/build.ts', 'sdk/build-package.ts', 'sdk/package/react.ts'],
}

/** An engine or framework is named only by its own adapter. */
const RESERVED: Readonly<Record<string, string | readonly string[]>> = {
  kafkajs: 'ports/event-log/',
  ioredis: 'ports/hot-state/',
  lmdb: 'ports/',
  chdb: 'ports/facts/',
  '@clickhouse/client': 'ports/facts/',
  aws4fetch: 'delivery/streams/',
  '@kubernetes/client-node': 'runtime/kube/',
  express: 'api/',
  'express-rate-limit': 'api/',
  'openid-client': 'dashboard/sign-in/',
  typebox: ['dashboard/api/', 'api/openapi/', 'runtime/http/shapes.ts'],
  ajv: ['domain/schema/', 'api/http/validate.ts'],
  nodemailer: 'dashboard/mail/',
  pino: 'runtime/logger.ts',
  yaml: 'runtime/catalog/manifests.ts',
  esbuild: ['sdk/', 'pages/'],
  terser: 'sdk/',
  react: ['sdk/package/', 'pages/'],
  '@mantine/core': 'pages/',
  '@tanstack/react-query': 'pages/',
  '@tanstack/react-router': 'pages/',
}

/** Programs, what is built or handed over as a file, and tools of the build. */
export const ENTRIES: readonly string[] = [
  'bin/whencectl.ts',
  'bin/kubectl-whence.ts',
  'bin/demo.ts',
  'bin/example-data.ts',
  'bin/reads/worker.ts',
  'sdk/build.ts',
  'sdk/build-package.ts',
  'sdk/package/index.ts',
  'sdk/package/react.ts',
  'sdk/package/load-import.ts',
  'sdk/main.ts',
  'sdk/extras-script.ts',
  'sdk/define.d.ts',
  'sdk/whence.d.ts',
  'pages/build.ts',
  'pages/main.tsx',
  'pages/assets.d.ts',
]

/** Every specifier that a file imports: static, for side effects, types, re-exports and dynamic ones. */
export function importsOf({ text }: SourceFile): readonly string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
}

/** Imports whose address is made up at run time: no table can hold them to anything. */
export function computedImports(file: SourceFile): readonly string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments
      if (specifier === undefined || !ts.isStringLiteralLike(specifier)) found.push(node.getText())
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true))
  return found
}

/** What is wrong with a product file's imports, one sentence each. */
export function importProblems(file: SourceFile): readonly string[] {
  const folder = file.path.split('/')[0] ?? ''
  const allowed = MAY_IMPORT[folder]
  if (allowed === undefined) return [`${file.path} lies in no folder of the table`]
  const computed = computedImports(file).map((text) => `${file.path} imports ${text}, which cannot be checked`)
  const named = importsOf(file).flatMap((specifier) => {
    const problem = specifier.startsWith('.')
      ? relativeProblem(file, specifier, allowed)
      : packageProblem(file.path, specifier, folder)
    return problem === null ? [] : [`${file.path} ${problem}`]
  })
  return [...computed, ...named]
}

function relativeProblem(file: SourceFile, specifier: string, allowed: readonly string[]): string | null {
  const { path } = file
  const target = posix.join(posix.dirname(path), specifier)
  const folder = target.split('/')[0] ?? ''
  if (!/\.(ts|tsx|css)$/.test(target)) return `imports ${specifier} without its ending .ts`
  const types = TYPES_ONLY[path.split('/')[0] ?? '']
  if (types !== undefined && target.startsWith(`${types}/`) && importsTypesOf(file, specifier)) return null
  return allowed.includes(folder) ? null : `imports ${target}: only ${allowed.join(', ')} may be imported from here`
}

/** Whether every import of it is one of types alone. */
function importsTypesOf({ text }: SourceFile, specifier: string): boolean {
  const all = text.split(`'${specifier}'`).length - 1
  return (
    [...text.matchAll(/^import type \{[^}]*\} from '([^']+)'/gm)].filter(([, of]) => of === specifier).length === all
  )
}

function packageProblem(path: string, specifier: string, folder: string): string | null {
  const name = packageOf(specifier)
  const exempt = WITHOUT_PACKAGES[folder]
  if (exempt !== undefined && !exempt.includes(path)) return `imports ${specifier}: ${folder}/ imports no package`
  const owner = RESERVED[name]
  if (owner === undefined || [owner].flat().some((each) => path.startsWith(each))) return null
  return `imports ${name}, which only ${[owner].flat().join(', ')} may name`
}

/** Groups of files that import each other in a cycle, types included: to read one of them is to read all. */
export function importCircles(files: readonly SourceFile[]): readonly string[] {
  const paths = new Set(files.map(({ path }) => path))
  const targets = new Map(files.map((file) => [file.path, targetsOf(file).filter((target) => paths.has(target))]))
  const reaches = (from: string): ReadonlySet<string> => {
    const found = new Set<string>()
    const queue = [from]
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      for (const target of targets.get(path) ?? []) {
        if (found.has(target)) continue
        found.add(target)
        queue.push(target)
      }
    }
    return found
  }
  const reached = new Map([...paths].map((path) => [path, reaches(path)]))
  const circles = [...paths]
    .filter((path) => reached.get(path)?.has(path) === true)
    .map((path) => [...paths].filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)))
  return [...new Set(circles.map((circle) => circle.sort().join(' ')))]
}

/** Imports of a file that point from a layer to one above it. */
export function upwardImports(file: SourceFile): readonly string[] {
  return LAYERS.flatMap((layers) => {
    const from = layerOf(file.path, layers)
    if (from === -1) return []
    const upward = targetsOf(file).filter((target) => layerOf(target, layers) > from)
    return upward.map((target) => `${file.path} imports ${target}, which lies above it`)
  })
}

/** The index of the path's layer; -1 if it is in none. */
function layerOf(path: string, layers: readonly string[]): number {
  const fitting = layers.filter((layer) => path === layer || path.startsWith(`${layer}/`))
  return layers.indexOf(fitting.toSorted((a, b) => b.length - a.length)[0] ?? '')
}

/** The files of ours that a file imports. */
function targetsOf(file: SourceFile): readonly string[] {
  return importsOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file.path), specifier))
}

/** `@scope/name` or `name`, without what is below it. */
export function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** Product files that no other file of the product reaches from these entries. */
export function deadFiles(files: readonly SourceFile[], entries: readonly string[]): readonly string[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set<string>()
  const queue = entries.filter((entry) => byPath.has(entry))
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const file = byPath.get(path)
    if (file === undefined || reached.has(path)) continue
    reached.add(path)
    queue.push(...targetsOf(file))
  }
  return files.map(({ path }) => path).filter((path) => !reached.has(path))
}
