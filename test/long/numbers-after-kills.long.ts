/** What pages show after the writers of facts and figures were killed again and again, against a count that knows neither. */

import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { trafficOfDay } from '../../bin/example-data/traffic.ts'
import { connectTools } from '../../bin/tools/control.ts'
import type { LiveTools } from '../../bin/tools/live.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import { INSTALL_TIME_BUCKETS_S } from '../../domain/figures/cells.ts'
import type { Install } from '../../domain/model.ts'
import { encodeRecord, recordKey, type LogRecord, type RecordTopic } from '../../domain/records.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { deliveryRecord } from '../contract/fact-samples.ts'
import { startChild, type ServiceChild } from '../crash/service.child.ts'
import { organizationOf, websiteOf } from '../dashboard/support/stage.ts'
import { openChromium } from '../sdk/support/browsers.ts'

const KILLS = 20
const DAYS = 20
const LONGEST_LIFE_MS = 4_000
/** Every so often it is killed during its start, in which roles take up what the last kill left. */
const KILL_AT_START_EVERY = 5
const LONGEST_START_MS = 2_000
const ENTRIES_AT_ONCE = 50
const DAY_MS = 86_400_000
/** Thirty days, today included, by the clock of UTC. */
const THIRTY_DAYS = `from=${new Date(Date.now() - 29 * DAY_MS).toISOString().slice(0, 10)}`
const STATE_TRIES = 20
const SITE = { website: 'acme-docs', organization: 'acme' }
const OWNER = 'owner@acme.dev'

const TOPICS: Readonly<Record<string, RecordTopic>> = {
  visit: 'visits',
  activation: 'activations',
  handoff: 'handoffs',
  install: 'installs',
  delivery: 'deliveries',
}

/** Up to now, in an order in which each life of the service adds to every hour. */
function allRecords(nowMs: number): readonly LogRecord[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const keyId = createKeyring([TEST_SECRET]).currentKeyId
  const days = Array.from({ length: DAYS }, (_, day) =>
    trafficOfDay({ ...SITE, seed: 1, dayMs: today - (day + 1) * DAY_MS, untilMs: today, keyId }),
  )
  const past = days.flat().filter((record) => 'request' in record && record.request.receivedAtMs < nowMs)
  return [...past, ...past.flatMap(deliveriesOf)]
    .map((record, place) => ({ record, turn: place % KILLS }))
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ record }) => record)
}

const OUTCOMES = ['delivered', 'failed', 'expired'] as const

/** Two states of a delivery for each matched install; which one was written first is up to the kills. */
function deliveriesOf(record: LogRecord, place: number): readonly LogRecord[] {
  if (record.kind !== 'install' || record.install.resolution !== 'matched') return []
  const { eventId, receivedAtMs } = record.install
  const status = OUTCOMES[place % OUTCOMES.length]!
  const about = { ...SITE, eventId, jobId: `job-${eventId}`, installReceivedAtMs: receivedAtMs } as const
  return [
    deliveryRecord({ ...about, status: 'retrying', reason: 'attempt_failed', atMs: receivedAtMs + 1_000, attempts: 1 }),
    deliveryRecord({ ...about, status, reason: REASONS[status], atMs: receivedAtMs + 60_000, attempts: 2 }),
  ]
}
const REASONS = { delivered: '', failed: 'refused', expired: 'deadline_passed' } as const

const keyOf = (record: LogRecord): string => {
  if (record.kind === 'visit') return recordKey(record.visit, record.visit.visitId)
  if (record.kind === 'install') return recordKey(record.install, record.install.eventId)
  if (record.kind === 'delivery') return recordKey(record, record.eventId)
  return record.kind === 'activation' || record.kind === 'handoff' ? recordKey(record, record.visitId) : ''
}

describe('numbers on pages', function () {
  this.timeout(900_000)
  let folder: string
  let child: ServiceChild | null = null
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-numbers-'))
    await mkdir(join(folder, 'manifests'))
    const manifests = organizationOf('acme', { members: { [OWNER]: 'Owner' } }) + websiteOf(SITE.website, 'acme')
    await writeFile(join(folder, 'manifests', 'acme.yaml'), manifests)
  })
  after(async () => {
    child?.kill('SIGTERM')
    await child?.ended
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  const start = async (): Promise<ServiceChild> => {
    child = startChild({ folder, port: await freePort(), ga4Url: 'http://127.0.0.1:9' })
    return child
  }

  const tools = async (): Promise<LiveTools> => {
    const found = await connectTools(join(folder, 'data'))
    if (found === null) throw new Error('the service does not answer')
    return found
  }

  /** Appends until all is appended, or the service is gone; gives what was not acknowledged. */
  const append = async (records: readonly LogRecord[]): Promise<readonly LogRecord[]> => {
    const live = await tools().catch(() => null)
    if (live === null) return records
    for (let from = 0; from < records.length; from += ENTRIES_AT_ONCE) {
      const some = records.slice(from, from + ENTRIES_AT_ONCE)
      try {
        for (const [kind, own] of Map.groupBy(some, (record) => record.kind)) {
          const entries = own.map((record) => ({ key: keyOf(record), value: encodeRecord(record) }))
          await live.append(TOPICS[kind] ?? 'visits', entries)
        }
      } catch {
        return records.slice(from)
      }
    }
    return []
  }

  /** Begins with what an earlier life did not acknowledge; how many records are left then. */
  const liveAndDie = async (life: number, records: readonly LogRecord[]): Promise<readonly LogRecord[]> => {
    const service = await start()
    const isAtStart = life % KILL_AT_START_EVERY === KILL_AT_START_EVERY - 1
    if (isAtStart) {
      await Promise.race([wait(randomInt(LONGEST_START_MS)), service.ready])
      service.kill('SIGKILL')
      await service.ended
      return records
    }
    await service.ready
    const appended = append(records)
    await wait(randomInt(LONGEST_LIFE_MS))
    service.kill('SIGKILL')
    const { signal } = await service.ended
    expect(signal, service.stderr()).to.equal('SIGKILL')
    return appended
  }

  it(`are those of the records, after ${KILLS} kills while facts were written and hours counted`, async () => {
    const nowMs = Date.now()
    const records = allRecords(nowMs)
    const share = Math.ceil(records.length / KILLS)
    let left: readonly LogRecord[] = []
    let cutOff = 0
    for (let life = 0; life < KILLS; life++) {
      left = await liveAndDie(life, [...left, ...records.slice(life * share, (life + 1) * share)])
      if (left.length > 0) cutOff += 1
    }
    const service = await start()
    await service.ready
    const hoursCounted = (await (await tools()).run('dirtyHours', { until_ms: nowMs, limit: 1_000 })).length
    expect(await append(left)).to.deep.equal([])
    await settled(await tools(), records)

    const chromium = await openChromium()
    try {
      const page = await chromium.context.newPage()
      page.setDefaultTimeout(60_000)
      await page.goto(await (await tools()).signInLink({ email: OWNER, ownerOf: null }))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL('**/app/**')
      const expected = countedBy(records)
      expect(await funnelOf(page, service.url)).to.deep.equal(expected.funnel)
      expect(await sourcesOf(page, service.url)).to.deep.equal(expected.sources)
      expect(await matchOf(page, service.url)).to.deep.equal(expected.match)
      expect(await agentsOf(page, service.url)).to.deep.equal(expected.agents)
      expect(await usageOf(page, service.url)).to.deep.equal(expected.usage)
      expect(await checklistOf(page, service.url)).to.deep.equal(expected.checklist)
      // That each delivery has a row says nothing about its last state.
      let deliveries = await deliveriesShown(page, service.url)
      for (let tries = 1; tries < STATE_TRIES && !isDeepStrictEqual(deliveries, expected.deliveries); tries++) {
        await wait(1_000)
        deliveries = await deliveriesShown(page, service.url)
      }
      expect(deliveries).to.deep.equal(expected.deliveries)
    } finally {
      await chromium.close()
    }
    console.log(
      `        ${records.length} records; ${cutOff} of ${KILLS} kills left some unacknowledged, ${hoursCounted} hours were to be counted after the last`,
    )
    expect(cutOff).to.be.greaterThan(0)
  })
})

/** Resolves when all facts are stored, and every hour is counted again that they change. */
async function settled(tools: LiveTools, records: readonly LogRecord[]): Promise<void> {
  const wanted = records.filter(({ kind }) => kind === 'visit').length
  // Deliveries have no request of their own, and two states each.
  const requests = records.filter((record) => 'request' in record).length
  const deliveries = records.filter(({ kind }) => kind === 'delivery').length / 2
  await until(async () => {
    await wait(500)
    const [counts] = await tools.run('counts', {})
    const open = await tools.run('dirtyHours', { until_ms: Date.now() - 3_600_000, limit: 1 })
    const isStored =
      counts !== undefined &&
      counts.visits >= wanted &&
      counts.request_logs >= requests &&
      counts.deliveries >= deliveries
    return isStored && open.length === 0
  })
}

/** Counted from the records themselves: no engine, no figures by hour. */
function countedBy(records: readonly LogRecord[]) {
  const visits = records.flatMap((record) => (record.kind === 'visit' ? [record.visit] : []))
  const idsOf = (kind: 'activation' | 'handoff'): ReadonlySet<string> =>
    new Set(records.flatMap((record) => (record.kind === kind ? [record.visitId] : [])))
  const installs = records.flatMap((record) => (record.kind === 'install' ? [record.install] : []))
  const activated = idsOf('activation')
  const copied = idsOf('handoff')
  const matched = installs.filter(({ resolution }) => resolution === 'matched')
  const installed = new Set(matched.map(({ visitId }) => visitId))
  const reached = (ids: ReadonlySet<string | null>, own = visits): number =>
    own.filter(({ visitId }) => ids.has(visitId)).length
  const bySource = Map.groupBy(visits, ({ utm }) => utm.source ?? 'no source named')
  const sources = [...bySource].map(([source, own]) => [
    source,
    own.length,
    reached(copied, own),
    reached(installed, own),
  ])
  return {
    // Visited, marked, copied, started, installed, ran first: the traffic reports neither the beginning nor a first run.
    funnel: [visits.length, reached(activated), reached(copied), 0, reached(installed), 0],
    sources: sources.toSorted(byName),
    match: {
      rate: [matched.length, installs.length],
      // The traffic has no other reason.
      reasons: [installs.length - matched.length],
      timeToInstall: bucketsOf(matched),
    },
    agents: countBy(installs, ({ agent }) => agent ?? 'a person'),
    usage: usageBy(visits, installs),
    checklist: [visits.length, reached(activated), reached(copied), installs.length, matched.length],
    deliveries: lastStates(records),
  }
}

/** In the order of their names. */
function countBy<T>(rows: readonly T[], nameOf: (row: T) => string): readonly (readonly [string, number])[] {
  return [...Map.groupBy(rows, nameOf)].map(([name, own]) => [name, own.length] as const).toSorted(byName)
}

/** How many came within each span from their visit; spans without any are left out. */
function bucketsOf(matched: readonly Install[]): readonly number[] {
  const counts = INSTALL_TIME_BUCKETS_S.map((from, place) => {
    const below = INSTALL_TIME_BUCKETS_S[place + 1] ?? Infinity
    return matched.filter(({ receivedAtMs, visitIssuedAtMs }) => {
      const seconds = Math.floor(receivedAtMs / 1_000) - Math.floor((visitIssuedAtMs ?? 0) / 1_000)
      return seconds >= from && seconds < below
    }).length
  })
  return counts.filter((count) => count > 0)
}

/** Of this UTC month: visits and installs of each day that has any. */
function usageBy(visits: readonly Visit[], installs: readonly Install[]): readonly (readonly number[])[] {
  const now = new Date()
  const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
  const days = Array.from({ length: 31 }, (_, day) => monthMs + day * DAY_MS)
  const isOn = (day: number, ms: number): boolean => ms >= day && ms < day + DAY_MS
  return days
    .map((day) => [
      visits.filter(({ issuedAtMs }) => isOn(day, issuedAtMs)).length,
      installs.filter(({ receivedAtMs }) => isOn(day, receivedAtMs)).length,
    ])
    .filter(([ofVisits = 0, ofInstalls = 0]) => ofVisits + ofInstalls > 0)
}

/** Each delivery by the later one of its states. */
function lastStates(records: readonly LogRecord[]): readonly (readonly [string, number])[] {
  const states = records.flatMap((record) => (record.kind === 'delivery' ? [record] : []))
  const last = [...Map.groupBy(states, ({ jobId }) => jobId).values()].map(
    (own) => own.toSorted((a, b) => b.atMs - a.atMs)[0]!,
  )
  return countBy(last, ({ status }) => TITLES[status as keyof typeof TITLES])
}

/** As the page of deliveries calls them. */
const TITLES = { delivered: 'delivered', failed: 'failed', expired: 'too late' } as const

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1)

/** Only the digits of the first number. */
const numberIn = (text: string | null): number =>
  Number(/[\d,]+/.exec(text ?? '')?.[0].replaceAll(',', '') ?? Number.NaN)

/** In the order of the steps. */
async function funnelOf(page: Page, url: string): Promise<readonly number[]> {
  await page.goto(`${url}/app/acme/funnel?${THIRTY_DAYS}`)
  await page.locator('.funnel .count').nth(5).waitFor()
  return (await page.locator('.funnel .count').allTextContents()).map(numberIn)
}

async function sourcesOf(page: Page, url: string): Promise<readonly (readonly unknown[])[]> {
  await page.goto(`${url}/app/acme/sources?${THIRTY_DAYS}`)
  await page.locator('table.sources tbody tr').first().waitFor()
  const rows = await page.locator('table.sources tbody tr').all()
  const counts = rows.map(async (row) => [
    await row.getByRole('rowheader').textContent(),
    ...(await row.locator('td.number').allTextContents()).slice(0, 3).map(numberIn),
  ])
  return (await Promise.all(counts)).toSorted(byName)
}

interface ShownMatch {
  readonly rate: readonly number[]
  readonly reasons: readonly number[]
  readonly timeToInstall: readonly number[]
}

async function matchOf(page: Page, url: string): Promise<ShownMatch> {
  await page.goto(`${url}/app/acme/match?${THIRTY_DAYS}`)
  const words = await page.getByText(/installs have a visit/).textContent()
  const reasons = await page.locator('.reasons .count').allTextContents()
  // The numbers of the table below the chart.
  const times = await page.locator('figure.columns td').allTextContents()
  return {
    rate: [...(words ?? '').matchAll(/[\d,]+(?= of| install)/g)].map(([text]) => numberIn(text)),
    reasons: reasons.map(numberIn),
    timeToInstall: times.map(numberIn).filter((count) => count > 0),
  }
}

async function agentsOf(page: Page, url: string): Promise<readonly (readonly [string, number])[]> {
  await page.goto(`${url}/app/acme/sources?${THIRTY_DAYS}&by=agent`)
  const rows = page.locator('.breakdown').first().locator('tbody tr')
  await rows.first().waitFor()
  const shown = (await rows.all()).map(
    async (row) =>
      [
        (await row.getByRole('rowheader').textContent()) ?? '',
        numberIn(await row.getByRole('link').textContent()),
      ] as const,
  )
  return (await Promise.all(shown)).toSorted(byName)
}

async function usageOf(page: Page, url: string): Promise<readonly (readonly number[])[]> {
  await page.goto(`${url}/app/acme/usage`)
  await page.locator('.tiles').waitFor()
  const rows = (await page.locator('table.days tbody tr').all()).map(async (row) =>
    (await row.locator('td.number').allTextContents()).map(numberIn),
  )
  return Promise.all(rows)
}

/** Visits, marked, copied, reported and matched. */
async function checklistOf(page: Page, url: string): Promise<readonly number[]> {
  await page.goto(`${url}/app/acme/checklist`)
  await page.locator('.steps').waitFor()
  return (await page.locator('.step-state').allTextContents()).slice(1, 6).map(numberIn)
}

async function deliveriesShown(page: Page, url: string): Promise<readonly (readonly [string, number])[]> {
  await page.goto(`${url}/app/acme/deliveries?${THIRTY_DAYS}`)
  await page.locator('table.by-destination').waitFor()
  const cells = await page.locator('table.by-destination tbody td').all()
  const shown = cells.map(
    async (cell) => [(await cell.getAttribute('data-title')) ?? '', numberIn(await cell.textContent())] as const,
  )
  return (await Promise.all(shown)).filter(([, count]) => count > 0).toSorted(byName)
}
