/**
 * A process for the test of a full disk: a spool on the disk in FOLDER in front of a log that is unavailable until a command
 * ends that. Usage: node spool.child.ts FOLDER. Prints the answers and what the log received as one line of JSON.
 */

import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { LogUnavailable, type EventLog } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { SPOOL_LOG_OPTIONS, spooledEventLog, type SpooledEventLog } from '../../ports/event-log/spool/spooled.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'

const [folder = ''] = process.argv.slice(2)
const HEAD_ROOM_BYTES = 4 * 1024 * 1024
const CLIENTS = 16
const REFUSALS = 200
const received: string[] = []
const answered: string[] = []
const refused: string[] = []
let isAway = true
let next = 0

/** Takes everything or nothing, as Kafka that comes and goes. */
const log = {
  append: async (_topic: string, entries: readonly { readonly key: string }[]) => {
    if (isAway) throw new LogUnavailable('away')
    received.push(...entries.map(({ key }) => key))
  },
  health: () => ({
    isAccepting: !isAway,
    queuedBytes: 0,
    maxQueuedBytes: 1,
    lastAppendAtMs: null,
    lastFetchAtMs: null,
  }),
  close: async () => undefined,
} as unknown as EventLog

interface Opened {
  readonly spooled: SpooledEventLog
  readonly close: () => Promise<void>
}

async function open(): Promise<Opened> {
  const environment = await openLmdb(join(folder, 'spool'), {
    nowMs: Date.now,
    minFreeBytes: 0,
    headRoomBytes: HEAD_ROOM_BYTES,
    onFatal: (error) => {
      throw error
    },
  })
  const spool = await lmdbEventLog(environment, SPOOL_LOG_OPTIONS)
  const spooled = await spooledEventLog(log, spool, { maxBytes: 1e9, closing: { stalledMs: 50 } })
  return { spooled, close: () => spooled.close().then(() => environment.close()) }
}

/** Appends of all sizes until that many were refused in a row, or until `most` were answered. */
async function appendUntilFull({ spooled }: Opened, most = Number.POSITIVE_INFINITY): Promise<void> {
  const until = answered.length + most
  let inARow = 0
  const client = async (): Promise<void> => {
    while (inARow < REFUSALS && answered.length < until) {
      const key = `acme:${next++}`
      try {
        await spooled.append('visits', [{ key, value: 'x'.repeat(100 + ((next * 7_919) % 60_000)) }], {
          deadlineMs: 5_000,
        })
        answered.push(key)
        inARow = 0
      } catch (error) {
        if (!(error instanceof LogUnavailable)) throw error
        refused.push(key)
        inARow++
      }
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
}

/** Leaves not one block to anybody. */
function fillTheRest(): void {
  const file = openSync(join(folder, 'somebody-else'), 'a')
  for (let bytes = 64 * 1024; bytes >= 1; bytes >>= 4) {
    try {
      for (;;) writeSync(file, Buffer.alloc(bytes))
    } catch {
      // Full for pieces of this size.
    }
  }
  closeSync(file)
}

async function drained({ spooled }: Opened): Promise<void> {
  while (spooled.spool().entries > 0) await wait(10)
}

let opened = await open()
await appendUntilFull(opened)
const answeredFirst = answered.length
const refusedFirst = refused.length
fillTheRest()
const freeBytes = statfsSync(folder).bavail
await appendUntilFull(opened)
await opened.close()
opened = await open()
await appendUntilFull(opened)
const spooledAfterRestart = opened.spooled.spool().entries

isAway = false
await drained(opened)
isAway = true
const answeredBefore = answered.length
// Nothing is free on the disk, yet the spool is empty again; what has gone is deleted a second later.
while (answered.length < answeredBefore + 100) {
  await wait(50)
  await appendUntilFull(opened, 100)
}
const answeredDrained = answered.length - answeredBefore

isAway = false
await drained(opened)
isAway = true
rmSync(join(folder, 'somebody-else'))
await appendUntilFull(opened, 500)
const answeredWithRoom = answered.length - answeredBefore - answeredDrained

isAway = false
await drained(opened)
await opened.close()
const unique = new Set(received)
const told = {
  answeredFirst,
  refusedFirst,
  freeBytes,
  spooledAfterRestart,
  answeredDrained,
  answeredWithRoom,
  lost: answered.filter((key) => !unique.has(key)),
  storedThoughRefused: refused.filter((key) => unique.has(key)),
  twice: received.length - unique.size,
}
writeSync(1, `${JSON.stringify(told)}\n`)
