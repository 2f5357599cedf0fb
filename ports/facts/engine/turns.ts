/** Runs a few tasks at a time: look-ups of requests first, then statements of pages, then everything else. */

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

interface MostTurns {
  readonly atOnce: number
  /** Of reports, so that others need not wait for the end of one. */
  readonly reports: number
}

/** Callers bound how many tasks they start; no task is refused here. */
export function createTurns({ atOnce, reports: reportsAtOnce }: MostTurns = { atOnce: 1, reports: 1 }): Turns {
  const waiting: Readonly<Record<Turn, (() => void)[]>> = { 'look-up': [], page: [], report: [] }
  const idlers: (() => void)[] = []
  let [running, reports] = [0, 0]

  /** Takes what may start, if anything does; a task counts as running before it goes on. */
  function next(): void {
    while (running < atOnce) {
      const isReportDue = reports < reportsAtOnce
      const start =
        waiting['look-up'].shift() ?? waiting.page.shift() ?? (isReportDue ? waiting.report.shift() : undefined)
      if (start === undefined) break
      start()
    }
    if (running === 0) for (const wake of idlers.splice(0)) wake()
  }

  function begin(turn: Turn): void {
    running += 1
    if (turn === 'report') reports += 1
  }

  function end(turn: Turn): void {
    running -= 1
    if (turn === 'report') reports -= 1
    next()
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
        begin(turn)
        resolve()
      }
      signal?.addEventListener('abort', leave, { once: true })
      queue.push(start)
      next()
    })
  }

  return {
    async take(options, task) {
      options.signal?.throwIfAborted()
      await place(options)
      try {
        // It may have been aborted in between.
        options.signal?.throwIfAborted()
        return await task()
      } finally {
        end(options.turn)
      }
    },
    async idle() {
      if (running > 0) await new Promise<void>((resolve) => idlers.push(resolve))
    },
  }
}
