/**
 * Which of a visit's identities become facts: those that the website's providers use. Under GPC, advertising identities and those of
 * custom adapters never do.
 */

import { LAST_MOMENT_MS } from '../durations.ts'
import type { Identities } from '../model.ts'
import { ADVERTISING_PROVIDERS, PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../providers/index.ts'
import type { IdentifierKind } from '../providers/descriptor.ts'
import { isObject, mapTexts, memberOf, type JsonObject } from '../strict-json.ts'

/** Names of advertising identifiers, wherever they occur. */
export const ADVERTISING_FIELDS: readonly string[] = ADVERTISING_PROVIDERS.flatMap((id) =>
  Object.keys(PROVIDER_DESCRIPTORS[id].identifiers),
)

/** Query parameters that carry advertising identities into a page's address: our providers', and Microsoft's. */
export const CLICK_PARAMETERS: readonly string[] = [
  ...ADVERTISING_PROVIDERS.flatMap((id) => PROVIDER_DESCRIPTORS[id].clickParameters),
  'msclkid',
]

/** The identifiers that are moments, each with its path in the body: `['tiktok', 'ttclid_at']`. */
export const MOMENT_IDENTIFIERS: readonly (readonly [ProviderId, string])[] = PROVIDER_IDS.flatMap((id) =>
  Object.entries(PROVIDER_DESCRIPTORS[id].identifiers).flatMap(([name, kind]) =>
    kind === 'moment' ? [[id, name] as const] : [],
  ),
)

interface KeepRules {
  readonly providers: ReadonlySet<ProviderId>
  readonly gpc: boolean
  /** Prepares a text to become a fact. */
  readonly clean: (text: string) => string
}

/** `sent` has passed its schema; the result names every field it keeps. */
export function keepIdentities(sent: JsonObject, { providers, gpc, clean }: KeepRules): Identities {
  const kept: Record<string, unknown> = {}
  for (const rules of RULES) {
    if (rules.isAdvertising && (gpc || !providers.has(rules.id))) continue
    const fields = keepProvider(sent[rules.id], rules, clean)
    if (fields !== null) kept[rules.id] = fields
  }
  const custom = gpc ? undefined : sent['custom']
  if (isObject(custom) && Object.keys(custom).length > 0) kept['custom'] = mapTexts(custom, clean)
  return kept
}

/**
 * Values of a body sent under GPC that must not be kept in the clear, including those in the page's address. Those of known fields
 * come first, so that no number of unknown ones displaces them.
 */
export function advertisingValues(body: JsonObject): readonly string[] {
  const identities = isObject(body['identities']) ? body['identities'] : {}
  const known = ADVERTISING_PROVIDERS.flatMap((provider) =>
    Object.keys(PROVIDER_DESCRIPTORS[provider].identifiers).flatMap((name) =>
      leavesOf(memberOf(identities[provider], name)),
    ),
  )
  const all = ADVERTISING_PROVIDERS.flatMap((provider) => leavesOf(identities[provider]))
  const others = Object.entries(identities).flatMap(([name, sent]) => (KNOWN.has(name) ? [] : leavesOf(sent)))
  const source = isObject(body['source']) ? body['source'] : {}
  const clicked = [body['page_url'], body['referrer'], source['referrer']].flatMap(clickValues)
  return [...known, ...all, ...clicked, ...others.filter((value) => value.length >= OTHER_CHARS_MIN)]
}

const KNOWN: ReadonlySet<string> = new Set(PROVIDER_IDS)
/** Shorter values of custom adapters and unknown providers are often words, which other fields have too. */
const OTHER_CHARS_MIN = 6

/** Every text and number inside. Recursion is safe: the depth of a body is limited. */
function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

/** `Date.parse` accepts almost anything as a date; a date must begin like this. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:$|T)/

/** Unix ms of a number or of an ISO 8601 date; null if it is neither, or too far away to be stored. */
export function toMoment(value: unknown): number | null {
  const timeMs = typeof value === 'string' && ISO_DATE.test(value) ? Date.parse(value) : value
  return typeof timeMs === 'number' && timeMs >= 0 && timeMs <= LAST_MOMENT_MS ? timeMs : null
}

function clickValues(address: unknown): readonly string[] {
  if (typeof address !== 'string' || !URL.canParse(address)) return []
  const query = new URL(address).searchParams
  return CLICK_PARAMETERS.flatMap((name) => query.getAll(name))
}

type Kept = Readonly<Record<string, unknown>>
type IdentityFields = readonly (readonly [name: string, kind: IdentifierKind])[]

interface ProviderRules {
  readonly id: ProviderId
  readonly isAdvertising: boolean
  readonly hasAccounts: boolean
  readonly fields: IdentityFields
}

/** The descriptors' fields that every visit needs. */
const RULES: readonly ProviderRules[] = PROVIDER_IDS.map((id) => {
  const { isAdvertising, accounts, identifiers } = PROVIDER_DESCRIPTORS[id]
  return { id, isAdvertising, hasAccounts: accounts !== undefined, fields: Object.entries(identifiers) }
})

/** One set of identifiers, or one for each account; null if there is none. */
function keepProvider(sent: unknown, { hasAccounts, fields }: ProviderRules, clean: KeepRules['clean']): Kept | null {
  if (!hasAccounts) return keepFields(sent, fields, clean)
  if (!isObject(sent)) return null
  const kept: Record<string, unknown> = {}
  for (const [account, identity] of Object.entries(sent)) {
    const own = keepFields(identity, fields, clean)
    if (own !== null) kept[account] = own
  }
  return Object.keys(kept).length === 0 ? null : kept
}

function keepFields(sent: unknown, fields: IdentityFields, clean: KeepRules['clean']): Kept | null {
  if (!isObject(sent)) return null
  const kept: Record<string, unknown> = {}
  for (const [name, kind] of fields) {
    const value = sent[name]
    if (value === undefined || value === '') continue
    const fact = kind === 'moment' ? toMoment(value) : clean(identifierText(value))
    if (fact !== null) kept[name] = fact
  }
  return Object.keys(kept).length === 0 ? null : kept
}

/** Identifiers are texts; those that come as numbers are integers. */
function identifierText(value: unknown): string {
  return typeof value === 'string' ? value : String(Number(value))
}
