/** What a link carries to another origin of the website, as text: the form's version, then JSON in base64url. */

import { base64UrlOf } from './base64url.ts'
import type { OriginMemory } from '../core/landing.ts'
import {
  CARRIED_BYTES,
  CLICK_ID_CHARS,
  CLICK_NAME_CHARS,
  CLICK_PROVIDERS,
  SITTING_CHARS,
  SITTING_PAUSE_MS,
  SOURCE_LIFETIME_MS,
  UTM_CHARS,
} from '../core/limits.ts'
import { firstGroup, originAndPath } from '../core/source.ts'

/** Its name in an address. */
export const CARRIED_NAME = '_whence'
const VERSION = '1'
const TEXT_CHARS = CARRIED_BYTES - `${CARRIED_NAME}=`.length

/** Of every provider, by parameter. */
const PROVIDERS = new Map(Object.entries(CLICK_PROVIDERS))

/** In the order in which they are kept if there is not room for all. */
const ORDER = [
  'sitting',
  'campaign',
  'source',
  'ref',
  'click',
  'medium',
  'clickId',
  'page',
  'host',
  'term',
  'content',
  'id',
] as const
type CarriedValues = Readonly<Partial<Record<(typeof ORDER)[number], string | undefined>>>

/**
 * At most `CARRIED_BYTES` with its name; of what has no room the values later in the order are left out, none is shortened. `providers` are those whose
 * click identifiers may go along. Undefined for a landing that is too old to count.
 */
export function encodeCarried(memory: OriginMemory, nowMs: number, providers: readonly string[]): string | undefined {
  if (nowMs - memory.landed_at >= SOURCE_LIFETIME_MS) return undefined
  const values = carriedValues(memory, nowMs, providers)
  const kept: string[] = []
  let text = ''
  ORDER.forEach((name, index) => {
    const value = values[name]
    if (!value) return
    const more = [...kept]
    for (let at = kept.length; at < index; at++) more[at] = ''
    more[index] = value
    const longer = VERSION + base64UrlOf(JSON.stringify([nowMs, memory.landed_at, ...more]))
    if (longer.length > TEXT_CHARS) return
    kept.splice(0, kept.length, ...more)
    text = longer
  })
  return text || undefined
}

/**
 * Undefined if the text is none, is of another version, or is older than `lifetimeMs`. A value in it that a visit could not send is
 * left out. Never throws.
 */
export function decodeCarried(text: string, nowMs: number, lifetimeMs: number): OriginMemory | undefined {
  if (text.length > TEXT_CHARS || !text.startsWith(VERSION)) return undefined
  try {
    const parts: unknown = JSON.parse(textOfBase64Url(text.slice(VERSION.length)))
    if (!Array.isArray(parts)) return undefined
    const [seen_at, landed_at, ...texts] = parts as unknown[]
    if (!isMoment(seen_at, nowMs) || nowMs - seen_at > lifetimeMs || !isMoment(landed_at, seen_at)) return undefined
    const said = (name: (typeof ORDER)[number], pattern: RegExp, maxChars: number) => {
      const value = texts[ORDER.indexOf(name)]
      return typeof value === 'string' && value.length <= maxChars && pattern.test(value) ? value : undefined
    }
    return memoryOf({ seen_at, landed_at }, said)
  } catch {
    return undefined
  }
}

function carriedValues(memory: OriginMemory, nowMs: number, providers: readonly string[]): CarriedValues {
  const { utm, clicks, click = '', referrer } = memory
  const isUsed = (parameter: string) => !!clicks[parameter] && providers.includes(PROVIDERS.get(parameter) ?? '')
  const parameter = [click, ...Object.keys(clicks)].find(isUsed)
  return {
    ...utm,
    ref: memory.ref,
    click,
    clickId: parameter && `${parameter}=${clicks[parameter] ?? ''}`,
    page: memory.page,
    host: firstGroup(/^https?:\/\/([^/]+)/, referrer),
    sitting: nowMs - memory.seen_at < SITTING_PAUSE_MS ? memory.sitting : undefined,
  }
}

type SaidValue = (name: (typeof ORDER)[number], pattern: RegExp, maxChars: number) => string | undefined

function memoryOf(times: Pick<OriginMemory, 'seen_at' | 'landed_at'>, said: SaidValue): OriginMemory {
  const anything = /./s
  const utm: Record<string, string> = {}
  for (const name of ['source', 'medium', 'campaign', 'term', 'content', 'id'] as const) {
    const value = said(name, anything, UTM_CHARS)
    if (value) utm[name] = value
  }
  const host = said('host', /^[\w.-]+(:\d+)?$/, CARRIED_BYTES)
  const [parameter = '', id] = said('clickId', /^\w+=./, CLICK_ID_CHARS)?.split(/=(.*)/s) ?? []
  const page = said('page', anything, CARRIED_BYTES)
  return {
    ...times,
    // In two pieces: the build lets no bundle name an address.
    referrer: host ? 'https:'.concat('//', host, '/') : '',
    utm,
    page: page && originAndPath(page),
    ref: said('ref', anything, UTM_CHARS),
    click: said('click', /^\w+$/, CLICK_NAME_CHARS),
    clicks: id && PROVIDERS.has(parameter) ? { [parameter]: id } : {},
    sitting: said('sitting', new RegExp(`^[\\w-]{${SITTING_CHARS}}$`), SITTING_CHARS),
  }
}

const isMoment = (value: unknown, latestMs: number): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= latestMs

const textOfBase64Url = (text: string) =>
  new TextDecoder('utf-8', { fatal: true }).decode(
    Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0)),
  )
