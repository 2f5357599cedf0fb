/** What API keys and share links have in common: an end within a year, and a text that no other one has. */

import { DAY_MS } from '../durations.ts'
import { LIMITS } from '../limits.ts'
import type { Pass, PassKind } from '../people/pass.ts'
import type { Compiler } from './compiler.ts'
import type { ObjectId, Resource } from './objects.ts'

const MOST_MS = LIMITS.passDays * DAY_MS

/** Unix ms: from then on the same objects give another result. Infinity if they never do. */
export function nextPassChangeMs(resources: readonly Resource<PassKind>[], nowMs: number): number {
  return resources.reduce((next, { spec }) => Math.min(next, nextChangeMs(spec, nowMs)), Infinity)
}

/** When the pass ends, or before that when its end is near enough. */
function nextChangeMs({ expiresAt }: { readonly expiresAt: string }, nowMs: number): number {
  const expiresAtMs = Date.parse(expiresAt)
  return [expiresAtMs - MOST_MS, expiresAtMs].find((ms) => ms > nowMs) ?? Infinity
}

/** What was made before, and when. */
export interface PassesBefore<P extends Pass> {
  readonly nowMs: number
  /** By hash. */
  readonly made: ReadonlyMap<string, P>
}

const WORDS = {
  ApiKey: { one: 'key', text: 'key', hash: '/spec/keyHash' },
  ShareLink: { one: 'link', text: 'token', hash: '/spec/tokenHash' },
} as const

/** Whether it has begun, has not ended and is the oldest with its text; reports it if not. An ended one takes up no place. */
export function mayOpen<P extends Pass>(
  compiler: Compiler,
  object: ObjectId & { readonly kind: PassKind },
  { expiresAtMs, hash }: P,
  { nowMs, made }: PassesBefore<P>,
): boolean {
  const { one, text, hash: field } = WORDS[object.kind]
  if (expiresAtMs - nowMs > MOST_MS) {
    compiler.report(object, 'InvalidField', '/spec/expiresAt', `must be at most ${LIMITS.passDays} days ahead`)
    return false
  }
  if (expiresAtMs <= nowMs) {
    compiler.report(object, 'Expired', '/spec/expiresAt', `the ${one} has ended`)
    return false
  }
  if (!made.has(hash)) return true
  // Whose it is, is nobody's business: it may be of another organisation.
  compiler.report(object, 'Duplicate', field, `an older ${object.kind} has the same ${text}`)
  return false
}
