/**
 * Keeps websites in force that turn from accepted to refused in a crowd: that is hardly what their owners want, and more likely
 * a definition, a version or a script gone wrong. Deletions are no refusals, and what a plan no longer allows is meant.
 */

import type { Website } from '../../domain/catalog.ts'
import type { ProblemReason } from '../../domain/resources/problems.ts'

/** One website that was in force and is refused now. */
export interface TurnedWebsite {
  readonly website: Website
  /** By `destinationKey`. */
  readonly credentials: ReadonlyMap<string, Readonly<Record<string, string>>>
  readonly sinceMs: number
  /** What its annotation said then: another value lets it go. */
  readonly released: string
  isHeld: boolean
}

/** By `objectKey`. */
export type GuardMemory = Map<string, TurnedWebsite>

export interface GuardInput {
  readonly nowMs: number
  /** Websites that would be in force by their objects as they are now. */
  readonly accepted: number
  /** Those whose object is there and refused, as they were in force last; of these, `GuardMemory` may know some already. */
  readonly turned: ReadonlyMap<string, Omit<TurnedWebsite, 'isHeld' | 'sinceMs'>>
  /** Objects that are there and refused: whoever is not among them was deleted, or is accepted again. */
  readonly refused: ReadonlyMap<string, { readonly released: string }>
}

const WINDOW_MS = 600_000
const LEAST = 10
/** These follow from what somebody decided or deleted. */
const MEANT: ReadonlySet<string> = new Set<ProblemReason>([
  'PlanLimit',
  'PlanRequired',
  'RefNotFound',
  'RefNotPermitted',
])

/** Whether a refusal for this reason may be one that nobody meant. */
export function isUnmeant(reason: string): boolean {
  return !MEANT.has(reason)
}

/** Takes down what is new, and gives back the websites that stay in force as they were. */
export function guard(memory: GuardMemory, input: GuardInput): ReadonlyMap<string, TurnedWebsite> {
  const released = letGo(memory, input)
  for (const [key, turned] of input.turned) {
    if (memory.has(key) || released.has(key)) continue
    memory.set(key, { ...turned, sinceMs: input.nowMs, isHeld: false })
  }
  const isCrowd = memory.size >= LEAST && memory.size > input.accepted
  if (isCrowd) for (const each of memory.values()) each.isHeld = true
  return new Map([...memory].filter(([, { isHeld }]) => isHeld))
}

/** Forgets those that are refused no longer, or turned long ago, or that a person lets go; gives back the last. */
function letGo(memory: GuardMemory, { refused, nowMs }: GuardInput): ReadonlySet<string> {
  const released = new Set<string>()
  for (const [key, { isHeld, sinceMs, released: then }] of memory) {
    const now = refused.get(key)
    if (now !== undefined && now.released !== then) released.add(key)
    const isOver = !isHeld && nowMs - sinceMs > WINDOW_MS
    if (now === undefined || isOver || released.has(key)) memory.delete(key)
  }
  return released
}
