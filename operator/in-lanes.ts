/** Runs many tasks, a few at a time. */

const AT_ONCE = 8

/** Rejects with the first failure, once all tasks have stopped. */
export async function inLanes(tasks: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = [...tasks]
  const failures: unknown[] = []
  const lane = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined && failures.length === 0; task = queue.shift()) {
      await task().catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, tasks.length) }, lane))
  if (failures.length > 0) throw failures[0]
}
