/** Kills the role that judges alerts between each pair of its steps; each alert is then on the log once, and none is lost. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { expect } from 'chai'

import type { AlertRecord } from '../../domain/alerts/alert.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { hourCells } from '../../domain/figures/hour-row.ts'
import { decodeRecord } from '../../domain/records.ts'
import { ACME, WEBSITE } from '../../fixtures/delivery/builders.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'
import type { AlertJob, AlertStep } from './alerts.child.ts'

const CHILD = new URL('alerts.child.ts', import.meta.url).pathname
const STEPS: readonly AlertStep[] = [
  'progress',
  'websitesToCount',
  'hourTotals',
  'quarterInstalls',
  'alertsToJudge',
  'append',
  'alerts',
]
/** Twenty: before and after each step, and what writes something more often. */
const DEATHS = [
  ...STEPS.flatMap((step) => (['before', 'after'] as const).map((at) => ({ at, step }))),
  ...(['append', 'alerts', 'append'] as const).flatMap((step) =>
    (['after', 'before'] as const).map((at) => ({ at, step })),
  ),
]
/** The first day, long before now. */
const FIRST_MS = Math.floor(Date.now() / DAY_MS - DEATHS.length - 3) * DAY_MS
const momentAfter = (day: number): number => FIRST_MS + (day + 1) * DAY_MS + HOUR_MS

describe('alerts and kill -9', function () {
  this.timeout(300_000)
  let folder: string
  before(async () => {
    folder = await temporaryFolder()
    const connection = await openChdb(join(folder, 'facts'))
    await migrate(connection)
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    // Deliveries fail on every other day, so that each day opens an alert or closes one.
    const rows = Array.from({ length: DEATHS.length + 1 }, (_, day) => {
      const value = day % 2 === 0 ? 'ga4\tfailed\trefused' : 'ga4\tdelivered\t'
      const cells = hourCells([{ dimension: 'delivery', value, counts: [50] }])
      const of = { organization: ACME.id, website: WEBSITE, hour: FIRST_MS + day * DAY_MS }
      return { ...of, marks_read: [], ...cells, retention_days: 395, row_version: 1 }
    })
    await facts.insert('website_hours', rows)
    await facts.close()
  })
  after(() => deleteFolder(folder))

  /** How the process ended. */
  const lived = async (moments: readonly number[], death: AlertJob['death']): Promise<unknown> => {
    const job: AlertJob = { folder, moments, death }
    return once(
      spawn(process.execPath, [CHILD, JSON.stringify(job)], { stdio: ['ignore', 'ignore', 'inherit'] }),
      'exit',
    )
  }

  it(`are neither doubled nor lost by ${DEATHS.length} kills between its steps`, async () => {
    for (const [day, death] of DEATHS.entries()) {
      // The day on which the process before died, then the next one.
      const moments = day === 0 ? [momentAfter(0)] : [momentAfter(day - 1), momentAfter(day)]
      expect(await lived(moments, death), `${death.at} ${death.step}`).to.deep.equal([null, 'SIGKILL'])
    }
    const last = DEATHS.length
    expect(await lived([momentAfter(last - 1), momentAfter(last)], null)).to.deep.equal([0, null])
    const environment = await openTestEnvironment(folder, Date.now)
    const log = await lmdbEventLog(environment)
    const records = (await log.read('alerts', 0, 1_000)).map(({ value }) => decodeRecord<AlertRecord>(value))
    await log.close()
    await environment.close()
    const dateOf = (day: number): string => new Date(FIRST_MS + day * DAY_MS).toISOString().slice(0, 10)
    const wanted = Array.from({ length: last + 1 }, (_, day) =>
      day % 2 === 0 ? `opened ${dateOf(day)}` : `closed ${dateOf(day - 1)}`,
    )
    expect(records.map(({ state, period }) => `${state} ${period}`)).to.deep.equal(wanted)
  })
})
