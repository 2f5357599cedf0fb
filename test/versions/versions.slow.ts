/** Two releases share a log and tables: this one, and a made-up next one that adds a version, fields and a column. Each reads what the other wrote, or waits for it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { NOTICED_TOPICS } from '../../delivery/webhooks/notice.ts'
import { RECORD_TOPICS } from '../../domain/records.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { makeNextRelease, type Release } from './next-release.ts'
import { appendTo, readLog, type LogReport } from './read-log.ts'
import { sampleEntries } from './samples.ts'

/** Each topic that is read by a role. */
const READ_BY = [
  ...RECORD_TOPICS.map((topic) => `facts-writer ${topic}`),
  'dispatch installs',
  'dispatch dispatch.5s',
  'deliver.ga4 deliver.ga4',
  'state activations',
  'state state.5s',
  'state install_decisions',
  'mail mail',
  'mail mail.5s',
  ...NOTICED_TOPICS.map((topic) => `webhooks ${topic}`),
  'webhooks webhooks',
  'webhooks webhooks.5s',
].sort()

const MAILED = ['sample-mail', 'sample-mail-again']
const TOLD = [
  'delivery.expired sample-told',
  'delivery.expired sample-told-again',
  'delivery.failed event-failed',
  'install.matched event-fresh',
  'limit.reached visits',
]

const DELIVERED = ['event-fresh', 'event-job', 'event-parked'].map((eventId) => jobOf({ install: { eventId } }).jobId)

/** Of an attempt that takes more than half a second, as on a busy machine, a copy waits here for a clock that stands still. */
const BACKUP_COPIES = 'deliver.ga4 deliver.ga4.30s'

describe('two releases on one log', function () {
  this.timeout(120_000)
  let folder: string
  let next: Release

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-versions-'))
    next = await makeNextRelease(join(folder, 'next'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const expectAllDone = (report: LogReport, more: Partial<LogReport> = {}): void => {
    const { rows, delivered, behind, ...rest } = report
    expect(delivered.toSorted()).to.deep.equal(DELIVERED.toSorted())
    expect(rows).to.include({ visits: 1, activations: 1, handoffs: 1, installs: 1, install_decisions: 1, activity: 1 })
    // Of the sample itself, and of what became of the three deliveries.
    expect(rows['deliveries']).to.equal(4)
    const done = {
      mailed: MAILED,
      told: TOLD,
      replays: ['sample-replay'],
      letters: ['event-dead'],
      unreadLetters: 0,
      held: [],
      unreadable: 0,
    }
    expect(rest).to.deep.equal({ ...done, ...more })
    // The waiting activation keeps waiting: its visit is not there.
    expect(behind.filter((place) => place !== BACKUP_COPIES)).to.deep.equal(['state state.30s'])
  }

  it('stops before what a later release wrote, skips nothing, and leaves it to that release', async () => {
    const place = join(folder, 'meeting')
    await next.run('write', place)
    const old = await readLog(place)
    expect(old.held).to.deep.equal(READ_BY)
    expect(old.behind).to.deep.equal(READ_BY)
    expect(old).to.deep.include({
      delivered: [],
      mailed: [],
      told: [],
      replays: [],
      letters: [],
      unreadLetters: 1,
      unreadable: 0,
    })
    expect(Object.values(old.rows)).to.deep.equal(Object.values(old.rows).map(() => 0))
    const report = JSON.parse(await next.run(place)) as LogReport
    expectAllDone(report)
    expect(report.rows).to.include({ poison_records: 0 })
  })

  it('leaves to a later release what this one wrote', async () => {
    const place = join(folder, 'upgrade')
    await appendTo(place, sampleEntries())
    const report = JSON.parse(await next.run(place)) as LogReport
    expectAllDone(report)
    expect(report.rows).to.include({ poison_records: 0 })
  })

  it('reads and writes tables to which a later release has added a column, and does not migrate them', async () => {
    const place = join(folder, 'tables')
    await next.run(place)
    const connection = await openChdb(join(place, 'facts'))
    const refusal = await migrate(connection).catch((error: unknown) => String(error))
    await connection.close()
    expect(refusal).to.contain('the tables are newer than this program')
    await appendTo(place, sampleEntries())
    const report = await readLog(place, { isMigrated: true })
    expectAllDone(report)
    expect(report.rows).to.include({ poison_records: 0 })
  })

  it('continues past what no release can read, in every topic, and counts it', async () => {
    const place = join(folder, 'broken')
    const whole = sampleEntries()
    const broken = whole.flatMap(({ topic, key }) => ['{"v":1', '{"v":1}'].map((value) => ({ topic, key, value })))
    await appendTo(place, [...broken, ...whole])
    const report = await readLog(place)
    const byFactsWriter = 2 * RECORD_TOPICS.length
    // The facts-writer keeps those of its topics.
    const unreadable = 2 * READ_BY.length - byFactsWriter
    expectAllDone(report, { unreadLetters: 2, unreadable })
    expect(report.rows).to.include({ poison_records: byFactsWriter })
  })

  it('continues with what is before a record of a later release, which then does the rest, and nothing twice', async () => {
    const place = join(folder, 'between')
    await appendTo(place, sampleEntries())
    await next.run('write', place)
    const old = await readLog(place)
    expect(old.held).to.deep.equal(READ_BY)
    expect(old.rows).to.include({ visits: 1, activations: 1, handoffs: 1, installs: 1, activity: 1, poison_records: 0 })
    // The other two jobs come after one of the later release, and so do those for webhooks that records lead to.
    expect(old).to.deep.include({ delivered: [DELIVERED[1]], letters: ['event-dead'] })
    expect(old).to.deep.include({ told: ['delivery.expired sample-told', 'delivery.expired sample-told-again'] })
    expect(old).to.deep.include({ unreadLetters: 1, unreadable: 0 })
    const rest = JSON.parse(await next.run(place)) as LogReport
    expect([...old.delivered, ...rest.delivered].toSorted()).to.deep.equal(DELIVERED.toSorted())
    expect(rest).to.deep.include({ letters: ['event-dead'], unreadLetters: 0, held: [], unreadable: 0 })
    expect(rest.rows).to.include({ visits: 1, installs: 1, install_decisions: 1, poison_records: 0 })
    // Each release wrote a failure and an activity of its own; all other samples are the same.
    const told = [...TOLD, 'delivery.failed event-failed', 'limit.reached visits'].sort()
    expect([...old.told, ...rest.told].toSorted()).to.deep.equal(told)
    expect(rest).to.deep.include({ mailed: MAILED, replays: ['sample-replay'] })
  })
})
