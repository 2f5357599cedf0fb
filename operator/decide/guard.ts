/**
 * Keeps websites in force if many turn from accepted to refused at once: their owners hardly intend that, and a faulty
 * definition, version or script is more likely. Deletions are not refusals, and refusals by the plan are intended.
 */

import type { Website } from '../../domain/catalog.ts'
import type { ProblemReason } from '../../domain/resources/problems.ts'

/** One website that was in force and is now refused. */
export interface TurnedWebsite {
  readonly website: Website
  /** By `destinationKey`. */
  readonly credentials: ReadonlyMap<string, Readonly<Record<string, string>>>
  readonly sinceMs: number
  /** The value of its annotation at that time: another value releases it. */
  readonly released: string
  isHeld: boolean
}

/** By `objectKey`. */
export type GuardMemory = Map<string, TurnedWebsite>

interface GuardInput {
  readonly nowMs: number
  /** Websites that would be in force by their present objects. */
  readonly accepted: number
  /** Websites whose objects exist and are refused, in their last accepted form; `GuardMemory` may know some already. */
  readonly turned: ReadonlyMap<string, Omit<TurnedWebsite, 'isHeld' | 'sinceMs'>>
  /** Existing refused objects: any other was deleted, or is accepted again. */
  readonly refused: ReadonlyMap<string, { readonly released: string }>
}

const WINDOW_MS = 600_000
const LEAST = 10
/** These follow from a decision or a deletion by a person. */
const MEANT: ReadonlySet<string> = new Set<ProblemReason>([
  'PlanLimit',
  'PlanRequired',
  'RefNotFound',
  'RefNotPermitted',
])

/** Whether a refusal for this reason may be unintended. */
export function isUnmeant(reason: string): boolean {
  return !MEANT.has(reason)
}

/** Records new refusals, and returns the websites that stay in force as they were. */
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

/**
 * Forgets websites that are no longer refused, turned long ago, or were released by a person; returns the last group.
 */
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
