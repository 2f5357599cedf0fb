/**
 * Removes advertising identities from bodies in the request logs that were sent under Global Privacy Control: each
 * value is replaced by a keyed hash, the rest stays unchanged. So is every value in a member that the contract does not have, as
 * nobody can say that it identifies no one.
 *
 * A body that parsed is read token by token, so that a value is found behind any escape, and a short value does not match
 * inside other words. All replacements are made in one pass, and hashes are never searched again: otherwise a few crafted
 * values would let a body grow without end.
 */

import { finderOf, type Finder } from './find-texts.ts'
import { walkLegible } from './legible-places.ts'
import { ADVERTISING_FIELDS, advertisingValues, CLICK_PARAMETERS } from './identities.ts'
import { type JsonObject, textOf } from '../strict-json.ts'

type Hash = (value: string) => string

/** Shorter values are replaced only if they are a whole text: inside other texts they would match by accident. */
const CONTAINED_CHARS_MIN = 6
/**
 * Values beyond this many are replaced only if they are a whole text, or a parameter of an address: a search takes longer the
 * more there are. All providers together have fewer known fields.
 */
const CONTAINED_MAX = 64
/** The last string of a body that was cut has no end. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|[{}[\]:,]/gs
const PARAMETER = /([?&#;])([^=&#;?\s]{1,96})=([^&#;\s]*)/g
const FIELD = new RegExp(
  `("(?:${ADVERTISING_FIELDS.join('|')})"\\s{0,64}:\\s{0,64})("(?:[^"\\\\]|\\\\.)*"?|-?\\d[\\d.eE+-]*)`,
  'gs',
)
const WISH = /"gpc"\s{0,64}:\s{0,64}true/

/** `text` is the raw body, `body` its parsed form. */
export function hashAdvertising(text: string, body: JsonObject, hash: Hash): string {
  const values = new Set(advertisingValues(body).filter((value) => value !== ''))
  const contained = containedOf([...values].slice(0, CONTAINED_MAX))
  return hashPlaces(text, hash, (plain, isName) => {
    if (values.has(plain) && !isName) return gpcMark(plain, hash)
    return hashContained(hashParameters(plain, hash), contained, hash)
  })
}

/**
 * The same for a body that did not parse: what stands in a place where it may not be read, what follows the names of fields wherever they
 * are, and parameters of addresses.
 */
export function hashAdvertisingByName(text: string, hash: Hash): string {
  const placed = hashPlaces(text, hash, (plain) => plain)
  const named = placed.replace(FIELD, (whole, name: string, value: string) =>
    bare(value).startsWith('hmac:') ? whole : name + hashedText(hash(bare(value))),
  )
  return hashParameters(named, hash)
}

/**
 * The text with every value hashed that stands where nothing may be read, and the others as `change` leaves them. What is not
 * JSON is read as far as its brackets go.
 */
function hashPlaces(text: string, hash: Hash, change: (plain: string, isName: boolean) => string): string {
  const walk = walkLegible()
  return text.replace(TOKEN, (token) => {
    const place = walk.next(token)
    if (place === null) return token
    if (!token.startsWith('"')) {
      const number = String(Number(token))
      return place.isLegible && change(number, false) === number ? token : hashedText(hash(number))
    }
    const plain = plainText(token)
    const kept = place.isLegible || place.isName ? change(plain, place.isName) : gpcMark(plain, hash)
    return kept === plain || plain === '' ? token : JSON.stringify(kept)
  })
}

/** A string as it was meant; one that is no string of JSON as it stands. */
function plainText(token: string): string {
  const inner = token.slice(1, token.length > 1 && token.endsWith('"') ? -1 : undefined)
  if (!token.includes('\\')) return inner
  try {
    return textOf(JSON.parse(`"${inner}"`))
  } catch {
    return inner
  }
}

/** Whether a body that did not parse nevertheless asks for GPC. */
export function mentionsGpc(text: string): boolean {
  return WISH.test(text)
}

/** Parameters of any address in the text whose name, in any spelling, is that of a click ID. */
function hashParameters(text: string, hash: Hash): string {
  return text.replace(PARAMETER, (whole, start: string, name: string, value: string) => {
    const isClick = CLICK_NAMES.has(decodeQueryText(name)) && value !== '' && !value.startsWith('hmac:')
    return isClick ? `${start}${name}=${gpcMark(decodeQueryText(value), hash)}` : whole
  })
}

const CLICK_NAMES: ReadonlySet<string> = new Set(CLICK_PARAMETERS)

function hashContained(text: string, { find, spelled }: Contained, hash: Hash): string {
  let result = ''
  let kept = 0
  for (const { start, end } of find(text)) {
    const form = text.slice(start, end)
    result += text.slice(kept, start) + gpcMark(spelled.get(form) ?? form, hash)
    kept = end
  }
  return kept === 0 ? text : result + text.slice(kept)
}

interface Contained {
  /** Every spelling of a value inside an address or a cookie, with the value itself. */
  readonly spelled: ReadonlyMap<string, string>
  readonly find: Finder
}

function containedOf(values: readonly string[]): Contained {
  const spelled = new Map<string, string>()
  for (const value of values) {
    if (value.length < CONTAINED_CHARS_MIN) continue
    const encoded = encodeURIComponent(value.toWellFormed())
    for (const form of [value, encoded, encoded.replaceAll('%20', '+')]) spelled.set(form, value)
  }
  return { spelled, find: finderOf([...spelled.keys()]) }
}

function gpcMark(value: string, hash: Hash): string {
  return `hmac:${hash(value)}`
}

function hashedText(hashed: string): string {
  return `"hmac:${hashed}"`
}

function bare(value: string): string {
  return value.replace(/^"|"$/g, '')
}

function decodeQueryText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
