/**
 * Bounds what the operator keeps of everything that it reads. If all namespaces together exceed the room, the largest ones lose
 * the contents of their youngest objects, as `fair-share.ts` decides; the others lose nothing.
 */

import { withoutRoom } from '../../domain/published/fair-share.ts'
import { RESOURCE_KINDS, type ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { cutCopy } from './copies.ts'

type RoomKind = ResourceKind | 'Secret'

/** Told of every object that comes or goes. */
export interface RoomNews {
  /**
   * To be called after `objects` got an object, or lost it. May replace this object and others, in whatever map they are, by copies
   * without contents, and forgets some altogether if even those are too many.
   */
  readonly changed: (kind: RoomKind, objects: Map<string, KubeObject>, key: string) => void
}

export interface Room extends RoomNews {
  /** Kinds of which something fits again that was cut. It does so when it is read the next time, for which the caller cares. */
  readonly reopen: () => ReadonlySet<RoomKind>
  /** Objects without their contents, and those that were forgotten, by namespace. */
  readonly cut: () => ReadonlyMap<string, number>
}

interface RoomOptions {
  /** About as many bytes of heap as everything may take up. */
  readonly bytes: number
  /** Called when something was cut that was whole; must only take note. */
  readonly onCut: () => void
}

/**
 * An estimate: what a pass keeps of one object besides its texts, and how often these texts are in memory at most, which is when an operator
 * begins: in its copy, in the catalog that is in force and in the one that is compiled. `test/operator/room.test.ts` measures the heap with it.
 */
const OBJECT_BYTES = 1_500
const SPEC_COPIES = 3
/** Of an object without its contents. */
const CUT_BYTES = 800
/** Copies without contents may take up this part of the room in addition. */
const CUT_SHARE = 0.25
/** Each cut frees a little more than necessary, so that not every object brings the next one about. */
const CUT_TO = 0.95
/** What was cut comes back into less room than it was cut from, so that it does not go in and out. */
const REOPEN_TO = 0.9
/** Below this part of the room everything is read again if something was forgotten. */
const REMEMBER_BELOW = 0.5

interface ClaimedPlace {
  readonly id: string
  readonly kind: RoomKind
  readonly key: string
  readonly objects: Map<string, KubeObject>
}

interface RoomClaim extends ClaimedPlace {
  readonly owner: string
  /** The first ones keep their place. */
  readonly rank: string
  /** As it was read. */
  readonly bytes: number
  /** Without its contents; 0 while it has them. */
  cutBytes: number
  mayReturn: boolean
}

export function createRoom(options: RoomOptions): Room {
  return new ClaimedRoom(options)
}

class ClaimedRoom implements Room {
  readonly #options: RoomOptions
  readonly #claims = new Map<string, RoomClaim>()
  /** By namespace: ranks from here on have no room. */
  readonly #cutFrom = new Map<string, string>()
  /** How many were forgotten, by namespace and by kind. */
  readonly #forgotten = { owners: new Map<string, number>(), kinds: new Set<RoomKind>() }
  #wholeBytes = 0
  #cutBytes = 0

  constructor(options: RoomOptions) {
    this.#options = options
  }

  changed(kind: RoomKind, objects: Map<string, KubeObject>, key: string): void {
    const id = `${kind} ${key}`
    const before = this.#claims.get(id)
    const object = objects.get(key)
    if (before !== undefined) this.#remove(before)
    if (object === undefined) return
    const claim = roomClaimOf({ id, kind, key, objects }, object)
    this.#claims.set(id, claim)
    this.#wholeBytes += claim.bytes
    if (before === undefined ? this.#isBeyond(claim) : before.cutBytes > 0 && !before.mayReturn) this.#cut(claim)
    if (this.#wholeBytes > this.#options.bytes) this.#cutLargest()
    if (this.#cutBytes > this.#options.bytes * CUT_SHARE) this.#forgetLargest()
  }

  reopen(): ReadonlySet<RoomKind> {
    const cut = [...this.#claims.values()].filter(({ cutBytes }) => cutBytes > 0)
    const isEmpty = this.#wholeBytes < this.#options.bytes * REMEMBER_BELOW
    const kinds = new Set<RoomKind>(isEmpty ? this.#forgotten.kinds : [])
    if (isEmpty) this.#remember()
    if (cut.length === 0) {
      this.#cutFrom.clear()
      return kinds
    }
    const out = this.#without(REOPEN_TO)
    for (const claim of cut) {
      claim.mayReturn = !out.has(claim.id)
      if (claim.mayReturn) kinds.add(claim.kind)
    }
    return kinds
  }

  cut(): ReadonlyMap<string, number> {
    const counts = new Map(this.#forgotten.owners)
    for (const { owner, cutBytes } of this.#claims.values())
      if (cutBytes > 0) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    return counts
  }

  #remove(claim: RoomClaim): void {
    this.#claims.delete(claim.id)
    if (claim.cutBytes === 0) this.#wholeBytes -= claim.bytes
    else if (mayForget(claim)) this.#cutBytes -= claim.cutBytes
  }

  #cutLargest(): void {
    const out = this.#without(CUT_TO)
    let isNews = false
    for (const claim of this.#claims.values()) {
      if (!out.has(claim.id) || claim.cutBytes > 0) continue
      this.#cut(claim)
      isNews = true
    }
    if (isNews) this.#options.onCut()
  }

  #cut(claim: RoomClaim): void {
    const object = claim.objects.get(claim.key)
    if (object === undefined) return
    const short = cutCopy(object)
    claim.objects.set(claim.key, short)
    claim.cutBytes = CUT_BYTES + textBytes(short)
    this.#wholeBytes -= claim.bytes
    if (mayForget(claim)) this.#cutBytes += claim.cutBytes
  }

  /** They count as if they did not exist. */
  #forgetLargest(): void {
    const cut = [...this.#claims.values()].filter((claim) => claim.cutBytes > 0 && mayForget(claim))
    const claims = cut.sort(byRank).map(({ id, owner, cutBytes: bytes }) => ({ key: id, owner, bytes }))
    const out = withoutRoom(claims, this.#options.bytes * CUT_SHARE * CUT_TO)
    for (const claim of cut) {
      if (!out.has(claim.id)) continue
      this.#remove(claim)
      claim.objects.delete(claim.key)
      this.#forgotten.kinds.add(claim.kind)
      this.#forgotten.owners.set(claim.owner, (this.#forgotten.owners.get(claim.owner) ?? 0) + 1)
    }
    this.#options.onCut()
  }

  #remember(): void {
    this.#forgotten.kinds.clear()
    this.#forgotten.owners.clear()
  }

  /** Also notes the rank from which on each namespace has no room. */
  #without(part: number): ReadonlySet<string> {
    const all = [...this.#claims.values()].sort(byRank)
    const claims = all.map(({ id, owner, bytes }) => ({ key: id, owner, bytes }))
    const out = withoutRoom(claims, this.#options.bytes * part)
    this.#cutFrom.clear()
    for (const { id, owner, rank } of all) if (out.has(id) && !this.#cutFrom.has(owner)) this.#cutFrom.set(owner, rank)
    return out
  }

  /** A new one, of which older ones of its namespace have no room. */
  #isBeyond({ owner, rank }: RoomClaim): boolean {
    const from = this.#cutFrom.get(owner)
    return from !== undefined && rank > from
  }
}

/** Secrets are not more than the objects that refer to them; one that was forgotten would be read again and again. */
function mayForget({ kind }: RoomClaim): boolean {
  return kind !== 'Secret'
}

function byRank(a: RoomClaim, b: RoomClaim): number {
  return a.rank < b.rank ? -1 : 1
}

function roomClaimOf(place: ClaimedPlace, object: KubeObject): RoomClaim {
  const { namespace = '', creationTimestamp = '' } = object.metadata
  // What others refer to comes first, then what is older.
  const kinds: readonly string[] = RESOURCE_KINDS
  const order = place.kind === 'Secret' ? kinds.length : kinds.indexOf(place.kind)
  const rank = `${order} ${creationTimestamp}\n${place.key}`
  return { ...place, owner: namespace, rank, bytes: weightOf(object), cutBytes: 0, mayReturn: false }
}

/** A new status comes with the same spec. */
const SPEC_BYTES = new WeakMap<object, number>()

function weightOf({ spec, data, ...rest }: KubeObject): number {
  const contents = spec ?? data ?? NOTHING
  const known = SPEC_BYTES.get(contents) ?? textBytes(contents)
  SPEC_BYTES.set(contents, known)
  return OBJECT_BYTES + SPEC_COPIES * known + textBytes(rest)
}

const NOTHING = {}

/** Node.js takes two bytes for each character of a text if any of them needs two. */
function textBytes(part: object): number {
  const text = JSON.stringify(part)
  return /[^\u0000-\u00ff]/.test(text) ? 2 * text.length : text.length
}
