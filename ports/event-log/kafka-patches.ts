/** Mends what kafkajs 2.2.4 does wrong and its makers no longer release a fix for; each part says what and why. */

import { createRequire } from 'node:module'

interface RequestQueue {
  readonly pending: readonly unknown[]
  readonly throttledUntil: number
}

type Schedule = (this: RequestQueue) => void

/**
 * kafkajs sets a timer after every answer to look through waiting requests, and again when that timer fires, whether or
 * not any wait: each connection then wakes the process a thousand times a second for ever, and Node warns of the
 * negative delay. Without waiting requests no timer is needed, because a request that has to wait sets one itself.
 */
function keepIdleQueuesQuiet(): void {
  const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as {
    readonly prototype: { scheduleCheckPendingRequests?: Schedule }
  }
  const schedule = queue.prototype.scheduleCheckPendingRequests
  if (schedule === undefined) throw new Error('kafkajs is not the version that this service was made for')
  queue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this)
  }
}

let isMended = false

/** Does it once, however often it is called. */
export function mendKafkajs(): void {
  if (isMended) return
  isMended = true
  keepIdleQueuesQuiet()
}
