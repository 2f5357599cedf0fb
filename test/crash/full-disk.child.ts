/**
 * A process for the test of a full disk: an embedded log on the small disk in FOLDER, which the test fills and frees.
 * Usage: node full-disk.child.ts FOLDER. Prints its results as one line of JSON.
 */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { diskReport } from '../../bin/wiring/disk-report.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'

const [folder = ''] = process.argv.slice(2)
const MIB = 1024 * 1024
const lines: string[] = []
const logger = {
  ...SILENT_LOGGER,
  error: (_fields: object, message: string) => void lines.push(`error ${message}`),
  info: (_fields: object, message: string) => void lines.push(`info ${message}`),
}
const report = diskReport({ logger: logger as never, nowMs: Date.now })
const environment = await openLmdb(join(folder, 'log'), {
  nowMs: Date.now,
  minFreeBytes: 16 * MIB,
  onFatal: (error) => {
    throw error
  },
  onSpace: (isFull) => report.changed('log', isFull),
})
const log = await lmdbEventLog(environment)
report.reportTo(log)

async function appendUntil(isWanted: boolean): Promise<void> {
  for (;;) {
    const isTaken = await log.append('visits', [{ key: 'k', value: 'v' }]).then(
      () => true,
      () => false,
    )
    if (isTaken === isWanted) return
    await wait(50)
  }
}

await appendUntil(true)
writeFileSync(join(folder, 'somebody-else'), Buffer.alloc(20 * MIB))
await appendUntil(false)
await appendUntil(false)
const whileFull = log.health()
rmSync(join(folder, 'somebody-else'))
await appendUntil(true)
const afterwards = log.health()
let activity = await log.read('activity', 0, 10)
while (activity.length === 0) {
  await wait(20)
  activity = await log.read('activity', 0, 10)
}
const entries = activity.map(({ value }) => JSON.parse(value) as Record<string, string>)
process.stdout.write(JSON.stringify({ lines, whileFull, afterwards, entries }))
await log.close()
await environment.close()
