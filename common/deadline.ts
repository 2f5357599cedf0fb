/** Waits for work no longer than a time. The work itself goes on: callers that can end it must. */

/** Settles as the work does; rejects after `forMs` milliseconds. What the work says later is not heard, a failure included. */
export async function within<T>(work: Promise<T>, forMs: number, late?: () => Error): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(late?.() ?? new Error(`no answer within ${forMs} ms`)), forMs)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves once the work has ended, well or not, or after `forMs` milliseconds. True if it ended in time. */
export async function endedWithin(work: Promise<unknown>, forMs: number): Promise<boolean> {
  const over = Promise.withResolvers<false>()
  const timer = setTimeout(() => over.resolve(false), forMs)
  const ended = work.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([ended, over.promise])
  } finally {
    clearTimeout(timer)
  }
}
