/**
 * A process for crash tests: appends entries and settles install events under load until it is killed, and prints a
 * line for each that was acknowledged (`ack ID MS`). Usage: node lmdb.appender.ts FOLDER FIRST_ID IN_FLIGHT [COUNT]
 */

import { writeSync } from 'node:fs'

import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import { StorageFailed } from '../../ports/shared/lmdb/committer.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'

const [folder = '', firstId = '0', inFlight = '64', count = 'Infinity'] = process.argv.slice(2)

/** Straight to the descriptor: a line that was printed has left the process, whatever happens to it next. */
const say = (line: string): void => void writeSync(1, `${line}\n`)

process.on('unhandledRejection', (error) => {
  say(`unhandled ${String(error)}`)
})

const environment = await openLmdb(folder, {
  nowMs: Date.now,
  minFreeBytes: 0,
  stallFatalMs: 3_000,
  onFatal: (error) => say(`fatal ${error.message}`),
})
const log = await lmdbEventLog(environment, { keeping: { trimEveryMs: Infinity } })
const state = await lmdbHotState(environment, { sweepEveryMs: Infinity, saveEveryMs: 1 })
say('ready')

let id = Number(firstId)
const endId = id + Number(count)

async function appendAll(): Promise<void> {
  while (id < endId) {
    const mine = id++
    const beganMs = performance.now()
    try {
      await log.append('visits', [{ key: `acme:${mine}`, value: `${mine}`.padEnd(1 + (mine % 3_000), '.') }])
      say(`ack ${mine} ${Math.round(performance.now() - beganMs)}`)
      if (mine % 10 === 0) await settle(mine)
    } catch (error) {
      if (!(error instanceof LogUnavailable)) throw error
      say(`refused ${mine} ${error.message}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

async function settle(mine: number): Promise<void> {
  const claim = {
    organization: 'acme',
    website: 'acme',
    eventId: `event-${mine}`,
    installationId: `${mine}`,
    owner: `${process.pid}`,
  }
  await state.claimInstall(claim)
  try {
    await state.settleInstall({ ...claim, answer: `answer ${mine}`, receivedAtMs: 0, matched: null })
    // Answers are stored a moment later, with whatever is committed then.
    await new Promise((resolve) => setTimeout(resolve, 5))
    await environment.committer.durable()
    say(`settled ${mine}`)
  } catch (error) {
    if (!(error instanceof StorageFailed)) throw error
    say(`unsettled ${mine}`)
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, appendAll))
await log.close()
await state.close()
await environment.close()
say('closed')
