/** Lists of installs whose events were recorded again at another time, after answers about them were forgotten: each is listed once, by its first record. */

import { expect } from 'chai'
import { newestInstalls } from '../../bin/tools/lists/newest-installs.ts'
import { readInstallPage } from '../../dashboard/installs/list.ts'
import type { OrganizationFacts } from '../../dashboard/reads/scope.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { visitIdTime } from '../../domain/receipt.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import type { InstallFilters } from '../../ports/facts/pages/installs.ts'
import { installRecord, store } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'

const NOW_MS = Date.UTC(2040, 6, 20, 12)
const WEBSITE = 'site-repeats'
const OTHER_WEBSITE = 'site-repeats-too'
const ORGANIZATION = 'org-repeats'

describe('installs that were recorded again', () => {
  let facts: TestFacts
  let offset = 0
  before(async () => {
    facts = await openTestFacts()
    // A merge would leave the first record alone.
    await facts.connection.command('SYSTEM STOP MERGES')
  })
  after(() => facts.close())
  beforeEach(() => facts.connection.command('TRUNCATE TABLE installs'))

  /** This many events, a millisecond apart. */
  const record = async (name: string, many: number, firstMs: number): Promise<void> => {
    const records = Array.from({ length: many }, (_, index) =>
      installRecord({
        website: WEBSITE,
        organization: ORGANIZATION,
        eventId: `${name}-event-${index}`,
        receivedAtMs: firstMs + index,
      }),
    )
    await store(facts, records, (offset += 10_000))
  }

  /** By pages of 200, as a person reads them. */
  const listed = async (sinceMs: number, filters: InstallFilters = {}): Promise<readonly string[]> => {
    const scope = { websites: [WEBSITE, OTHER_WEBSITE], organization: ORGANIZATION }
    const run = (name: 'installKeys', params: object) => facts.run(name, { ...params, ...scope } as never)
    const reads = { run } as unknown as OrganizationFacts
    const ids: string[] = []
    let from: LogPosition | null = { beforeMs: NOW_MS, beforeId: '' }
    while (from !== null) {
      const page = await readInstallPage(reads, { filters, sinceMs, from, limit: 200 }, { elapsedMs: () => 0 })
      expect(page.rows.length).to.be.at.most(200)
      ids.push(...page.rows.map(({ install }) => install.event_id))
      from = page.next
    }
    return ids
  }

  const counts = (ids: readonly string[]): Record<string, number> =>
    Object.fromEntries(
      [...Map.groupBy(ids, (id) => id.split('-')[0] ?? '')].map(([name, all]) => [name, new Set(all).size]),
    )

  it('are listed once each, and hide none of the others, however many there are', async () => {
    await record('old', 450, NOW_MS - 40 * DAY_MS)
    await record('old', 450, NOW_MS - HOUR_MS)
    await record('fresh', 100, NOW_MS - 3 * HOUR_MS)
    const all = await listed(NOW_MS - 90 * DAY_MS)
    expect(all).to.have.length(550)
    expect(counts(all)).to.deep.equal({ fresh: 100, old: 450 })
    expect(counts(await listed(NOW_MS - 2 * DAY_MS))).to.deep.equal({ fresh: 100 })
  })

  it('do not end a page that is nearly full', async () => {
    await record('today', 199, NOW_MS - 2 * HOUR_MS)
    await record('yesterday', 50, NOW_MS - 30 * HOUR_MS)
    await record('repeated', 2, NOW_MS - 40 * DAY_MS)
    await record('repeated', 2, NOW_MS - 29 * HOUR_MS)
    const all = await listed(NOW_MS - 90 * DAY_MS)
    expect(all).to.have.length(251)
    expect(counts(all)).to.deep.equal({ today: 199, yesterday: 50, repeated: 2 })
  })

  it('are not taken for one another if two websites have the same event in the same millisecond, at the end of a page', async () => {
    const of = (website: string, index: number) =>
      installRecord({
        website,
        organization: ORGANIZATION,
        eventId: `twin-event-${String(index).padStart(4, '0')}`,
        receivedAtMs: NOW_MS - HOUR_MS + index,
      })
    const records = Array.from({ length: 300 }, (_, index) => of(WEBSITE, index))
    for (const website of [WEBSITE, OTHER_WEBSITE]) {
      await store(facts, website === WEBSITE ? records : [of(website, 100)], offset)
      offset += 10_000
    }
    // The 200th of the newest is one of two.
    expect(await listed(NOW_MS - DAY_MS)).to.have.length(301)
  })

  it('do not hide installs from the commands', async () => {
    await record('old', 450, NOW_MS - 40 * DAY_MS)
    await record('old', 450, NOW_MS - HOUR_MS)
    await record('fresh', 100, NOW_MS - 3 * HOUR_MS)
    const asked = { website: WEBSITE, since_ms: NOW_MS - 90 * DAY_MS, until_ms: NOW_MS }
    const newest = async (limit: number): Promise<readonly string[]> =>
      (await newestInstalls(facts, { ...asked, limit })).map(({ event_id: id }) => id)
    expect(await newest(1)).to.deep.equal(['fresh-event-99'])
    expect(counts(await newest(150))).to.deep.equal({ fresh: 100, old: 50 })
    expect(counts(await newest(10_000))).to.deep.equal({ fresh: 100, old: 450 })
  })

  it('are not found by the age of a visit that they do not have', async () => {
    await store(facts, [
      installRecord({
        website: WEBSITE,
        organization: ORGANIZATION,
        eventId: 'event-unmatched',
        receivedAtMs: NOW_MS - HOUR_MS,
        resolution: 'unmatched',
        visitId: null,
        visitIssuedAtMs: null,
      }),
    ])
    expect(await listed(NOW_MS - DAY_MS)).to.have.length(1)
    for (const filter of [{ least_visit_age_s: 1 }, { visit_age_below_s: 4_000_000_000 }])
      expect(await listed(NOW_MS - DAY_MS, filter)).to.have.length(0)
  })

  it('are found by the whole seconds since their visit, not by the borders of seconds in between', async () => {
    const issuedAtMs = NOW_MS - HOUR_MS - (NOW_MS % 1_000) + 900
    const visitId = `00${visitIdTime(issuedAtMs)}`.padEnd(32, '0')
    for (const ageMs of [200, 999, 1_000, 1_200])
      await store(facts, [
        installRecord({
          website: WEBSITE,
          organization: ORGANIZATION,
          eventId: `event-of-${ageMs}`,
          resolution: 'matched',
          receivedAtMs: issuedAtMs + ageMs,
          visitIssuedAtMs: issuedAtMs,
          visitId,
        }),
      ])
    const found = async (filter: InstallFilters): Promise<readonly string[]> =>
      [...(await listed(NOW_MS - DAY_MS, filter))].toSorted()
    expect(await found({ visit_age_below_s: 1 })).to.deep.equal(['event-of-200', 'event-of-999'])
    expect(await found({ least_visit_age_s: 1 })).to.deep.equal(['event-of-1000', 'event-of-1200'])
  })
})
