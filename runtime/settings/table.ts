/** The one table of settings: option, environment variable, default and meaning of each, and which command reads it. */

import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { PROVIDER_ADDRESSES } from '../../domain/providers/addresses.ts'
import { SLACK_ORIGIN } from '../../domain/webhooks/slack-address.ts'
import { BILLING_SETTINGS } from './billing.ts'
import { CLUSTER_SETTINGS } from './cluster.ts'
import { PEOPLE_SETTINGS } from './people.ts'
import { PROXY_SETTINGS } from './proxy.ts'
import type { SettingParser } from './parse.ts'
import {
  parseBaseUrl,
  parseBrand,
  parseChoice,
  parseCount,
  parseEngineUrl,
  parseExampleSite,
  parseListen,
  parseLogFormat,
  parseLogLevel,
  parseNetworks,
  parseOriginUrl,
  parsePath,
  parsePrices,
  parseSecret,
} from './parse.ts'
import { PROVIDER_URL_ROWS } from './provider-urls.ts'

/** The roles of the delivery side; a delivery process has one of them. */
export const DELIVERY_ROLES = [
  'facts-writer',
  'state',
  'dispatch',
  'rollup',
  'streams',
  'webhooks',
  ...PROVIDER_IDS,
] as const

export interface SettingRow<T> {
  /** Null if it should not be on a command line. */
  readonly option: string | null
  readonly env: string
  readonly placeholder: string
  readonly doc: string
  readonly parse: SettingParser<T>
  /**
   * The text that is parsed if the setting is not given; null if it may be absent. A function derives it from the
   * settings above it in the table.
   */
  readonly fallback: string | null | ((above: FallbackSource) => string | null)
  /** For people, if the default is not a plain text. */
  readonly fallbackDoc?: string
  readonly isSecret?: true
  /** Messages name the option and not the variable: people give it with the command. */
  readonly isPartOfCommand?: true
}

/** The settings that others derive their defaults from, as texts. */
export interface FallbackSource {
  /** Whether the command can keep its engines in folders of this machine. */
  readonly hasFolders: boolean
  readonly text: (name: string) => string
}

/** Without a cluster the engines are folders under the data folder; with one they must be named. */
const underData =
  (scheme: string, folder: string) =>
  ({ hasFolders, text }: FallbackSource): string | null =>
    hasFolders ? `${scheme}:${text('data').replace(/\/+$/, '')}/${folder}` : null

export const SETTINGS = {
  listen: {
    option: '--listen',
    env: 'WHENCE_LISTEN',
    placeholder: 'HOST:PORT',
    doc: 'Address that the service listens on.',
    parse: parseListen,
    fallback: '127.0.0.1:8080',
  },
  metricsListen: {
    option: '--metrics-listen',
    env: 'WHENCE_METRICS_LISTEN',
    placeholder: 'HOST:PORT',
    doc: 'Address that Prometheus reads metrics from.',
    parse: parseListen,
    fallback: '127.0.0.1:9090',
  },
  baseUrl: {
    option: '--base-url',
    env: 'WHENCE_BASE_URL',
    placeholder: 'URL',
    doc: 'The address at which websites and installers reach the service. A path in it is for your proxy to take off.',
    parse: parseBaseUrl,
    fallback: ({ text }) => `http://${text('listen')}`,
    fallbackDoc: '`http://` and the listen address',
  },
  data: {
    option: '--data',
    env: 'WHENCE_DATA',
    placeholder: 'FOLDER',
    doc: 'Folder of everything that the process itself stores.',
    parse: parsePath,
    fallback: './data',
  },
  manifests: {
    option: '--manifests',
    env: 'WHENCE_MANIFESTS',
    placeholder: 'FOLDER',
    doc: 'The watched folder of custom resources.',
    parse: parsePath,
    fallback: './examples/quickstart',
  },
  secretFile: {
    option: '--secret-file',
    env: 'WHENCE_SECRET_FILE',
    placeholder: 'FILE',
    doc: 'Master secrets, one a line; the first one signs.',
    parse: parsePath,
    fallback: ({ hasFolders, text }) => (hasFolders ? `${text('data').replace(/\/+$/, '')}/secret` : null),
    fallbackDoc: 'made under the data folder',
  },
  secret: {
    option: null,
    env: 'WHENCE_SECRET',
    placeholder: 'TEXT',
    doc: 'The master secrets themselves, one a line, instead of a file.',
    parse: parseSecret,
    fallback: null,
    isSecret: true,
  },
  trustProxy: {
    option: '--trust-proxy',
    env: 'WHENCE_TRUST_PROXY',
    placeholder: 'NETWORKS',
    doc: 'Networks of the proxies whose X-Forwarded-For is believed, separated by commas.',
    parse: parseNetworks,
    fallback: '',
    fallbackDoc: 'none',
  },
  slackUrl: {
    option: null,
    env: 'WHENCE_SLACK_URL',
    placeholder: 'URL',
    doc: 'Origin that webhooks of the format Slack call in place of Slack, for tests. It is not vetted, and may do without encryption.',
    parse: parseOriginUrl,
    fallback: SLACK_ORIGIN,
  },
  streamAllow: {
    option: '--stream-allow',
    env: 'WHENCE_STREAM_ALLOW',
    placeholder: 'NETWORKS',
    doc: 'Networks that are not public and that may contain S3 endpoints of log streams, separated by commas. Every tenant may then write there.',
    parse: parseNetworks,
    fallback: '',
    fallbackDoc: 'none',
  },
  connectionsPerAddress: {
    option: '--connections-per-address',
    env: 'WHENCE_CONNECTIONS_PER_ADDRESS',
    placeholder: 'N',
    doc: 'Most connections of one address, except those of --trust-proxy; 0 for no limit (docs/operations.md).',
    parse: parseCount({ min: 0, max: 10_000 }),
    fallback: '512',
  },
  eventLog: {
    option: '--event-log',
    env: 'WHENCE_EVENT_LOG',
    placeholder: 'URL',
    doc: 'The event log: a folder, as in lmdb:./data/lmdb, or kafka://HOST:9092 (docs/kafka.md).',
    parse: parseEngineUrl(['lmdb', 'kafka']),
    fallback: underData('lmdb', 'lmdb'),
    fallbackDoc: '`lmdb:` under the data folder',
    isSecret: true,
  },
  hotState: {
    option: '--hot-state',
    env: 'WHENCE_HOT_STATE',
    placeholder: 'URL',
    doc: 'The hot state, redis://HOST:6379/0; rediss: with TLS (docs/redis.md).',
    parse: parseEngineUrl(['lmdb', 'redis', 'rediss']),
    fallback: underData('lmdb', 'lmdb'),
    fallbackDoc: 'must be given; `embedded` always keeps it under the data folder',
    isSecret: true,
  },
  facts: {
    option: '--facts',
    env: 'WHENCE_FACTS',
    placeholder: 'URL',
    doc: 'ClickHouse: inside the process on a folder, as in chdb:./data/chdb, or http://HOST:8123/DATABASE; https: with TLS (docs/clickhouse.md).',
    parse: parseEngineUrl(['chdb', 'http', 'https']),
    fallback: underData('chdb', 'chdb'),
    fallbackDoc: '`chdb:` under the data folder',
    isSecret: true,
  },
  spool: {
    option: '--spool',
    env: 'WHENCE_SPOOL',
    placeholder: 'FOLDER',
    doc: 'Folder in which an api keeps what Kafka cannot take now; on a disk that outlives the process.',
    parse: parsePath,
    fallback: null,
    fallbackDoc: 'none: such requests are answered `503`',
  },
  spoolMegabytes: {
    option: '--spool-megabytes',
    env: 'WHENCE_SPOOL_MEGABYTES',
    placeholder: 'N',
    doc: 'Most data that may wait in the spool, in millions of bytes.',
    parse: parseCount({ min: 1, max: 1_000_000 }),
    fallback: '1000',
  },
  ...PROVIDER_URL_ROWS,
  brand: {
    option: '--brand',
    env: 'WHENCE_BRAND',
    placeholder: 'NAME',
    doc: "The name that is used in the skill's address, in the hook's variables, on pages and in mails to people.",
    parse: parseBrand,
    fallback: 'whence',
  },
  role: {
    option: '--role',
    env: 'WHENCE_ROLE',
    placeholder: 'ROLE',
    doc: `The role of a delivery process: ${DELIVERY_ROLES.join(', ')}.`,
    parse: parseChoice(DELIVERY_ROLES),
    fallback: null,
    fallbackDoc: 'must be given',
    isPartOfCommand: true,
  },
  exampleSite: {
    option: '--example-site',
    env: 'WHENCE_EXAMPLE_SITE',
    placeholder: 'HOST[:PORT]',
    doc: 'Serves a small example website that carries the SDK; without a port, at the first origin on this machine that a Website of the manifests has.',
    parse: parseExampleSite,
    fallback: null,
    fallbackDoc: 'none',
  },
  standInsListen: {
    option: '--stand-ins-listen',
    env: 'WHENCE_STAND_INS_LISTEN',
    placeholder: 'HOST:PORT',
    doc: `Address of the first stand-in, for ${PROVIDER_ADDRESSES[0]?.what}; the others use the next ${PROVIDER_ADDRESSES.length - 1} ports.`,
    parse: parseListen,
    fallback: '127.0.0.1:8090',
  },
  prices: {
    option: null,
    env: 'WHENCE_PRICES',
    placeholder: 'JSON',
    doc: 'Prices by plan, for `/api/limits`.',
    parse: parsePrices,
    fallback: null,
    fallbackDoc: 'none',
  },
  ...PROXY_SETTINGS,
  ...PEOPLE_SETTINGS,
  ...BILLING_SETTINGS,
  ...CLUSTER_SETTINGS,
  logLevel: {
    option: '--log-level',
    env: 'WHENCE_LOG_LEVEL',
    placeholder: 'LEVEL',
    doc: 'The lowest level of diagnostics to write.',
    parse: parseLogLevel,
    fallback: 'info',
  },
  logFormat: {
    option: '--log-format',
    env: 'WHENCE_LOG_FORMAT',
    placeholder: 'FORMAT',
    doc: 'How diagnostics are written: json, text, or auto, which is text on a terminal.',
    parse: parseLogFormat,
    fallback: 'auto',
  },
} as const satisfies Record<string, SettingRow<unknown>>

export type SettingName = keyof typeof SETTINGS

/** Variables with the same prefix that belong to the hook; a shell may have them set. */
export const FOREIGN_VARIABLES: readonly string[] = ['WHENCE_HANDOFF', 'WHENCE_DISABLED']
