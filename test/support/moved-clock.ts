/**
 * Preloaded into a process (`node --import`): moves its wall clock by the milliseconds in the file that `MOVED_CLOCK`
 * names. Timers and `performance` stay as they are, as when a machine's clock is set.
 */

import { readFileSync } from 'node:fs'

const READ_EVERY_MS = 20

const file = process.env['MOVED_CLOCK']
const realNow = Date.now.bind(Date)
let offsetMs = 0
let readAtMs = Number.NEGATIVE_INFINITY

function movedNow(): number {
  const nowMs = realNow()
  if (file !== undefined && nowMs - readAtMs >= READ_EVERY_MS) {
    readAtMs = nowMs
    offsetMs = Number(readFileSync(file, 'utf8'))
  }
  return nowMs + offsetMs
}

const RealDate = Date
const MovedDate = function (this: unknown, ...words: readonly unknown[]): Date | string {
  if (new.target === undefined) return new RealDate(movedNow()).toString()
  return Reflect.construct(RealDate, words.length === 0 ? [movedNow()] : words, new.target) as Date
}
Object.setPrototypeOf(MovedDate, RealDate)
MovedDate.prototype = RealDate.prototype
Object.defineProperty(MovedDate, 'now', { value: movedNow })
globalThis.Date = MovedDate as unknown as DateConstructor
