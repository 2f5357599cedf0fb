/** The commands of `whence`: what each does, which settings it reads, and which flags and arguments are its own. */

import type { SettingName } from './table.ts'

export interface FlagRow {
  /** Null for a switch. */
  readonly placeholder: string | null
  readonly doc: string
}

export interface CommandRow {
  readonly summary: string
  readonly settings: readonly SettingName[]
  /** Engines that it works without; every other one that it reads must be named. */
  readonly optionalEngines?: readonly SettingName[]
  readonly flags: Readonly<Record<string, FlagRow>>
  /** In their order; in brackets where one may be left out. */
  readonly positionals: readonly string[]
}

const ENGINES = ['eventLog', 'hotState', 'facts'] as const
/** How a process reaches the API of its cluster. */
const KUBE = ['kubeconfig', 'kubeUrl', 'kubeTokenFile', 'kubeCaFile'] as const
const SECRETS = ['secretFile', 'secret'] as const
const PROVIDER_URLS = ['ga4Url', 'googleAdsUrl', 'googleOauthUrl', 'metaUrl', 'tiktokUrl', 'xUrl'] as const
const SERVING = [
  'listen',
  'metricsListen',
  'baseUrl',
  'trustProxy',
  'connectionsPerAddress',
  'brand',
  'prices',
  'logLevel',
  'logFormat',
] as const
/** Tools ask a running process through its data folder; only where none runs do they open these. */
const TOOL = ['data', 'eventLog', 'facts'] as const

const JSON_FLAG = { '--json': { placeholder: null, doc: 'One JSON object a line in place of a table.' } }
const WEBSITE_FLAG = { '--website': { placeholder: 'ID', doc: 'Of this website only.' } }
const ORGANIZATION_FLAG = { '--organization': { placeholder: 'ID', doc: 'Of this organisation only.' } }
const LIMIT_FLAG = { '--limit': { placeholder: 'N', doc: 'So many at most: the newest. (default: 50)' } }
const LIST_FLAGS = { ...JSON_FLAG, ...WEBSITE_FLAG, ...LIMIT_FLAG }
const FOLLOW_FLAG = { '--follow': { placeholder: null, doc: 'Go on and show new ones as they come.' } }

const LETTER_FLAGS = {
  ...WEBSITE_FLAG,
  '--destination': { placeholder: 'ID', doc: 'To this destination only.' },
  '--reason': { placeholder: 'TEXT', doc: 'Only those whose reason begins like this, for example refused.' },
  '--since': { placeholder: 'TIME', doc: 'That failed then or later: 2026-11-21, 2026-11-21T13:00 (UTC), or 6h ago.' },
  '--until': { placeholder: 'TIME', doc: 'That failed before then.' },
}

export const COMMANDS = {
  embedded: {
    summary: 'Run the whole service in one process, on one machine.',
    settings: ['data', 'manifests', ...SECRETS, ...SERVING, 'eventLog', 'facts', ...PROVIDER_URLS, 'exampleSite'],
    flags: {},
    positionals: [],
  },
  migrate: {
    summary: "Bring ClickHouse's tables up to date. (A start does the same.)",
    settings: ['data', 'eventLog', 'facts'],
    flags: {},
    positionals: [],
  },
  explain: {
    summary: 'Say why an install was matched or not, and how its deliveries stand; without an ID, of the newest one.',
    settings: [...TOOL],
    flags: { ...JSON_FLAG, ...WEBSITE_FLAG },
    positionals: ['[EVENT_ID]'],
  },
  logs: {
    summary: 'Show Logs: every request with its answer.',
    settings: [...TOOL],
    flags: { ...LIST_FLAGS, ...ORGANIZATION_FLAG, ...FOLLOW_FLAG },
    positionals: [],
  },
  installs: {
    summary: 'Show installs with what they were matched to.',
    settings: [...TOOL],
    flags: { ...LIST_FLAGS, ...FOLLOW_FLAG },
    positionals: [],
  },
  activity: {
    summary: 'Show what people should notice: a limit reached, a destination paused, a problem of the catalog.',
    settings: [...TOOL],
    flags: {
      ...JSON_FLAG,
      ...LIMIT_FLAG,
      ...FOLLOW_FLAG,
      ...ORGANIZATION_FLAG,
    },
    positionals: [],
  },
  'dead-letters': {
    summary: 'Show deliveries that failed for good, with the reason.',
    settings: [...TOOL],
    flags: { ...JSON_FLAG, ...LIMIT_FLAG, ...LETTER_FLAGS },
    positionals: [],
  },
  replay: {
    summary: 'Deliver a failed delivery once more, a range of them, or all.',
    settings: [...TOOL],
    flags: {
      ...JSON_FLAG,
      ...LETTER_FLAGS,
      '--all': { placeholder: null, doc: 'Every one that the other options leave.' },
      '--rate': { placeholder: 'N', doc: 'So many a second at most, up to 1,000. (default: 50)' },
    },
    positionals: ['[JOB_ID]'],
  },
  'send-test': {
    summary: 'Try a destination with a marked test event, and print what its provider says.',
    settings: ['data', 'manifests', 'catalog', ...KUBE, ...PROVIDER_URLS],
    flags: {
      '--destination': { placeholder: 'ID', doc: 'The destination to try.' },
      '--website': { placeholder: 'ID', doc: 'Its website, where several have a destination of this name.' },
      '--live': { placeholder: null, doc: 'Send it for real instead of to a facility for tests; it then counts.' },
      '--json': { placeholder: null, doc: 'One JSON object in place of a text.' },
    },
    positionals: ['[DESTINATION]'],
  },
  api: {
    summary: 'Run the collection endpoints as a process of their own; any number of them may run.',
    settings: ['manifests', 'catalog', 'data', ...KUBE, ...SECRETS, ...SERVING, ...ENGINES, 'spool', 'spoolMegabytes'],
    flags: {},
    positionals: [],
  },
  delivery: {
    summary: 'Run one role of the delivery side as a process of its own.',
    settings: [
      'role',
      'manifests',
      'catalog',
      'data',
      ...KUBE,
      'metricsListen',
      ...ENGINES,
      ...PROVIDER_URLS,
      'logLevel',
      'logFormat',
    ],
    flags: {},
    positionals: [],
  },
  operator: {
    summary: 'Reconcile the custom resources of a cluster; of several replicas one leads.',
    settings: [
      'catalog',
      'baseUrl',
      'watchNamespaces',
      'installation',
      'credentialSlots',
      'ownSecrets',
      'identity',
      'facts',
      ...KUBE,
      'metricsListen',
      'logLevel',
      'logFormat',
    ],
    // For the figures that it shows, and nothing else.
    optionalEngines: ['facts'],
    flags: {},
    positionals: [],
  },
  'stand-ins': {
    summary: 'Run stand-ins for the five providers, for evaluation only: what reaches them reaches nobody else.',
    settings: ['standInsListen', 'metricsListen', 'logLevel', 'logFormat'],
    flags: {},
    positionals: [],
  },
  'rebuild-state': {
    summary: 'Fill a Redis that lost its data from ClickHouse; the service may go on working.',
    settings: ['hotState', 'facts'],
    flags: {},
    positionals: [],
  },
  check: {
    summary: 'Open a page of your website as a visitor would, and say what is missing for its installs to be matched.',
    settings: [],
    flags: {
      '--website': {
        placeholder: 'ID',
        doc: 'The website that the page should count for. (default: as its script tag says)',
      },
      '--service': { placeholder: 'URL', doc: 'The address of the service. (default: as the script tag says)' },
      '--path': { placeholder: 'ID', doc: 'The install path whose hook is looked at. (default: the first one)' },
      '--no-browser': { placeholder: null, doc: 'Leave out what needs a Chromium on this machine.' },
      ...JSON_FLAG,
    },
    positionals: ['URL'],
  },
  lint: {
    summary: 'Check a folder of custom resources and print every problem.',
    settings: ['manifests'],
    flags: {
      '-f': { placeholder: 'FOLDER', doc: 'The folder; short for --manifests.' },
      '--allow-missing': {
        placeholder: null,
        doc: 'Secrets and other objects that are referred to may lie elsewhere.',
      },
      ...JSON_FLAG,
    },
    positionals: [],
  },
} as const satisfies Record<string, CommandRow>

export type CommandName = keyof typeof COMMANDS

/** The row of a command, or null where there is none of this name. */
export function commandNamed(name: string): CommandRow | null {
  const rows: Readonly<Record<string, CommandRow>> = COMMANDS
  return Object.hasOwn(rows, name) ? (rows[name] ?? null) : null
}
