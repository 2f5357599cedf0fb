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

interface Encoder {
  buf: Buffer
  offset: number
  ensureAvailable(bytes: number): void
  writeUVarInt?(value: number): Encoder
}

const MOST_VARINT_BYTES = 5
const MORE_BITS = 0xff_ff_ff_80

/** kafkajs makes two buffers for each such number, of which a record has six: a tenth of the work of sending. */
function writeNumbersInPlace(): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/protocol/encoder') as {
    readonly prototype: Encoder
  }
  if (prototype.writeUVarInt === undefined) throw new Error('kafkajs is not the version that this service was made for')
  prototype.writeUVarInt = function (value) {
    this.ensureAvailable(MOST_VARINT_BYTES)
    let left = value
    for (; (left & MORE_BITS) !== 0; left >>>= 7) this.buf[this.offset++] = (left & 0x7f) | 0x80
    this.buf[this.offset++] = left & 0x7f
    return this
  }
}

let isMended = false

/** Does it once, however often it is called. */
export function mendKafkajs(): void {
  if (isMended) return
  isMended = true
  keepIdleQueuesQuiet()
  writeNumbersInPlace()
}
