/** Runs one task at a time: look-ups of requests first, then statements of pages, then everything else. */

import type { Turn } from '../query-rows.ts'

interface TakeOptions {
  readonly turn: Turn
  /** A task that still waits when this is aborted never runs, and `take` rejects with the reason. */
  readonly signal?: AbortSignal | undefined
}

interface Turns {
  take<T>(options: TakeOptions, task: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

/** Callers bound how many tasks they start; no task is refused here. */
export function createTurns(): Turns {
  const waiting: Readonly<Record<Turn, (() => void)[]>> = { 'look-up': [], page: [], report: [] }
  const idlers: (() => void)[] = []
  let isBusy = false

  function next(): void {
    const start = waiting['look-up'].shift() ?? waiting.page.shift() ?? waiting.report.shift()
    isBusy = start !== undefined
    if (start !== undefined) start()
    else for (const wake of idlers.splice(0)) wake()
  }

  function place({ turn, signal }: TakeOptions): Promise<void> {
    const queue = waiting[turn]
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(start), 1)
        reject(signal?.reason as Error)
      }
      const start = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      signal?.addEventListener('abort', leave, { once: true })
      queue.push(start)
    })
  }

  return {
    async take(options, task) {
      options.signal?.throwIfAborted()
      if (isBusy) await place(options)
      isBusy = true
      try {
        return await task()
      } finally {
        next()
      }
    },
    async idle() {
      if (isBusy) await new Promise<void>((resolve) => idlers.push(resolve))
    },
  }
}
