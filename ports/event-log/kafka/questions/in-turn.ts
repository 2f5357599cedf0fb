/** Lets callers share the answers to costly questions. */

/**
 * `ask` runs at most once at a time for each key. Who calls while it runs gets the answer to the next run, which begins after the
 * call: an answer is never older than the call.
 */
export function sharedQuestions<T, A extends readonly unknown[]>(
  ask: (key: string, ...about: A) => Promise<T>,
): (key: string, ...about: A) => Promise<T> {
  const running = new Map<string, Promise<T>>()
  const waiting = new Map<string, Promise<T>>()
  const run = (key: string, ...about: A): Promise<T> => {
    const answer = ask(key, ...about).finally(() => running.delete(key))
    running.set(key, answer)
    return answer
  }
  return (key, ...about) => {
    const current = running.get(key)
    if (current === undefined) return run(key, ...about)
    const next =
      waiting.get(key) ??
      current
        .catch(() => undefined)
        .then(() => {
          waiting.delete(key)
          return run(key, ...about)
        })
    waiting.set(key, next)
    return next
  }
}
