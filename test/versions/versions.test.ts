/** Releases share a log: each reads what the one before it wrote, and waits before what only the next one can read. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { NOTICED_TOPICS } from '../../delivery/webhooks/notice.ts'
import { readRecord, type ReadableKind } from '../../domain/read-record.ts'
import { RECORD_TOPICS } from '../../domain/records.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import { makeNextRelease, type Release } from './next-release.ts'
import { appendTo, readLog, type LogReport } from './read-log.ts'
import { laterEntries, sampleEntries, type SampleEntry } from './samples.ts'

/** What the first release wrote, kept as it stood on its log. */
const FIRST_RELEASE = new URL('../vectors/records-of-0.1.0.json', import.meta.url)

const KINDS: Readonly<Record<string, ReadableKind>> = {
  visits: 'visit',
  activations: 'activation',
  installs: 'install',
  deliveries: 'delivery',
  activity: 'activity',
  handoffs: 'fact',
  requests: 'fact',
  'deliver.ga4': 'job',
  'dispatch.5s': 'parkedInstall',
  'dead-letters': 'deadLetter',
}
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

const LATER_ROWS = { install_decisions: 1 } as const
const MAILED = ['sample-mail', 'sample-mail-again']
const TOLD_OF_FIRST = ['delivery.failed event-failed', 'install.matched event-fresh', 'limit.reached visits']
const TOLD = [
  'delivery.expired sample-told',
  'delivery.expired sample-told-again',
  'delivery.failed event-failed',
  'install.matched event-fresh',
  'limit.reached visits',
]
/** The waiting activation keeps waiting: its visit is not there. */
const ALL_READ = { mailed: MAILED, told: TOLD, replays: ['sample-replay'], behind: ['state state.30s'] }

const DELIVERED = ['event-fresh', 'event-job', 'event-parked'].map((eventId) => jobOf({ install: { eventId } }).jobId)

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
    const { rows, delivered, ...rest } = report
    expect(delivered.toSorted()).to.deep.equal(DELIVERED.toSorted())
    expect(rows).to.include({ visits: 1, activations: 1, handoffs: 1, installs: 1, activity: 1 })
    // Of the sample itself, and of what became of the three deliveries.
    expect(rows['deliveries']).to.equal(4)
    const done = {
      mailed: [],
      told: TOLD_OF_FIRST,
      replays: [],
      letters: ['event-dead'],
      unreadLetters: 0,
      behind: [],
      held: [],
      unreadable: 0,
    }
    expect(rest).to.deep.equal({ ...done, ...more })
  }
  const firstRelease = async (): Promise<readonly SampleEntry[]> =>
    JSON.parse(await readFile(FIRST_RELEASE, 'utf8')) as readonly SampleEntry[]

  it('reads everything that the first release wrote', async () => {
    const entries = await firstRelease()
    expect(entries.map(({ topic }) => topic)).to.deep.equal(sampleEntries().map(({ topic }) => topic))
    for (const { topic, value } of entries) {
      expect(readRecord(KINDS[topic] ?? 'fact', value).kind, topic).to.equal('record')
    }
    const place = join(folder, 'first')
    await appendTo(place, entries)
    const report = await readLog(place)
    expectAllDone(report)
    expect(report.rows).to.include({ poison_records: 0 })
  })

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
    expectAllDone(report, ALL_READ)
    expect(report.rows).to.include({ ...LATER_ROWS, poison_records: 0 })
  })

  it('leaves to a later release what this one wrote', async () => {
    const place = join(folder, 'upgrade')
    await appendTo(place, [...sampleEntries(), ...laterEntries()])
    const report = JSON.parse(await next.run(place)) as LogReport
    expectAllDone(report, ALL_READ)
    expect(report.rows).to.include({ ...LATER_ROWS, poison_records: 0 })
  })

  it('continues past what no release can read, in every topic, and counts it', async () => {
    const place = join(folder, 'broken')
    const whole = [...sampleEntries(), ...laterEntries()]
    const broken = whole.flatMap(({ topic, key }) => ['{"v":1', '{"v":1}'].map((value) => ({ topic, key, value })))
    await appendTo(place, [...broken, ...whole])
    const report = await readLog(place)
    const byFactsWriter = 2 * RECORD_TOPICS.length
    // The facts-writer keeps those of its topics.
    const unreadable = 2 * READ_BY.length - byFactsWriter
    expectAllDone(report, { ...ALL_READ, unreadLetters: 2, unreadable })
    expect(report.rows).to.include({ ...LATER_ROWS, poison_records: byFactsWriter })
  })

  it('continues with what is before a record of a later release, which then does the rest, and nothing twice', async () => {
    const place = join(folder, 'between')
    await appendTo(place, sampleEntries())
    await next.run('write', place)
    const old = await readLog(place)
    expect(old.held).to.deep.equal(READ_BY)
    expect(old.rows).to.include({ visits: 1, activations: 1, handoffs: 1, installs: 1, activity: 1, poison_records: 0 })
    // The other two jobs come after one of the later release, and so do those for webhooks.
    expect(old).to.deep.include({ delivered: [DELIVERED[1]], told: [], letters: ['event-dead'] })
    expect(old).to.deep.include({ unreadLetters: 1, unreadable: 0 })
    const rest = JSON.parse(await next.run(place)) as LogReport
    expect([...old.delivered, ...rest.delivered].toSorted()).to.deep.equal(DELIVERED.toSorted())
    expect(rest).to.deep.include({ letters: ['event-dead'], unreadLetters: 0, held: [], unreadable: 0 })
    expect(rest.rows).to.include({ visits: 1, installs: 1, ...LATER_ROWS, poison_records: 0 })
    // Each release wrote a failure and an activity of its own; all other samples are the same.
    const told = [...TOLD, 'delivery.failed event-failed', 'limit.reached visits'].sort()
    expect(rest).to.deep.include({ mailed: MAILED, told, replays: ['sample-replay'] })
  })
})
