/** Shares one answer among all callers that ask a provider the same question within half a minute. */

import { BoundedMap } from '../../common/bounded-map.ts'

/** Far shorter than the time between two questions about one delivery. */
const FRESH_MS = 30_000
/** The oldest answer is forgotten first. */
const MAX_ANSWERS = 1_000

interface CachedAnswer<T> {
  readonly answer: Promise<T>
  readonly askedAtMs: number
}

/** Requests in flight are shared as well; a failed one is not kept. */
export class AnswerCache<T> {
  readonly #answers = new BoundedMap<string, CachedAnswer<T>>(MAX_ANSWERS)

  /** `isFresh`: this call made the request. */
  async get(key: string, nowMs: number, ask: () => Promise<T>): Promise<{ answer: T; isFresh: boolean }> {
    const known = this.#answers.get(key)
    if (known !== undefined && nowMs - known.askedAtMs < FRESH_MS) return { answer: await known.answer, isFresh: false }
    const answer = ask()
    this.#answers.set(key, { answer, askedAtMs: nowMs })
    try {
      return { answer: await answer, isFresh: true }
    } catch (error) {
      // Somebody may have asked again meanwhile: the newer answer stays.
      if (this.#answers.get(key)?.answer === answer) this.#answers.delete(key)
      throw error
    }
  }
}
