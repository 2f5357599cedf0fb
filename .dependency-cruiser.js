/** Which file may import what, types included: the boundaries between folders, the layers within them, and what each package is reserved for. */

/** What the files of a folder may import from, itself included. */
const MAY_IMPORT = {
  domain: 'domain',
  common: 'common',
  ports: 'ports common domain',
  runtime: 'runtime ports common domain',
  // Of the dashboard the declarations alone: the document of the public interface has what programs read there.
  api: 'api dashboard/api runtime ports common domain',
  dashboard: 'dashboard runtime ports common domain',
  delivery: 'delivery runtime ports common domain',
  operator: 'operator runtime ports common domain',
  hook: 'hook domain',
  sdk: 'sdk domain',
  'stand-ins': 'stand-ins domain',
  pages: 'pages common domain',
  bin: 'bin api dashboard delivery operator stand-ins runtime ports common domain',
}
const PRODUCT = `^(${Object.keys(MAY_IMPORT).join('|')})/`

/**
 * The layers of a folder, lowest first: each imports only from itself and from those before it. The longest path counts, so
 * that the folder's own name stands for whatever else it holds.
 */
const LAYERS = [
  [
    ...below(
      'domain',
      'typed-keys.ts base64url.ts durations.ts zone-countries.ts time-zones.ts host.ts once-per-object.ts schema providers reasons.ts model.ts limits.ts',
    ),
    ...below(
      'domain',
      'errors.ts strict-json.ts guards.ts origin.ts outbound receipt.ts plan.ts alerts/alert.ts alerts/rules.ts alerts/alert-words.ts catalog.ts',
    ),
    // A link shows figures: its object names their periods and dimensions.
    ...below('domain', 'figures/installs.ts figures/periods.ts figures/filters.ts'),
    ...below('domain', 'resources published people catalog privacy collection'),
    // What may be read follows from the schemas of bodies.
    ...below('domain', 'privacy/legible-places.ts privacy/redact-gpc.ts'),
    ...below('domain', 'spend/spend-records.ts records.ts logs streams delivery read-record.ts webhooks'),
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
      'providers exchange outbound streams counting facts-writer dispatch rollup recovery state worker mail webhooks tools',
    ),
  ],
  ['operator', ...below('operator', 'gather decide apply operator.ts')],
  ['runtime', ...below('runtime', 'kube settings catalog http')],
  ['ports/event-log', ...below('ports/event-log', 'lmdb spool kafka')],
  [
    ...below(
      'ports/facts',
      'column-types.ts visits.ts stream-tables.ts spend-tables.ts alert-tables.ts counted-install-columns.ts columns.ts query-rows.ts query-parts.ts erasure/names.ts erasure/queries.ts erasure/kept.ts',
    ),
    ...below('ports/facts', 'pages streams.ts deciding.ts counting.ts queries.ts facts.ts engine erasure'),
    'ports/facts',
  ],
  ['ports/hot-state', ...below('ports/hot-state', 'lmdb redis')],
  ['sdk/whence.d.ts', 'sdk/core', 'sdk/extras', 'sdk/readers', 'sdk/keeper', 'sdk/recorder', 'sdk/package', 'sdk'],
  ['bench/support', 'bench'],
  ['pages/data', 'pages/shell/navigation.ts', 'pages/parts', 'pages/shell', 'pages'],
  // What the others need of a test lies in fixtures/.
  ['tools', 'fixtures', 'examples', 'bench', 'test'],
]

/** Folders of which another may import types alone, so that nothing of them is bundled. */
const TYPES_ONLY = { pages: 'dashboard/api' }

/** Folders that reach no package and nothing of Node, with the files that are exempt: because they only build, unless it says otherwise. */
const WITHOUT_PACKAGES = {
  // One validator for all: it checks plain data and does no I/O.
  domain: ['domain/schema/check-schema.ts', 'domain/schema/finding-order.ts', 'domain/schema/finding-words.ts'],
  sdk: ['sdk/build.ts', 'sdk/build-package.ts', 'sdk/package/react.ts'],
}

/** An engine or framework is named only by its own adapter. */
const RESERVED = {
  kafkajs: ['ports/event-log/'],
  ioredis: ['ports/hot-state/'],
  lmdb: ['ports/'],
  chdb: ['ports/facts/'],
  '@clickhouse/client': ['ports/facts/'],
  aws4fetch: ['delivery/streams/'],
  '@kubernetes/client-node': ['runtime/kube/'],
  express: ['api/'],
  'express-rate-limit': ['api/'],
  'openid-client': ['dashboard/sign-in/'],
  typebox: ['dashboard/api/', 'api/openapi/', 'runtime/http/shapes.ts'],
  ajv: ['domain/schema/', 'api/http/validate.ts'],
  nodemailer: ['dashboard/mail/'],
  pino: ['runtime/logger.ts'],
  yaml: ['runtime/catalog/manifests.ts'],
  esbuild: ['sdk/', 'pages/'],
  terser: ['sdk/'],
  react: ['sdk/package/', 'pages/'],
  '@mantine/core': ['pages/'],
  '@tanstack/react-query': ['pages/'],
  '@tanstack/react-router': ['pages/'],
}

/** Programs, what is built or handed over as a file, and tools of the build: every file of the product is reached from one of them. */
const ENTRIES = [
  ...below('bin', 'whencectl.ts kubectl-whence.ts demo.ts example-data.ts reads/worker.ts'),
  ...below(
    'sdk',
    'build.ts build-package.ts main.ts extras-script.ts reader-script.ts keeper-script.ts recorder-script.ts define.d.ts whence.d.ts',
  ),
  ...below('sdk/package', 'index.ts react.ts load-import.ts places.ts'),
  ...below('pages', 'build.ts main.tsx assets.d.ts'),
]
/** The SDK and the pages are bundled. The demonstration and `whencectl check` drive a browser, and say so if what drives it is not installed. */
const WITH_TOOLS = '^(sdk|pages|bin/demo|bin/tools/check)/'

const PACKAGE_TYPES = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown', 'core']

function below(folder, names) {
  return names.split(' ').map((name) => `${folder}/${name}`)
}

function escaped(path) {
  return path.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
}

/** The path itself, or what lies below it. */
function at(paths) {
  return `^(${paths.map(escaped).join('|')})(/|$)`
}

/** Files of this layer, and not of a layer that lies deeper in it. */
function inLayer(layer, layers) {
  const deeper = layers.filter((other) => other.startsWith(`${layer}/`))
  return { path: at([layer]), ...(deeper.length === 0 ? {} : { pathNot: at(deeper) }) }
}

function error(name, from, to) {
  return { name, severity: 'error', from, to }
}

const folders = Object.entries(MAY_IMPORT).map(([folder, allowed]) =>
  error(
    `from-${folder}`,
    { path: `^${folder}/` },
    {
      pathNot: [
        `^(${allowed.replaceAll(' ', '|')})/`,
        'node_modules/',
        ...(folder in TYPES_ONLY ? [`^${TYPES_ONLY[folder]}/`] : []),
      ],
      dependencyTypesNot: ['core', 'npm-no-pkg'],
    },
  ),
)

const types = Object.entries(TYPES_ONLY).map(([folder, of]) =>
  error(
    `${folder}-takes-types-of-${of}`,
    { path: `^${folder}/` },
    { path: `^${of}/`, dependencyTypesNot: ['type-only'] },
  ),
)

const layers = LAYERS.flatMap((all) =>
  all
    .slice(0, -1)
    .flatMap((layer, index) =>
      all.slice(index + 1).map((above) => error(`${layer} below ${above}`, inLayer(layer, all), inLayer(above, all))),
    ),
)

const packages = Object.entries(WITHOUT_PACKAGES).map(([folder, exempt]) =>
  error(
    `${folder}-without-packages`,
    { path: `^${folder}/`, ...(exempt.length === 0 ? {} : { pathNot: at(exempt) }) },
    { dependencyTypes: PACKAGE_TYPES },
  ),
)

const reserved = Object.entries(RESERVED).map(([name, owners]) =>
  error(
    `${name}-has-an-owner`,
    { path: PRODUCT, pathNot: `^(${owners.map(escaped).join('|')})` },
    { path: `node_modules/${escaped(name)}/` },
  ),
)

export default {
  forbidden: [
    error('no-circle', { path: PRODUCT }, { circular: true }),
    error('resolvable', { path: PRODUCT }, { couldNotResolve: true }),
    error(
      'installed-with-the-product',
      { path: PRODUCT, pathNot: WITH_TOOLS },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    ),
    {
      name: 'no-dead-file',
      severity: 'error',
      from: { path: at(ENTRIES) },
      to: { path: String.raw`${PRODUCT}.*\.tsx?$`, pathNot: at(ENTRIES), reachable: false },
    },
    ...folders,
    ...types,
    ...layers,
    ...packages,
    ...reserved,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^(sdk|pages)/dist/', '^sdk/earlier/'] },
    skipAnalysisNotInRules: true,
  },
}
