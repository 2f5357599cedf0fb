/** What pages show after the writers of facts and figures were killed again and again, against a count that knows neither. */

import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'
import type { Page } from 'playwright-core'

import { trafficOfDay } from '../../bin/example-data/traffic.ts'
import { connectTools } from '../../bin/tools/control.ts'
import type { LiveTools } from '../../bin/tools/live.ts'
import { encodeRecord, recordKey, type LogRecord, type RecordTopic } from '../../domain/records.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { createKeyring } from '../../runtime/keyring.ts'
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
const SITE = { website: 'acme-docs', organization: 'acme' }
const OWNER = 'owner@acme.dev'

const TOPICS: Readonly<Record<string, RecordTopic>> = {
  visit: 'visits',
  activation: 'activations',
  handoff: 'handoffs',
  install: 'installs',
}

/** Up to now, in an order in which each life of the service adds to every hour. */
function allRecords(nowMs: number): readonly LogRecord[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const keyId = createKeyring([TEST_SECRET]).currentKeyId
  const days = Array.from({ length: DAYS }, (_, day) =>
    trafficOfDay({ ...SITE, seed: 1, dayMs: today - (day + 1) * DAY_MS, keyId }),
  )
  const past = days.flat().filter((record) => 'request' in record && record.request.receivedAtMs < nowMs)
  return past
    .map((record, place) => ({ record, turn: place % KILLS }))
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ record }) => record)
}

const keyOf = (record: LogRecord): string => {
  if (record.kind === 'visit') return recordKey(record.visit.website, record.visit.visitId)
  if (record.kind === 'install') return recordKey(record.install.website, record.install.eventId)
  return record.kind === 'activation' || record.kind === 'handoff' ? recordKey(record.website, record.visitId) : ''
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
  await until(async () => {
    await wait(500)
    const [counts] = await tools.run('counts', {})
    const open = await tools.run('dirtyHours', { until_ms: Date.now() - 3_600_000, limit: 1 })
    return (counts?.visits ?? 0) >= wanted && (counts?.request_logs ?? 0) >= records.length && open.length === 0
  })
}

/** Counted from the records themselves: no engine, no figures by hour. */
function countedBy(records: readonly LogRecord[]) {
  const visits = records.flatMap((record) => (record.kind === 'visit' ? [record.visit] : []))
  const idsOf = (kind: 'activation' | 'handoff'): ReadonlySet<string> =>
    new Set(records.flatMap((record) => (record.kind === kind ? [record.visitId] : [])))
  const installs = records.flatMap((record) => (record.kind === 'install' ? [record.install] : []))
  const [activated, copied] = [idsOf('activation'), idsOf('handoff')]
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
    match: [matched.length, installs.length],
  }
}

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1)

/** Only the digits of the first number. */
const numberIn = (text: string | null): number =>
  Number(/[\d,]+/.exec(text ?? '')?.[0].replaceAll(',', '') ?? Number.NaN)

/** In the order of the steps. */
async function funnelOf(page: Page, url: string): Promise<readonly number[]> {
  await page.goto(`${url}/app/acme/funnel?days=30`)
  await page.locator('.funnel .count').nth(5).waitFor()
  return (await page.locator('.funnel .count').allTextContents()).map(numberIn)
}

async function sourcesOf(page: Page, url: string): Promise<readonly (readonly unknown[])[]> {
  await page.goto(`${url}/app/acme/sources?days=30`)
  await page.locator('table.sources tbody tr').first().waitFor()
  const rows = await page.locator('table.sources tbody tr').all()
  const counts = rows.map(async (row) => [
    await row.getByRole('rowheader').textContent(),
    ...(await row.locator('td.number').allTextContents()).slice(0, 3).map(numberIn),
  ])
  return (await Promise.all(counts)).toSorted(byName)
}

async function matchOf(page: Page, url: string): Promise<readonly number[]> {
  await page.goto(`${url}/app/acme/match?days=30`)
  const words = await page.getByText('install events have a visit').textContent()
  return [...(words ?? '').matchAll(/[\d,]+(?= of| install)/g)].map(([text]) => numberIn(text))
}
