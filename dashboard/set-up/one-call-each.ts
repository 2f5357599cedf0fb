/** Bounds calls to what is outside: one at a time for an organisation, some in a process, and so many an hour. */

import { refuse, type Refusal } from '../../domain/errors.ts'
import type { Hit, HitCounter } from '../../ports/hot-state/hot-state.ts'
import { refuseByRate } from '../http/limits.ts'

interface CallBounds {
  readonly hotState: HitCounter
  /** That one process waits for. */
  readonly mostAtOnce: number
  readonly hitOf: (organization: string) => Hit
}

/** The result makes a call for an organisation if there is room; otherwise it makes none, and says why. */
export function oneCallEach({ hotState, mostAtOnce, hitOf }: CallBounds) {
  /** Organisations that wait for an answer. */
  const waiting = new Set<string>()
  return async <T>(organization: string, call: () => Promise<T>): Promise<T | Refusal> => {
    if (waiting.has(organization) || waiting.size >= mostAtOnce) return refuse('unavailable')
    const limited = await refuseByRate([hitOf(organization)], hotState)
    if (limited !== null) return limited
    waiting.add(organization)
    try {
      return await call()
    } finally {
      waiting.delete(organization)
    }
  }
}
