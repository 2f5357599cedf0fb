/** Limits how long a caller waits for work: to a time, or until a signal. The work itself goes on; callers that can end it must. */

/** Settles as the work does, or rejects after `forMs` milliseconds. A later result of the work, even a failure, is ignored. */
export async function within<T>(work: Promise<T>, forMs: number, late?: () => Error): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(late?.() ?? new Error(`no answer within ${forMs} ms`)), forMs)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves once the work has ended, whether it failed or not, or after `forMs` milliseconds. True if it ended in time. */
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

/**
 * Calls `act` and settles as it does, until the signal comes: then it rejects at once, and the work goes on although no one
 * waits for it. If the signal has come already, `act` is not called. `given` makes the error; without it the process is stopping.
 */
export async function unlessAborted<T>(
  signal: AbortSignal,
  act: () => Promise<T>,
  given: () => Error = givenUp,
): Promise<T> {
  if (signal.aborted) throw given()
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(given())
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([act(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Why it was aborted, as an error. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason
  return reason instanceof Error ? reason : new Error('it was aborted', { cause: reason })
}

function givenUp(): Error {
  return new Error('given up because the process is stopping')
}
