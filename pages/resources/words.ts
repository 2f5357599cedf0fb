/** Kinds, conditions and origins in words. */

import { ALERT_TITLES } from '../../domain/alerts/alert-words.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { CONDITION_REASONS, type Condition } from '../../domain/resources/conditions.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { StoredResource } from '../data/resources.ts'
import { eventWords } from './event-words.ts'
import { EVENT_WORDS, POLICIES } from '../parts/install-words.ts'
import { lineKind } from '../parts/lines/line-table.tsx'

export interface KindWords {
  readonly kind: ResourceKind
  readonly title: string
  /** Singular, as in a sentence. */
  readonly one: string
  readonly purpose: string
  /** How it is created: by the form made from its schema, on a page of its own, or elsewhere. */
  readonly made: 'here' | 'own page' | 'elsewhere'
}

/** Without members, which have a page of their own. */
export const KINDS: readonly KindWords[] = [
  {
    kind: 'Website',
    title: 'Websites',
    one: 'website',
    made: 'here',
    purpose: 'Where visits come from. One is needed before anything can be counted.',
  },
  {
    kind: 'InstallPath',
    title: 'Install paths',
    one: 'install path',
    made: 'here',
    purpose: 'Ways to install, each counted by itself: a script, a package, a container.',
  },
  {
    kind: 'Destination',
    title: 'Destinations',
    one: 'destination',
    made: 'here',
    purpose: 'Accounts at providers that matched installs are delivered to.',
  },
  {
    kind: 'LogStream',
    title: 'Log streams',
    one: 'log stream',
    made: 'here',
    purpose: 'Forward Logs to a bucket or to an address of yours.',
  },
  {
    // Its secret is made with it, and shown once.
    kind: 'Webhook',
    title: 'Webhooks',
    one: 'webhook',
    made: 'own page',
    purpose: 'Post events to an address of yours: a match, a failure, a quota that is used up.',
  },
  {
    kind: 'Organization',
    title: 'Organisation',
    one: 'organisation',
    made: 'elsewhere',
    purpose: 'What all of this belongs to. Its plan changes by paying alone.',
  },
]

interface StateWords {
  readonly tone: 'good' | 'bad' | 'warn' | 'plain'
  readonly words: string
  /** What to do, or empty. */
  readonly fix: string
}

/** The first problem decides, then the first warning. */
export function conditionWords(conditions: readonly Condition[]): StateWords {
  const wrong = conditions.find(({ type, status }) => ORDER.includes(type) && status === 'False')
  if (wrong !== undefined) return sentence(wrong.reason === 'Paused' ? 'plain' : 'bad', wrong)
  const odd = conditions.find(({ type, status }) => type === 'Warning' && status === 'True')
  if (odd !== undefined) return sentence('warn', odd)
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  return isReady ? { tone: 'good', words: 'Active', fix: '' } : { tone: 'plain', words: 'Not looked at yet', fix: '' }
}

const ORDER = ['Accepted', 'ResolvedRefs', 'Programmed', 'Delivering']

/** Why an object is not in force. */
export function problemWords(problem: { readonly reason: string; readonly message: string }): StateWords {
  return sentence('bad', problem)
}

function sentence(
  tone: StateWords['tone'],
  { reason, message }: { readonly reason: string; readonly message: string },
): StateWords {
  const known = CONDITION_REASONS[reason]
  const words = message === '' ? (known?.meaning ?? reason) : message
  const fix = known === undefined || known.fix === 'Nothing to do.' ? '' : known.fix
  return { tone, words: words.charAt(0).toUpperCase() + words.slice(1), fix }
}

export function originWords(origin: StoredResource['origin']): string {
  if (origin === null) return 'nobody yet'
  if (origin.by === 'dashboard') return 'Dashboard'
  return origin.by === 'kubectl' ? 'kubectl' : `Git, by ${origin.manager}`
}

/** `primaryOrigin`: Primary origin. */
export function labelOf(field: string): string {
  const words = field.replace(/Ref$/, '').replace(/([A-Z])/g, ' $1')
  const text = words.charAt(0).toUpperCase() + words.slice(1).toLowerCase()
  const provider = Object.values(PROVIDER_DESCRIPTORS).find(({ block }) => block.field === field)
  return LABELS[field] ?? provider?.name ?? text.replace(/\bapi\b/i, 'API').replace(/\bid$/, 'ID')
}

const LABELS: Readonly<Record<string, string>> = {
  displayName: 'Name that people see',
  s3: 'Bucket (S3)',
  url: 'Address',
  id: 'ID',
  websiteRef: 'Website',
  eventTypes: 'Types of install events',
  crossOrigin: 'Landing on links to your other origins',
  ignoredReferrers: 'Referrers that are no source',
  ci: 'Installs in CI and containers',
  repeats: 'Upgrades, reinstalls and later events',
  kind: 'What is judged',
  off: 'No such alert',
  urlSecretRef: 'Address of the channel',
}

/** Descriptions of fields are those of the docs, which are read beside YAML; these name what a form shows otherwise. */
export const HINTS: Readonly<Record<string, string>> = {
  provider: 'Where the account is. What it needs to be reached is asked below.',
  eventTypes: 'None chosen: all three for GA4, and those that begin an installation for the others.',
}

/** A value of a field in words; one that needs none is shown as it is. */
export function valueLabel(field: string, value: string): string {
  return VALUES[field]?.(value) ?? value
}

const VALUES: Readonly<Record<string, (value: string) => string | undefined>> = {
  provider: providerName,
  providers: providerName,
  eventTypes: (type) => EVENT_WORDS[type],
  events: eventWords,
  kinds: lineKind,
  selectionPolicy: (policy) => POLICIES[policy]?.name,
  kind: (kind) => ALERTS[kind],
}

const ALERTS: Readonly<Record<string, string>> = ALERT_TITLES

function providerName(value: string): string | undefined {
  return Object.values(PROVIDER_DESCRIPTORS).find(({ id }) => id === value)?.name
}
