/** Lets everything that asks a provider one and the same question within half a minute share one answer. */

/** Far below the time between two questions about one delivery. */
const KEPT_MS = 30_000
/** The answer that was asked for first is forgotten first. */
const KEPT = 1_000

interface Kept<T> {
  readonly answer: Promise<T>
  readonly askedAtMs: number
}

/** Questions under way are shared as well; one that failed is not kept. */
export class AskedOnce<T> {
  readonly #kept = new Map<string, Kept<T>>()

  /** `isFresh`: this call asked. */
  async get(key: string, nowMs: number, ask: () => Promise<T>): Promise<{ answer: T; isFresh: boolean }> {
    const known = this.#kept.get(key)
    if (known !== undefined && nowMs - known.askedAtMs < KEPT_MS) return { answer: await known.answer, isFresh: false }
    this.#kept.delete(key)
    const answer = ask()
    this.#kept.set(key, { answer, askedAtMs: nowMs })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break
      this.#kept.delete(oldest)
    }
    try {
      return { answer: await answer, isFresh: true }
    } catch (error) {
      this.#kept.delete(key)
      throw error
    }
  }
}
