/** Stops waiting for work that may never end, as soon as a signal says so. */

/**
 * As `act`, until the signal comes: then it rejects at once, and what was begun goes on without anybody waiting for it. Begins
 * nothing if the signal has come already.
 */
export async function unlessAborted<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  if (signal.aborted) throw givenUp()
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(givenUp())
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([act(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function givenUp(): Error {
  return new Error('given up, as the process is stopping')
}
