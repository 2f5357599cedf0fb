/** How old a process's knowledge of who may do what may be, and what it may still answer then. */

import { LIMITS } from '../limits.ts'

/**
 * `current`: known to be at least as new as what is published. `late`: it was until a moment ago; who is signed in may go on reading.
 * `unknown`: it is not known any more who may do what.
 */
export type RightsAge = 'current' | 'late' | 'unknown'

/** `ageMs`: since the copy was last known to be as new as what is published; Infinity if it never was. */
export function rightsAgeAfter(ageMs: number): RightsAge {
  if (ageMs < LIMITS.rightsFreshMs) return 'current'
  return ageMs < LIMITS.rightsFreshMs + LIMITS.rightsReadMs ? 'late' : 'unknown'
}

/** What of a route decides whether it may be answered. */
interface GuardedRoute {
  readonly method: string
  /** Whether only somebody who is signed in may use it. */
  readonly isOfPerson: boolean
  /** Whether a key or a link opens it. */
  readonly isOfPass: boolean
  /** Whether it ends in a session, or begins to. */
  readonly isSignIn: boolean
  /** It only takes rights away, which never waits. */
  readonly isDenial: boolean
}

/** Whether a request may be answered with rights of this age; otherwise the answer is `503`. */
export function mayAnswer(route: GuardedRoute, age: RightsAge): boolean {
  if (age === 'current' || route.isDenial) return true
  // What was revoked a moment ago must open nothing, and whoever has a good one can ask again.
  if (route.isOfPass) return false
  if (route.method !== 'GET' || route.isSignIn) return false
  return age === 'late' || !route.isOfPerson
}
