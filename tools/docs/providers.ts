/**
 * Writes what the descriptors of providers determine but the program cannot derive at run time: three indexes of modules,
 * and the chart's lists. If a module is missing, the compiler names it.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { PROVIDER_ADDRESSES } from '../../domain/providers/addresses.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../../domain/providers/index.ts'

const ROOT = join(import.meta.dirname, '../..')

const VALUES = 'charts/whence/values.yaml'
const VALUES_SCHEMA = 'charts/whence/values.schema.json'
const HEAD = '// Made from domain/providers/ by `make docs`; do not change it here.'

/** `google_ads` as the name of a value, of a type and of a file. */
const camel = (id: string) => id.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
const pascal = (id: string) => camel(`_${id}`)
const kebab = (id: string) => id.replaceAll('_', '-')

export function providerFiles(): readonly { readonly path: string; readonly text: string }[] {
  return [
    { path: 'delivery/providers/index.ts', text: deliveryIndex() },
    { path: 'stand-ins/index.ts', text: standInIndex() },
    { path: 'sdk/readers/index.ts', text: readerIndex() },
    { path: VALUES, text: chartValues() },
    { path: VALUES_SCHEMA, text: chartSchema() },
    { path: 'charts/whence/files/defaults.yaml', text: chartDefaults() },
  ]
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function deliveryIndex(): string {
  return [
    '/** The providers that deliveries can be made to. */',
    HEAD,
    '',
    "import type { ProviderId } from '../../domain/providers/index.ts'",
    "import type { Provider } from './provider.ts'",
    ...PROVIDER_IDS.map((id) => `import { ${camel(id)} } from './${kebab(id)}.ts'`),
    '',
    'export const PROVIDERS: { readonly [P in ProviderId]: Provider } = {',
    ...PROVIDER_IDS.map((id) => (camel(id) === id ? `  ${id},` : `  ${id}: ${camel(id)},`)),
    '}',
    '',
  ].join('\n')
}

function standInIndex(): string {
  return [
    '/** The stand-ins by the setting that points a worker at them. */',
    HEAD,
    '',
    "import type { ProviderUrlSetting } from '../domain/providers/index.ts'",
    "import type { StartStandIn } from './server.ts'",
    ...PROVIDER_ADDRESSES.map(({ value }) => `import { start${pascal(value)}StandIn } from './${kebab(value)}.ts'`),
    '',
    'export const STAND_INS: { readonly [S in ProviderUrlSetting]: StartStandIn } = {',
    ...PROVIDER_ADDRESSES.map(({ setting, value }) => `  ${setting}: start${pascal(value)}StandIn,`),
    '}',
    '',
  ].join('\n')
}

function readerIndex(): string {
  const ids = PROVIDER_IDS.filter((id) => id !== 'ga4')
  return [
    '/** The readers of all providers but GA4, whose identifiers the recorder reads itself. */',
    HEAD,
    '',
    "import type { ProviderId } from '../../domain/providers/index.ts'",
    "import type { IdentityReader } from '../core/types.ts'",
    ...ids.map((id) => `import { ${camel(id)} } from './${kebab(id)}.ts'`),
    '',
    "export const READERS: { readonly [P in Exclude<ProviderId, 'ga4'>]: IdentityReader } = {",
    ...ids.map((id) => (camel(id) === id ? `  ${id},` : `  ${id}: ${camel(id)},`)),
    '}',
    '',
  ].join('\n')
}

/** `values.yaml` with its two sections that have a line for each provider; all others are written by hand. */
export function chartValues(): string {
  const urls = PROVIDER_ADDRESSES.map(({ value }) => `  ${value}: ''\n`)
  const workers = PROVIDER_IDS.map((id) => `  ${id}: { enabled: true, replicas: 1, pod: {} }\n`)
  return withSection(withSection(read(VALUES), 'providerUrls', urls), 'providers', workers)
}

function withSection(values: string, name: string, lines: readonly string[]): string {
  return values.replace(new RegExp(`^${name}:\\n(?: {2}\\S.*\\n)+`, 'm'), () => `${name}:\n${lines.join('')}`)
}

/** What the templates fill in where values of an older chart lack something: the values without their comments. */
function chartDefaults(): string {
  const lines = chartValues()
    .split('\n')
    .filter((line) => line !== '' && !/^\s*#/.test(line))
  return `# Made from values.yaml, by \`make docs\`.\n${lines.join('\n')}\n`
}

interface ChartSchema {
  readonly properties: Readonly<Record<string, object>>
}

/** `values.schema.json`, likewise. */
export function chartSchema(): string {
  const schema = JSON.parse(read(VALUES_SCHEMA)) as ChartSchema
  const { providerUrls, providers } = schema.properties
  const urls = PROVIDER_ADDRESSES.map(({ value, what }) => [
    value,
    { type: 'string', description: `Of ${what}: scheme, host and port.`, pattern: '^(https?://[^\\s/@?#]+)?$' },
  ])
  const workers = PROVIDER_IDS.map((id) => [id, workerSchema(PROVIDER_DESCRIPTORS[id].name)])
  const made = {
    ...schema,
    properties: {
      ...schema.properties,
      providerUrls: { ...providerUrls, properties: Object.fromEntries(urls) as object },
      providers: { ...providers, properties: Object.fromEntries(workers) as object },
    },
  }
  return `${JSON.stringify(made, null, 2)}\n`
}

function workerSchema(name: string): object {
  return {
    type: 'object',
    description: `The worker for ${name}.`,
    additionalProperties: false,
    properties: {
      enabled: {
        type: 'boolean',
        description: 'Whether it runs. Without it jobs wait on the event log, up to seven days.',
      },
      replicas: { type: 'integer', description: 'How many pods.', minimum: 0, maximum: 100 },
      pod: { allOf: [{ $ref: '#/definitions/pod' }], description: 'As `operator.pod`.' },
    },
  }
}
