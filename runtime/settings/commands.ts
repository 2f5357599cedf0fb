/** The commands of `whencectl`: what each does, which settings it reads, and its own flags and arguments. */

import {
  ACTIVITY_FLAGS,
  ERASE_FLAGS,
  INIT_FLAGS,
  INSTALL_FLAGS,
  JSON_FLAG,
  KEY_FLAGS,
  LETTER_FILTERS,
  LIMIT_FLAG,
  LOG_FLAGS,
  MIGRATE_FLAGS,
  REPLAY_FLAGS,
  REPORT_FLAGS,
  RESTORE_FLAGS,
  SIGN_IN_LINK_FLAGS,
  SPEND_FLAGS,
  WEBSITE_FLAG,
} from './tool-flags.ts'
import { ENGINES, KUBE, MASTER_SECRET, PEOPLE, PROXY, ROLE_ENGINES, SERVING, TOOL } from './setting-groups.ts'
import { PROVIDER_URL_SETTINGS } from '../../domain/providers/addresses.ts'
import type { SettingName } from './table.ts'

interface FlagRow {
  /** Null for a switch. */
  readonly placeholder: string | null
  readonly doc: string
}

export interface CommandRow {
  readonly summary: string
  readonly settings: readonly SettingName[]
  /**
   * Where its engines are: in folders of this machine, on servers that several processes share, or, without this, either. Only
   * servers have to be named, as `needs` says.
   */
  readonly engines?: 'folders' | 'servers'
  readonly needs?: CommandNeeds
  readonly flags: Readonly<Record<string, FlagRow>>
  /** In their order; optional ones in brackets. */
  readonly positionals: readonly string[]
}

/** Settings without which a command does not start. */
interface CommandNeeds {
  readonly always?: readonly SettingName[]
  /** In one of its roles. */
  readonly byRole?: Readonly<Record<string, readonly SettingName[]>>
  /** The master secret is needed only together with this one. */
  readonly secretWith?: SettingName
}

const LETTER_FLAGS = { ...WEBSITE_FLAG, ...LETTER_FILTERS }

export const COMMANDS = {
  embedded: {
    summary: 'Run the whole service in one process, on one machine.',
    settings: [
      'data',
      'manifests',
      'dashboardFolder',
      ...MASTER_SECRET,
      ...SERVING,
      ...PEOPLE,
      'eventLog',
      'facts',
      ...PROVIDER_URL_SETTINGS,
      'slackUrl',
      'streamAllow',
      ...PROXY,
      'exampleSite',
    ],
    engines: 'folders',
    flags: {},
    positionals: [],
  },
  init: {
    summary: 'Set up a website: ask a few questions, write its manifests, and print what to paste where.',
    settings: ['signUp', 'defaultPlan', 'listen', 'baseUrl'],
    flags: INIT_FLAGS,
    positionals: ['[FOLDER]'],
  },
  person: {
    summary: 'Show or erase what is kept of one person, by e-mail address: members, invitations and sessions.',
    settings: ['data'],
    flags: {},
    positionals: ['export|erase', 'EMAIL'],
  },
  'sign-in-link': {
    summary: 'Print a link that signs a person in to the dashboard once, within 15 minutes.',
    settings: ['data'],
    flags: SIGN_IN_LINK_FLAGS,
    positionals: [],
  },
  migrate: {
    summary:
      "Bring ClickHouse's tables up to date, and create Kafka's topics. (The embedded program does so when it starts.)",
    settings: ['data', 'eventLog', 'facts'],
    flags: MIGRATE_FLAGS,
    positionals: [],
  },
  explain: {
    summary: 'Explain why an install was matched or not, and show its deliveries; without an ID, for the newest one.',
    settings: [...TOOL],
    flags: { ...JSON_FLAG, ...WEBSITE_FLAG },
    positionals: ['[EVENT_ID]'],
  },
  logs: {
    summary: 'Show Logs: every request and its answer, or every attempt at delivery.',
    settings: [...TOOL],
    flags: LOG_FLAGS,
    positionals: [],
  },
  installs: {
    summary: 'Show installs and the visits they were matched to.',
    settings: [...TOOL],
    flags: INSTALL_FLAGS,
    positionals: [],
  },
  report: {
    summary: 'Count visits and installs of a period by source, campaign, version and more, or by day.',
    settings: [...TOOL],
    flags: { ...REPORT_FLAGS, ...WEBSITE_FLAG, ...JSON_FLAG },
    positionals: [],
  },
  'replay-decisions': {
    summary: 'Show which installs another policy would have matched otherwise. It sends nothing and changes nothing.',
    settings: [...TOOL],
    flags: { ...REPLAY_FLAGS, ...WEBSITE_FLAG, ...JSON_FLAG },
    positionals: [],
  },
  'rebuild-rollups': {
    summary: 'Count the figures by hour again from the facts; the service may keep running.',
    settings: [...TOOL],
    flags: { '--since': { placeholder: 'TIME', doc: 'Only hours from this time on. (default: all)' } },
    positionals: [],
  },
  spend: {
    summary:
      'Import what advertising cost from a CSV file, all of it or nothing; list such imports, or remove one. The service may keep running.',
    settings: [...TOOL],
    flags: SPEND_FLAGS,
    positionals: ['import|list|remove', '[FILE|ID]'],
  },
  activity: {
    summary: 'Show what needs attention: a limit reached, a destination paused, a problem of the catalog.',
    settings: [...TOOL],
    flags: ACTIVITY_FLAGS,
    positionals: [],
  },
  'dead-letters': {
    summary: 'Show deliveries that failed for good, with the reason.',
    settings: [...TOOL],
    flags: { ...JSON_FLAG, ...LIMIT_FLAG, ...LETTER_FLAGS },
    positionals: [],
  },
  replay: {
    summary: 'Retry one failed delivery, a range of them, or all.',
    settings: [...TOOL],
    flags: {
      ...JSON_FLAG,
      ...LETTER_FLAGS,
      '--all': { placeholder: null, doc: 'Every one that the other options select.' },
      '--rate': { placeholder: 'N', doc: 'At most N a second, up to 1,000. (default: 50)' },
    },
    positionals: ['[JOB_ID]'],
  },
  'send-test': {
    summary: 'Send a destination a marked test event, and print the answer of its provider.',
    settings: ['data', 'manifests', 'catalog', ...KUBE, ...PROVIDER_URL_SETTINGS, ...PROXY],
    flags: {
      '--destination': { placeholder: 'ID', doc: 'The destination to test.' },
      '--website': { placeholder: 'ID', doc: 'Its website, if several have a destination of this name.' },
      '--live': {
        placeholder: null,
        doc: 'Send a real event instead of using the test facility of its provider; it then counts.',
      },
      '--json': { placeholder: null, doc: 'One JSON object instead of text.' },
    },
    positionals: ['[DESTINATION]'],
  },
  api: {
    summary: 'Run the collection endpoints as a separate process; any number may run.',
    settings: [
      'manifests',
      'catalog',
      'data',
      ...KUBE,
      ...MASTER_SECRET,
      ...SERVING,
      ...ENGINES,
      'spool',
      'spoolMegabytes',
    ],
    engines: 'servers',
    needs: { always: [...ENGINES] },
    flags: {},
    positionals: [],
  },
  delivery: {
    summary: 'Run one role of the delivery side as a separate process.',
    settings: [
      'role',
      'manifests',
      'catalog',
      'data',
      ...KUBE,
      'metricsListen',
      ...ENGINES,
      ...PROVIDER_URL_SETTINGS,
      'slackUrl',
      'streamAllow',
      ...PROXY,
      'logLevel',
      'logFormat',
    ],
    engines: 'servers',
    needs: { always: ['role'], byRole: ROLE_ENGINES },
    flags: {},
    positionals: [],
  },
  dashboard: {
    summary: 'Run the dashboard of a cluster: people, sessions and the API under /api/. Any number of them may run.',
    settings: [
      'data',
      'catalog',
      'watchNamespaces',
      'installation',
      ...KUBE,
      ...MASTER_SECRET,
      'listen',
      'metricsListen',
      'baseUrl',
      'trustProxy',
      'connectionsPerAddress',
      'brand',
      'eventLog',
      'hotState',
      'facts',
      ...PEOPLE,
      ...PROVIDER_URL_SETTINGS,
      ...PROXY,
      'logLevel',
      'logFormat',
    ],
    engines: 'servers',
    needs: { always: ['eventLog', 'hotState', 'facts', 'catalog'] },
    flags: {},
    positionals: [],
  },
  operator: {
    summary: 'Reconcile the custom resources of a cluster; one of several replicas leads.',
    settings: [
      'catalog',
      'baseUrl',
      'watchNamespaces',
      'installation',
      'credentialSlots',
      'ownSecrets',
      'identity',
      'facts',
      'eventLog',
      ...MASTER_SECRET,
      ...KUBE,
      'metricsListen',
      'logLevel',
      'logFormat',
    ],
    engines: 'servers',
    // Neither ClickHouse nor the log: they are for figures and for entries about changes alone.
    needs: { always: ['catalog'], secretWith: 'eventLog' },
    flags: {},
    positionals: [],
  },
  'stand-ins': {
    summary: 'Run stand-ins for all providers, for evaluation only: they pass nothing on.',
    settings: ['standInsListen', 'metricsListen', 'logLevel', 'logFormat'],
    flags: {},
    positionals: [],
  },
  'rebuild-state': {
    summary: 'Refill a Redis that lost its data from ClickHouse; the service may keep running.',
    settings: ['hotState', 'facts'],
    engines: 'servers',
    needs: { always: ['hotState', 'facts'] },
    flags: {},
    positionals: [],
  },
  check: {
    summary:
      'Open a page of your website as a visitor would, and report what is missing for its installs to be matched.',
    settings: ['httpsProxy', 'noProxy'],
    flags: {
      '--website': {
        placeholder: 'ID',
        doc: 'The website that the page should belong to. (default: the one in its script tag)',
      },
      '--service': { placeholder: 'URL', doc: 'The address of the service. (default: the one in the script tag)' },
      '--path': { placeholder: 'ID', doc: 'The install path whose hook is checked. (default: the first one)' },
      '--no-browser': { placeholder: null, doc: 'Skip the checks that need a Chromium on this machine.' },
      ...JSON_FLAG,
    },
    positionals: ['URL'],
  },
  backup: {
    summary: 'Copy everything that a service on one machine keeps into an empty folder; it may keep running.',
    settings: TOOL,
    engines: 'folders',
    flags: {},
    positionals: ['FOLDER'],
  },
  restore: {
    summary: 'Put a backup into an empty data folder, before the service starts on it.',
    settings: ['data', 'manifests', 'dashboardFolder'],
    engines: 'folders',
    flags: RESTORE_FLAGS,
    positionals: ['FOLDER'],
  },
  erase: {
    summary: 'Erase the data of one person from the facts, for good, and keep it from being written or restored again.',
    settings: [...TOOL],
    flags: ERASE_FLAGS,
    positionals: [],
  },
  statement: {
    summary:
      'Print a statement of ClickHouse by its name, as in log_comment, with its parameters; without a name, list all.',
    settings: [],
    flags: {
      '--params': { placeholder: 'JSON', doc: 'Values of parameters, such as {"organization": "acme"}.' },
    },
    positionals: ['[NAME]'],
  },
  key: {
    summary:
      'Make an API key for programs that read figures or installs: its manifest on standard output, the key itself on standard error.',
    settings: [],
    flags: KEY_FLAGS,
    positionals: ['NAME'],
  },
  lint: {
    summary: 'Check a folder of custom resources and print every problem.',
    settings: ['manifests'],
    flags: {
      '-f': { placeholder: 'FOLDER', doc: 'The folder; short for --manifests.' },
      '--allow-missing': {
        placeholder: null,
        doc: 'Secrets and other objects that are referred to may be missing from the folder.',
      },
      ...JSON_FLAG,
    },
    positionals: [],
  },
} as const satisfies Record<string, CommandRow>

export type CommandName = keyof typeof COMMANDS

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name)
}
