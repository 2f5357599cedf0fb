/**
 * Splits a catalog into parts of a bounded size. A part holds everything whose hashed ID begins with the part's key, a few
 * binary digits. A part that grows too large is split in two by one more digit, and two small parts are merged again. A
 * change therefore writes only the parts it touches, and no owner's objects take up another owner's room.
 */

import type { SmallSteps } from './steps.ts'
import type { Organization, Website, CatalogOrganizations, CatalogWebsites } from '../catalog.ts'
import { isSameList, partChars, partText, type Part } from './parts.ts'
import { CatalogTexts } from './text.ts'
import { LIMITS } from '../limits.ts'
import type { Sha256Hex } from '../origin.ts'

export interface CatalogPart {
  readonly key: string
  /** SHA-256 of the text. */
  readonly digest: string
  /** The text as it is stored. */
  readonly packed: PackedText
}

/** A compressed text, as bytes because these lie outside the heap: all parts together are large. */
export interface PackedText {
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes in base64, as they are written. */
  readonly digest: string
}

export interface LayoutTools {
  readonly sha256Hex: Sha256Hex
  /** Compresses a text deterministically. */
  readonly pack: (text: string) => PackedText
}

/** What one layout passes to the next. It changes only the time it takes, and which sizes of parts are good enough. */
export interface LayoutMemory {
  readonly texts: CatalogTexts
  /** Of hashed IDs, in binary. */
  readonly digits: WeakMap<Item, string>
  parts: ReadonlyMap<string, { readonly part: Part; readonly made: CatalogPart }>
}

export function emptyLayoutMemory(texts = new CatalogTexts()): LayoutMemory {
  return { texts, digits: new WeakMap(), parts: new Map() }
}

/** Longer keys are never needed: no one can create many IDs whose hashes share this many digits. */
const MOST_DIGITS = 64
/** Two parts are merged if together they fill at most this share of one: far from being split again. */
const MERGE_SHARE = 0.25
/** A text this many times larger than a part is split without being written first. */
const SURELY_TOO_LARGE = 8

/**
 * The parts of the catalog in the order of their keys, one a step. `inUse`: keys of the existing parts, for a layout without a memory of
 * them.
 */
export function* layOut(
  catalog: CatalogOrganizations & CatalogWebsites,
  inUse: readonly string[],
  tools: LayoutTools,
  memory: LayoutMemory = emptyLayoutMemory(),
): SmallSteps<readonly CatalogPart[]> {
  const before = memory.parts
  const tree = treeOf(before.size > 0 ? before.keys() : inUse)
  const layout: Layout = { tree, before, made: new Map(), tools, memory }
  for (const [key, part] of spreadByDigits(wholePart(catalog), '', layout)) yield* place(key, part, layout)
  yield* mergeSmall(layout)
  const keys = [...layout.made.keys()].sort()
  memory.parts = new Map(keys.flatMap((key) => entryIfAny(layout.made, key)))
  return [...memory.parts.values()].map(({ made }) => made)
}

interface Layout {
  /** Keys that are split into two longer ones. */
  readonly tree: Set<string>
  readonly before: LayoutMemory['parts']
  readonly made: Map<string, { readonly part: Part; readonly made: CatalogPart }>
  readonly tools: LayoutTools
  readonly memory: Pick<LayoutMemory, 'texts' | 'digits'>
}

type Item = Organization | Website

/** Keys may come from outside; any set of them gives a tree. */
function treeOf(keys: Iterable<string>): Set<string> {
  const tree = new Set<string>()
  for (const key of keys) {
    for (let digits = 0; digits < Math.min(key.length, MOST_DIGITS); digits += 1) tree.add(key.slice(0, digits))
  }
  return tree
}

function wholePart({ organizations, websites }: CatalogOrganizations & CatalogWebsites): Part {
  return { organizations: [...organizations.values()], websites: [...websites.values()] }
}

function spreadByDigits(items: Part, from: string, { tree, tools, memory }: Layout): ReadonlyMap<string, Part> {
  const parts = new Map<string, { organizations: Organization[]; websites: Website[] }>()
  const partOf = (item: Item) => {
    const digits = digitsOf(item, tools.sha256Hex, memory.digits)
    let length = from.length
    while (length < MOST_DIGITS && tree.has(digits.slice(0, length))) length += 1
    const key = digits.slice(0, length)
    const part = parts.get(key) ?? { organizations: [], websites: [] }
    parts.set(key, part)
    return part
  }
  for (const item of items.organizations) partOf(item).organizations.push(item)
  for (const item of items.websites) partOf(item).websites.push(item)
  return parts
}

/** Makes the part, or the two parts that it is split into. */
function* place(key: string, part: Part, layout: Layout): SmallSteps<void> {
  const made = madeOf(key, part, layout)
  yield
  if (made !== null) {
    layout.made.set(key, { part, made })
    return
  }
  layout.tree.add(key)
  for (const [inner, own] of spreadByDigits(part, key, layout)) yield* place(inner, own, layout)
}

/** Null if it is too large and can be split. */
function madeOf(key: string, part: Part, { before, tools, memory }: Layout): CatalogPart | null {
  const last = before.get(key)
  if (last !== undefined && isSamePart(last.part, part)) return last.made
  const canBeCut = part.organizations.length + part.websites.length > 1 && key.length < MOST_DIGITS
  if (canBeCut && partChars(part, memory.texts) > LIMITS.catalogPartBytes * SURELY_TOO_LARGE) return null
  const text = partText(part, memory.texts)
  const packed = tools.pack(text)
  if (canBeCut && packed.bytes.length > LIMITS.catalogPartBytes) return null
  return { key, digest: tools.sha256Hex(text), packed }
}

function* mergeSmall(layout: Layout): SmallSteps<void> {
  const { made, tree } = layout
  for (const key of [...made.keys()].sort((a, b) => b.length - a.length)) {
    const parent = key.slice(0, -1)
    const sibling = `${parent}${key.endsWith('0') ? '1' : '0'}`
    if (key === '' || !made.has(key) || tree.has(sibling)) continue
    const pair = [key, sibling].flatMap((each) => made.get(each) ?? [])
    const bytes = pair.reduce((sum, each) => sum + each.made.packed.bytes.length, 0)
    if (bytes > LIMITS.catalogPartBytes * MERGE_SHARE) continue
    for (const each of [key, sibling]) made.delete(each)
    tree.delete(parent)
    const organizations = pair.flatMap(({ part }) => part.organizations)
    yield* place(parent, { organizations, websites: pair.flatMap(({ part }) => part.websites) }, layout)
  }
}

function entryIfAny<T>(map: ReadonlyMap<string, T>, key: string): readonly (readonly [string, T])[] {
  const value = map.get(key)
  return value === undefined ? [] : [[key, value]]
}

function digitsOf(item: Item, sha256Hex: Sha256Hex, cached: LayoutMemory['digits']): string {
  const known = cached.get(item)
  if (known !== undefined) return known
  const hex = sha256Hex(item.id).slice(0, MOST_DIGITS / 4)
  const digits = [...hex].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('')
  cached.set(item, digits)
  return digits
}

/** Compares by identity: the compiler reuses unchanged organisations and websites. */
function isSamePart(a: Part, b: Part): boolean {
  return isSameList(a.websites, b.websites) && isSameList(a.organizations, b.organizations)
}
