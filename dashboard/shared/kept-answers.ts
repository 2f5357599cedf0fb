/** Answers to whoever opens a link are kept for a while: however often it is opened, its figures are counted once a minute. */

import { BoundedMap } from '../../common/bounded-map.ts'
import { LIMITS } from '../../domain/limits.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import type { Answer, Call, Handler, WrittenAnswer } from '../http/call.ts'

interface KeptAnswer {
  readonly outcome: Answer | WrittenAnswer
  readonly atMs: number
}

/** The same handler. Requests of one link come one after another (`READ_PLACES`), so that none asks for what another is about to keep. */
export function keepingAnswers(handle: Handler, elapsedMs: () => number): Handler {
  const kept = new BoundedMap<string, KeptAnswer>(LIMITS.keptSharedAnswers)
  return async (call) => {
    const key = keyOfAnswer(call)
    const known = kept.get(key)
    const ageMs = known === undefined ? Infinity : elapsedMs() - known.atMs
    if (known !== undefined && ageMs < LIMITS.shareCacheS * SECOND_MS) return answeredFor(known.outcome, ageMs)
    kept.delete(key)
    const outcome = await handle(call)
    if (outcome.kind !== 'answer' && outcome.kind !== 'written') return outcome
    kept.set(key, { outcome, atMs: elapsedMs() })
    return answeredFor(outcome, 0)
  }
}

/** Of what a link shows, so that a changed link shows its changes at once. */
function keyOfAnswer({ scope, query }: Call): string {
  return JSON.stringify([scope?.organization.id, scope?.organization.timeZone, scope?.reader, query])
}

/** Browsers keep it no longer than this process. */
function answeredFor<Kept extends Answer | WrittenAnswer>(outcome: Kept, ageMs: number): Kept {
  return { ...outcome, keptS: LIMITS.shareCacheS - Math.ceil(ageMs / SECOND_MS) }
}
