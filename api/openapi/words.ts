/** What each field and header of the public interface means, in a sentence, for the OpenAPI document and docs/api.md. */

import { objectOf, isObject } from '../../domain/strict-json.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { IdentifierKind } from '../../domain/providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import type { SchemaJson } from './schemas.ts'

/** Of each provider and its identifiers. */
const PROVIDER_WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(PROVIDER_DESCRIPTORS).flatMap((provider): readonly (readonly [string, string])[] => [
    [provider.id, providerWords(provider)],
    ...identifierWords(provider),
  ]),
)

const STORED = `Only origin and path are stored, together at most ${LIMITS.urlChars} characters.`

/**
 * By the field's name, or by `parent.name` if the name alone says too little.
 * @internal
 */
export const FIELD_WORDS: Readonly<Record<string, string>> = {
  project: 'ID of the website.',
  url_id:
    'ID of the page: `url_` and the first 16 hex digits of SHA-256 over origin and path, or the ID of a registered page.',
  page_url: `The page's address, on the origin of the request. ${STORED}`,
  referrer: `Address of the page before this one. ${STORED}`,
  previous_receipt: "Receipt that the page's marker held before. Activating the new one revokes it.",
  gpc: '`true` if the browser signals Global Privacy Control. The header `Sec-GPC: 1` says the same.',
  receipt: 'Receipt of the visit, 43 characters.',
  identities:
    "Identifiers by which providers recognise the visitor. What the website's providers do not need is dropped.",
  ...PROVIDER_WORDS,
  custom: 'Adapters of your own: an object of texts, numbers and booleans for each.',
  source: 'How the visitor came to the website, as seen on the page of the landing.',
  'source.referrer': `Referrer of the landing; empty if there was none. If it is absent, that of the visit counts. ${STORED}`,
  'source.landed_at': 'When the visitor landed: Unix milliseconds, or a date as text.',
  utm: "The campaign's parameters in the address of the landing.",
  'utm.source': '`utm_source`',
  'utm.medium': '`utm_medium`',
  'utm.campaign': '`utm_campaign`',
  'utm.term': '`utm_term`',
  'utm.content': '`utm_content`',
  'utm.id': '`utm_id`',
  'source.page': `Address of the page of the landing. ${STORED} If the source says nothing of a landing, the page itself.`,
  ref: '`ref` or `source` in the address of the landing.',
  click: 'Name of the parameter that an advertising network added to that address, such as `gclid`; never its value.',
  carried: 'Whether the landing was on an earlier page view, which the page remembered.',
  sitting: 'Random text that names the page views of one sitting, which figures count as one visit.',
  entry:
    'Whether this page view begins its sitting. It decides for page views without `sitting`: with `false`, figures do not count them as visits.',
  client: 'Coarse facts about the browser. Other members are ignored.',
  brands: 'Client hint: brands of the browser.',
  fullVersionList: 'Client hint: brands with their full versions.',
  uaFullVersion: "Client hint: the browser's full version.",
  mobile: 'Client hint: whether the device is mobile.',
  'client.platform': 'Client hint: the operating system.',
  platformVersion: "Client hint: the operating system's version.",
  model: "Client hint: the device's model.",
  wow64: 'Client hint: a 32-bit browser on 64-bit Windows.',
  formFactors: 'Client hint: forms of the device.',
  architecture: 'Client hint: architecture of the processor.',
  bitness: 'Client hint: 32 or 64.',
  brave: 'Whether the browser is Brave.',
  touch: 'Whether there is a touch screen, or how many points it has.',
  'client.timezone': "The browser's time zone.",
  'client.language': "The browser's language.",
  automation: 'Whether a script drives the browser (`navigator.webdriver`).',
  marker: 'What the page writes into the browser, as it is.',
  'marker.format': 'Name of the form.',
  'marker.version': 'Version of the form.',
  'marker.origin': 'Origin of the page.',
  'marker.created_at': 'When the visit was recorded, in Unix milliseconds.',
  'marker.expires_at': 'When the receipt ceases to match, in Unix milliseconds: 30 days after the visit.',
  ok: 'Always `true`.',
  token: 'Handoff token, for the variable `WHENCE_HANDOFF` of an install command.',
  'HandoffAnswer.expires_at': 'When the token ceases to work, in Unix milliseconds: 30 days after its visit.',
  'HandoffAnswer.receipt':
    'Receipt of the visit, if this request recorded one. It names the visit for further tokens and never matches.',
  copied:
    'Whether the visitor has just copied a command that carries the token. Without it the token is asked for in advance, and nobody counts as having copied anything.',
  event_id: "Your ID of this report. A repeated one is answered with the first one's result.",
  installation_id: 'ID of the installation on this machine.',
  event_type: 'What happened.',
  receipts: 'Receipts of the markers found on this machine. Not together with `handoff`.',
  handoff: 'Handoff token. One that is not usable is no error: the install is unmatched.',
  platform: 'Operating system of the machine.',
  install_path: "ID of the install path. Without a valid one it is the organisation's first.",
  arch: 'Architecture of the processor. One text, or a list of texts.',
  browsers: 'Browsers that are on the machine. One text, or a list of texts.',
  default_browser: "The user's default browser. One text, or a list of texts.",
  timezone: 'Time zone of the machine. One text, or a list of texts.',
  language: "The user's language. One text, or a list of texts.",
  product_version: 'Version of the installed program. No control characters.',
  place: 'Where the command stood that was run, such as `readme`. No control characters.',
  test: 'The mark of a test, as the dashboard signs it; a made-up one is ignored.',
  ci: 'Whether it ran in CI.',
  container: 'Whether it ran in a container.',
  duplicate: 'Whether this `event_id` was reported before.',
  candidate_count: 'Visits that the install could have come from.',
  selection_policy: 'How the visit was chosen among them; `none` if there is none.',
  ga: 'What is delivered; the name is older than the other providers.',
  'ga.status': 'Of all deliveries together; `not_queued` if there are none.',
  deliveries: "One for each of the website's destinations.",
  destination: 'ID of the destination.',
  'deliveries.status': 'Status of the delivery at the time of this answer.',
  session_mode: 'What of the visit the delivery uses.',
  error: 'The code.',
  field: 'With `invalid_field`: JSON pointer of the field.',
  message: 'With `invalid_field`: what the field must be.',
  retryAfter: 'With `rate_limited`: the wait before a retry, in seconds.',
  measurementIds: "Measurement IDs of the website's GA4 destinations, as many as a visit has room for.",
  providers: 'Providers of the website.',
  origins: "The website's origins: the primary one, additional domains and those of pages.",
  ignoredReferrers: 'Hosts that are no source, such as those of sign-in and payment.',
  crossOrigin: "Whether links to the website's other origins carry where the visitor came from.",
  ga_mode: 'Whether anything is delivered to GA4: `live`, to its validation server, or nothing.',
  delivery: 'The same of all providers.',
  'Health.version': 'Version of the service.',
  catalog: 'The configuration in force.',
  'catalog.version': 'Counts up with each change.',
  isComplete: 'Whether everything that is configured is in force.',
  event_log: 'Whether each part of the event log works.',
  hot_state: 'Whether each part of the hot state works.',
  facts: 'Whether each part of ClickHouse works.',
  plans: 'Limits of each plan.',
  prices: 'Price of each plan; `null` if the operator names none.',
  Free: 'Of the plan Free.',
  Standard: 'Of the plan Standard.',
  Enterprise: 'Of the plan Enterprise.',
  rates: 'Rate limits by name.',
  limit: 'Requests in a window.',
  windowS: 'The window, in seconds.',
  per: 'What is counted.',
  service: 'Limits of the service; the unit is the last word of the name.',
  notBuilt: 'Names above that are not in force yet.',
  'notBuilt.service': 'Of `service`.',
  'notBuilt.rates': 'Of `rates`.',
  'SkillManifest.name': 'Name of the skill.',
  'SkillManifest.version': 'Version of the service.',
  base_url: 'Address of the service.',
  files: 'Files of the skill.',
  path: 'Where the file is.',
  sha256: 'Digest of the file, in hex.',
  hook: 'The hook that the skill speaks of.',
  url: 'Where it is served.',
}

function providerWords({
  name,
  accounts,
}: {
  readonly name: string
  readonly accounts?: { readonly what: string }
}): string {
  return accounts === undefined ? `${name}.` : `${name}: ${accounts.what}.`
}

interface DescribedIdentifiers {
  readonly identifiers: Readonly<Record<string, IdentifierKind>>
  readonly identifierWords?: Readonly<Record<string, string>>
  readonly clickParameters: readonly string[]
}

function identifierWords({ identifiers, identifierWords: own, clickParameters }: DescribedIdentifiers) {
  return Object.entries(identifiers).flatMap(([name, kind]): readonly (readonly [string, string])[] => {
    const moment = kind === 'moment' ? 'When the click ID was seen: Unix milliseconds, or a date as text.' : null
    const click = clickParameters.includes(name) ? 'Click ID in the address.' : null
    const words = own?.[name] ?? moment ?? click
    return words === null ? [] : [[name, words]]
  })
}

/** The same document, in which each field of an object has its sentence. */
export function withFieldWords(document: SchemaJson): SchemaJson {
  const components = objectOf(document['components'])
  const named = Object.entries(objectOf(components['schemas'])).map(
    ([name, schema]) => [name, worded(schema, name)] as const,
  )
  return {
    ...wordedObject(document, ''),
    components: { ...components, schemas: Object.fromEntries(named) },
  }
}

function worded(value: unknown, parent: string): unknown {
  if (Array.isArray(value)) return value.map((each) => worded(each, parent))
  return isObject(value) ? wordedObject(value, parent) : value
}

function wordedObject(value: SchemaJson, parent: string): SchemaJson {
  const members = Object.entries(value).map(([name, member]): readonly [string, unknown] => [
    name,
    name === 'properties' && isObjectSchema(value) && isObject(member)
      ? wordedFields(member, parent)
      : worded(member, parent),
  ])
  return Object.fromEntries(members)
}

function isObjectSchema(value: object): boolean {
  return 'type' in value && value.type === 'object'
}

function wordedFields(fields: SchemaJson, parent: string): SchemaJson {
  const rows = Object.entries(fields).map(([name, schema]) => {
    const description = FIELD_WORDS[`${parent}.${name}`] ?? FIELD_WORDS[name]
    const described = description === undefined ? {} : { description }
    return [name, { ...wordedObject(objectOf(schema), name), ...described }] as const
  })
  return Object.fromEntries(rows)
}
