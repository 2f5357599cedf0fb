/**
 * Which of a visit's identities become facts: those that the website's providers use, and no advertising ones under
 * GPC.
 */

import type { Identities, ProviderId } from '../model.ts'
import { mapTexts, type JsonObject } from '../strict-json.ts'

export const ADVERTISING_PROVIDERS = ['google_ads', 'meta', 'tiktok', 'x'] as const
export type AdvertisingProvider = (typeof ADVERTISING_PROVIDERS)[number]

const FIELDS: { readonly [P in AdvertisingProvider]: readonly string[] } = {
  google_ads: ['gclid', 'wbraid', 'gbraid', 'gcl_aw', 'session_attributes'],
  meta: ['fbp', 'fbc', 'fbclid'],
  tiktok: ['ttp', 'ttclid', 'ttclid_at'],
  x: ['twclid', 'twclid_at'],
}
/** Their names, at any depth. */
export const ADVERTISING_FIELDS: readonly string[] = Object.values(FIELDS).flat()
const MOMENT_FIELDS: ReadonlySet<string> = new Set(['ttclid_at', 'twclid_at'])

/** Query parameters that carry advertising identities in a page's address. */
export const CLICK_PARAMETERS = ['gclid', 'wbraid', 'gbraid', 'dclid', 'fbclid', 'ttclid', 'twclid', 'msclkid'] as const

export interface KeepRules {
  readonly providers: ReadonlySet<ProviderId>
  readonly gpc: boolean
  /** Prepares a text to become a fact. */
  readonly clean: (text: string) => string
}

/** `sent` has passed its schema; the result names every field it keeps. */
export function keepIdentities(sent: JsonObject, { providers, gpc, clean }: KeepRules): Identities {
  const kept: Record<string, unknown> = {}
  const ga4 = keepGa4(sent['ga4'], clean)
  if (ga4 !== null) kept['ga4'] = ga4
  for (const provider of ADVERTISING_PROVIDERS) {
    if (gpc || !providers.has(provider)) continue
    const fields = keepFields(sent[provider], FIELDS[provider], clean)
    if (fields !== null) kept[provider] = fields
  }
  const custom = sent['custom']
  if (isObject(custom) && Object.keys(custom).length > 0) kept['custom'] = mapTexts(custom, clean)
  return kept
}

/** Values of a body sent under GPC that must not be kept in the clear, including those in the page's address. */
export function advertisingValues(body: JsonObject): readonly string[] {
  const identities = isObject(body['identities']) ? body['identities'] : {}
  const values = ADVERTISING_PROVIDERS.flatMap((provider) => {
    const fields = identities[provider]
    return isObject(fields) ? Object.values(fields).map(String) : []
  })
  const source = isObject(body['source']) ? body['source'] : {}
  return [...values, ...[body['page_url'], body['referrer'], source['referrer']].flatMap(clickValues)]
}

/** The year 2100: every time column can hold it. */
export const MOMENT_MAX_MS = 4_102_444_800_000
/** `Date.parse` accepts almost anything as a date; a date must begin like this. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(?:$|T)/

/** Unix ms of a number or of an ISO 8601 date; null if it is neither, or too far away to be stored. */
export function toMoment(value: unknown): number | null {
  const timeMs = typeof value === 'string' && ISO_DATE.test(value) ? Date.parse(value) : value
  return typeof timeMs === 'number' && timeMs >= 0 && timeMs <= MOMENT_MAX_MS ? timeMs : null
}

function clickValues(address: unknown): readonly string[] {
  if (typeof address !== 'string' || !URL.canParse(address)) return []
  const query = new URL(address).searchParams
  return CLICK_PARAMETERS.flatMap((name) => query.getAll(name))
}

function keepGa4(sent: unknown, clean: KeepRules['clean']): Identities['ga4'] | null {
  if (!isObject(sent)) return null
  const kept: Record<string, { client_id?: string; session_id?: string }> = {}
  for (const [measurementId, identity] of Object.entries(sent)) {
    const fields = keepFields(identity, ['client_id', 'session_id'], clean)
    if (fields !== null) kept[measurementId] = fields
  }
  return Object.keys(kept).length === 0 ? null : kept
}

function keepFields(sent: unknown, names: readonly string[], clean: KeepRules['clean']): Record<string, never> | null {
  if (!isObject(sent)) return null
  const kept: Record<string, unknown> = {}
  for (const name of names) {
    const value = sent[name]
    if (value === undefined || value === '') continue
    const fact = MOMENT_FIELDS.has(name) ? toMoment(value) : clean(textOf(value))
    if (fact !== null) kept[name] = fact
  }
  return Object.keys(kept).length === 0 ? null : (kept as Record<string, never>)
}

/** Identifiers are texts; those that come as numbers are integers. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : String(Number(value))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
