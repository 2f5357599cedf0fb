/**
 * Lets the requests of one turn of the event loop go on together, each step for all of them before the next step.
 *
 * A request runs through far more code than the caches of a processor hold. One request after the other, each step's code
 * is brought in anew for each of them; in step, once for all. That took a third off what a visit costs
 * (docs/performance.md). Nothing waits for others to come: who is alone goes on in the same turn.
 */

import type { NextFunction, RequestHandler } from 'express'

/** Most that go on together, so that a crowd does not keep the event loop from everything else. */
const GROUP_MAX = 64

/** The handler where requests fall into step; they stay in step over whatever they await from there on. */
export function inStep(): RequestHandler {
  let waiting: NextFunction[] = []
  const go = (): void => {
    const group = waiting.slice(0, GROUP_MAX)
    waiting = waiting.slice(GROUP_MAX)
    if (waiting.length > 0) setImmediate(go)
    // Promises are settled after the last of them, which is what keeps them in step.
    for (const next of group) next()
  }
  return (_req, _res, next) => {
    if (waiting.push(next) === 1) setImmediate(go)
  }
}
