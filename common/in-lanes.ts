/** Runs many tasks, a few at a time. */

const AT_ONCE = 8

/** `atOnce` run at the same time. Once one fails no other starts; rejects with the first failure after those that run have ended. */
export async function inLanes(tasks: readonly (() => Promise<void>)[], atOnce = AT_ONCE): Promise<void> {
  const queue = [...tasks]
  const failures: unknown[] = []
  const lane = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined && failures.length === 0; task = queue.shift()) {
      await task().catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, tasks.length) }, lane))
  if (failures.length > 0) throw failures[0]
}
