/** Releases share a log: each reads what the one before it wrote, and waits in front of what only the next one can read. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { readRecord, type ReadableKind } from '../../domain/read-record.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import { makeNextRelease, type Release } from './next-release.ts'
import { appendTo, readLog, type LogReport } from './read-log.ts'
import { laterEntries, sampleEntries, type SampleEntry } from './samples.ts'

/** What the first release wrote, kept as it stood on its log. */
const FIRST_RELEASE = new URL('../vectors/records-of-0.1.0.json', import.meta.url)

const KINDS: Readonly<Record<string, ReadableKind>> = {
  ...{ visits: 'visit', activations: 'activation', installs: 'install', deliveries: 'delivery', activity: 'activity' },
  ...{ handoffs: 'fact', requests: 'fact', 'deliver.ga4': 'job', 'dispatch.5s': 'parkedInstall' },
  ...{ 'dead-letters': 'deadLetter', 'state.5s': 'waitingActivation' },
}
/** Each topic that is read by a role. */
const READ_BY = [
  ...['activations', 'activity', 'deliveries', 'handoffs', 'installs', 'requests', 'visits'].map(
    (topic) => `facts-writer ${topic}`,
  ),
  ...['dispatch installs', 'dispatch dispatch.5s', 'deliver.ga4 deliver.ga4', 'state activations', 'state state.5s'],
].sort()

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
    expect(rows).to.include({ visits: 1, activations: 1, handoffs: 1, installs: 1, activity: 1, poison_records: 0 })
    // Of the sample itself, and of what became of the three deliveries.
    expect(rows['deliveries']).to.equal(4)
    const done = { letters: ['event-dead'], unreadLetters: 0, behind: [], held: [], unreadable: 0 }
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
    expectAllDone(await readLog(place))
  })

  it('stops in front of what a later release wrote, passes over nothing, and leaves it to that release', async () => {
    const place = join(folder, 'meeting')
    await next.run('write', place)
    const old = await readLog(place)
    expect(old.held).to.deep.equal(READ_BY)
    expect(old.behind).to.deep.equal(READ_BY)
    expect(old).to.deep.include({ delivered: [], letters: [], unreadLetters: 1, unreadable: 0 })
    expect(Object.values(old.rows)).to.deep.equal(Object.values(old.rows).map(() => 0))
    // The waiting activation keeps waiting: its visit is not there.
    expectAllDone(JSON.parse(await next.run(place)) as LogReport, { behind: ['state state.30s'] })
  })

  it('leaves to a later release what this one wrote', async () => {
    const place = join(folder, 'upgrade')
    await appendTo(place, [...sampleEntries(), ...laterEntries()])
    expectAllDone(JSON.parse(await next.run(place)) as LogReport, { behind: ['state state.30s'] })
  })

  it('continues with what is before a record of a later release, which then does the rest, and nothing twice', async () => {
    const place = join(folder, 'between')
    await appendTo(place, sampleEntries())
    await next.run('write', place)
    const old = await readLog(place)
    expect(old.held).to.deep.equal(READ_BY)
    expect(old.rows).to.include({ visits: 1, activations: 1, handoffs: 1, installs: 1, activity: 1, poison_records: 0 })
    // The other two jobs came to lie behind one of the later release.
    expect(old).to.deep.include({ delivered: [DELIVERED[1]], letters: ['event-dead'], unreadLetters: 1, unreadable: 0 })
    const rest = JSON.parse(await next.run(place)) as LogReport
    expect([...old.delivered, ...rest.delivered].toSorted()).to.deep.equal(DELIVERED.toSorted())
    expect(rest).to.deep.include({ letters: ['event-dead'], unreadLetters: 0, held: [], unreadable: 0 })
    expect(rest.rows).to.include({ visits: 1, installs: 1, poison_records: 0 })
  })
})
