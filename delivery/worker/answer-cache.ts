/** Shares one answer among all who ask a provider the same question within half a minute. */

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
  readonly #answers = new Map<string, CachedAnswer<T>>()

  /** `isFresh`: this call made the request. */
  async get(key: string, nowMs: number, ask: () => Promise<T>): Promise<{ answer: T; isFresh: boolean }> {
    const known = this.#answers.get(key)
    if (known !== undefined && nowMs - known.askedAtMs < FRESH_MS) return { answer: await known.answer, isFresh: false }
    this.#answers.delete(key)
    const answer = ask()
    this.#answers.set(key, { answer, askedAtMs: nowMs })
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break
      this.#answers.delete(oldest)
    }
    try {
      return { answer: await answer, isFresh: true }
    } catch (error) {
      this.#answers.delete(key)
      throw error
    }
  }
}
