/** Runs work by key: one task at a time for each key, many keys at once, with retries after failures, and none lost. */

import { createAdaptiveLimit } from './adaptive-limit.ts'

/** Changes by people come first; work of a start or a full pass waits behind them. */
export type Urgency = 'now' | 'later'

interface WorkQueueOptions {
  /** Does the work of the key; rejects if it must be retried. */
  readonly handle: (key: string) => Promise<void>
  /** At most; fewer while work takes longer than `slowMs`. */
  readonly concurrency: number
  readonly rules: QueueRules
  readonly random: () => number
  readonly onFailure: (key: string, error: unknown, failures: number) => void
}

/** How a queue treats keys and failures. */
export interface QueueRules {
  readonly slowMs: number
  /** Those who take turns: the keys of one never hold up those of another. */
  readonly ownerOf: (key: string) => string
  /** The least time until a failed key is retried, if the error sets one. */
  readonly leastDelayMs: (error: unknown) => number
}

interface WorkQueue {
  /** Requests work on a key. A request before it began changes nothing; during the work, it is repeated afterwards. */
  readonly put: (key: string, urgency: Urgency) => void
  /** Keys that wait or run, including those that wait after a failure. */
  readonly depth: () => number
  /** Age of the longest running work, in ms. */
  readonly longestRunningMs: () => number
  /** Accepts nothing more and resolves once running work has ended. */
  readonly close: () => Promise<void>
}

const BACKOFF_MS = { first: 100, most: 60_000 }

/** A key is a few bytes, and objects bound the number of keys, so nothing is ever dropped. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const queue = new KeyedQueue(options)
  return {
    put: (key, urgency) => queue.put(key, urgency),
    depth: () => queue.depth(),
    longestRunningMs: () => queue.longestRunningMs(),
    close: () => queue.close(),
  }
}

interface RunningWork {
  readonly startedAtMs: number
  again: Urgency | null
}

class KeyedQueue {
  readonly #options: WorkQueueOptions
  readonly #waiting: { readonly [U in Urgency]: TurnedKeys }
  readonly #running = new Map<string, RunningWork>()
  readonly #failures = new Map<string, number>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #ended = new Set<() => void>()
  readonly #pace
  #isClosed = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
    this.#pace = createAdaptiveLimit({ most: options.concurrency, slowMs: options.rules.slowMs })
    const { ownerOf } = options.rules
    this.#waiting = { now: new TurnedKeys(ownerOf), later: new TurnedKeys(ownerOf) }
  }

  put(key: string, urgency: Urgency): void {
    if (this.#isClosed) return
    const running = this.#running.get(key)
    if (running !== undefined) {
      running.again = urgency === 'now' ? 'now' : (running.again ?? 'later')
      return
    }
    // The change may fix the failure: the key is retried now.
    clearTimeout(this.#timers.get(key))
    this.#timers.delete(key)
    if (urgency === 'now') this.#waiting.later.delete(key)
    if (urgency === 'now' || !this.#waiting.now.has(key)) this.#waiting[urgency].add(key)
    this.#startMore()
  }

  depth(): number {
    return this.#waiting.now.size + this.#waiting.later.size + this.#running.size + this.#timers.size
  }

  longestRunningMs(): number {
    const startedAtMs = [...this.#running.values()].map((each) => each.startedAtMs)
    return startedAtMs.length === 0 ? 0 : performance.now() - Math.min(...startedAtMs)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#waiting.now.clear()
    this.#waiting.later.clear()
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#ended.add(resolve))
  }

  #startMore(): void {
    while (this.#running.size < this.#pace.limit()) {
      const lane = this.#waiting.now.size > 0 ? this.#waiting.now : this.#waiting.later
      const key = lane.take()
      if (key === undefined) return
      void this.#run(key)
    }
  }

  async #run(key: string): Promise<void> {
    const work: RunningWork = { startedAtMs: performance.now(), again: null }
    this.#running.set(key, work)
    try {
      await this.#options.handle(key)
      this.#failures.delete(key)
      this.#running.delete(key)
    } catch (error) {
      this.#running.delete(key)
      this.#retryLater(key, error)
    }
    this.#pace.ended(work.startedAtMs, performance.now())
    if (work.again !== null) this.put(key, work.again)
    if (this.#isClosed && this.#running.size === 0) for (const tell of this.#ended) tell()
    this.#startMore()
  }

  #retryLater(key: string, error: unknown): void {
    if (this.#isClosed) return
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#options.onFailure(key, error, failures)
    const doubled = Math.min(BACKOFF_MS.first * 2 ** Math.min(failures - 1, 16), BACKOFF_MS.most)
    const delayMs = Math.max(this.#options.rules.leastDelayMs(error), doubled) * (0.5 + this.#options.random() / 2)
    const timer = setTimeout(() => {
      this.#timers.delete(key)
      this.put(key, 'later')
    }, delayMs)
    this.#timers.set(key, timer)
  }
}

/** A set of keys that gives one of each owner in turn, and of one owner the first that came. */
class TurnedKeys {
  readonly #ownerOf: (key: string) => string
  /** The first owner is the next one; none is without keys. */
  readonly #owners = new Map<string, Set<string>>()
  size = 0

  constructor(ownerOf: (key: string) => string) {
    this.#ownerOf = ownerOf
  }

  has(key: string): boolean {
    return this.#owners.get(this.#ownerOf(key))?.has(key) === true
  }

  add(key: string): void {
    if (this.has(key)) return
    const owner = this.#ownerOf(key)
    const keys = this.#owners.get(owner) ?? new Set()
    this.#owners.set(owner, keys.add(key))
    this.size += 1
  }

  delete(key: string): void {
    const owner = this.#ownerOf(key)
    const keys = this.#owners.get(owner)
    if (keys?.delete(key) !== true) return
    this.size -= 1
    if (keys.size === 0) this.#owners.delete(owner)
  }

  take(): string | undefined {
    const [first] = this.#owners
    if (first === undefined) return undefined
    const [owner, keys] = first
    const [key] = keys
    if (key === undefined) return undefined
    this.delete(key)
    if (this.#owners.delete(owner)) this.#owners.set(owner, keys)
    return key
  }

  clear(): void {
    this.#owners.clear()
    this.size = 0
  }
}
