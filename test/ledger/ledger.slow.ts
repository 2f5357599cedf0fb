/**
 * The independent ledger: a world happens through the real doors of a service, and every number that people act on must be the one that a
 * book kept beside it has, by every dimension, on every surface.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { startTestService, type TestService } from '../../fixtures/service/service.ts'
import { whencectl } from '../bin/support/run-whencectl.ts'
import {
  chosen,
  countVisits,
  DIMENSIONS,
  keepBook,
  keepBookOfAll,
  rowsBy,
  totalOf,
  type Book,
  type Counts,
  type Period,
  type Rows,
} from './book.ts'
import { letHappen } from './doors.ts'
import { answeredByApi, periodWords, reported, rowsOfCsv, rowsOfReport, VISITS, type Answered } from './surfaces.ts'
import { DAY, HOUR, liveThrough } from './world.ts'

const OWNER = 'owner@acme.dev'
/** Its days and hours begin at half past, in UTC, all year. */
const ZONE = 'Asia/Kolkata'
const AHEAD_MS = 5.5 * HOUR
const MANIFESTS = {
  'acme.yaml': `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: acme }
spec: { displayName: Acme, plan: Enterprise, timeZone: ${ZONE} }
---
apiVersion: whence.dev/v1alpha1
kind: Member
metadata: { name: owner }
spec: { organizationRef: { name: acme }, email: ${OWNER}, role: Owner }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: cli }
spec: { organizationRef: { name: acme } }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: brew }
spec: { organizationRef: { name: acme } }
---
apiVersion: whence.dev/v1alpha1
kind: InstallPath
metadata: { name: old }
spec: { organizationRef: { name: acme }, paused: true }
---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: acme-dev }
spec:
  organizationRef: { name: acme }
  primaryOrigin: https://acme.dev
  additionalDomains: [https://docs.acme.dev]
`,
}

const DAYS = 8
const VISITORS = 180
const SEED = Number(process.env['WHENCE_LEDGER_SEED'] ?? 1)
/** Midnight: rows of days are whole. */
const START_MS = Math.floor((Date.now() + AHEAD_MS) / DAY) * DAY - AHEAD_MS - DAYS * DAY
const PERIODS: Readonly<Record<string, Period>> = {
  'the whole time': { since: START_MS, until: START_MS + DAYS * DAY },
  'its second half': { since: START_MS + 4 * DAY, until: START_MS + DAYS * DAY },
  'some hours': { since: START_MS + 2 * DAY + 5 * HOUR, until: START_MS + 2 * DAY + 16 * HOUR },
}

const wordsOf = ({ since, until }: Period) => ({ since: String(since), until: String(until) })
const isSome = (counts: Counts): boolean => Object.values(counts).some((count) => count > 0)
/** Of rows that count any. */
const visitsOf = (rows: Rows) =>
  Object.fromEntries(
    [...rows].flatMap(([row, { visits }]) => (visits !== null && isSome(visits) ? [[row, visits]] : [])),
  )

/** Two filters at once. */
const PAIRS: readonly Readonly<Record<string, string>>[] = [
  { source: 'newsletter', page: 'https://acme.dev/install' },
  { channel: 'Referral', visitor_platform: 'linux' },
  { campaign: 'show-hn', landing_page: 'https://docs.acme.dev/cli' },
  { country: 'DE', path: 'brew' },
]

describe('the ledger', function () {
  this.timeout(300_000)
  let service: TestService
  let book: Book
  /** With installs from CI, containers and tests. */
  let whole: Book
  let cookie = ''

  before(async () => {
    let nowMs = START_MS
    service = await startTestService({
      manifests: MANIFESTS,
      nowMs: () => nowMs,
      env: { WHENCE_TRUST_PROXY: '127.0.0.1' },
    })
    const world = liveThrough(SEED, { startAt: START_MS, days: DAYS, visitors: VISITORS })
    book = keepBook(world)
    whole = keepBookOfAll(world)
    await letHappen(world, { url: service.url, setTime: (atMs) => (nowMs = Math.max(nowMs, atMs)), testMark })
    nowMs = Date.now()
    await service.drain()
    await untilCounted(() => nowMs)
    cookie = await signIn()
  })
  after(() => service?.stop())

  /** The service counts hours beside this, and what it changes in one hour may change another. */
  async function untilCounted(now: () => number): Promise<void> {
    const dirty = () => service.facts.run('dirtyHours', { until_ms: Math.floor(now() / HOUR) * HOUR, limit: 1 })
    do await rollUp({ facts: service.facts, nowMs: now })
    while ((await dirty()).length > 0)
  }

  async function signIn(): Promise<string> {
    const link = await service.signInLink({ email: OWNER, ownerOf: null })
    const token = /[A-Za-z0-9_-]{43}/.exec(new URL(link).hash + new URL(link).search)?.[0]
    const response = await fetch(`${service.url}/api/sign-in/link`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: service.url },
      body: JSON.stringify({ token }),
    })
    expect(response.status, await response.text()).to.equal(200)
    return response.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ')
  }

  /** A session ends within the time of the world. */
  async function testMark(): Promise<string> {
    const own = await signIn()
    const response = await fetch(`${service.url}/api/organizations/acme/websites/acme-dev/test`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: own, Origin: service.url },
      body: '{}',
    })
    expect(response.status).to.equal(201)
    const { mark } = (await response.json()) as { readonly mark: string }
    return mark
  }

  async function read(page: string, words: Readonly<Record<string, string>>): Promise<unknown> {
    const query = new URLSearchParams({ website: 'acme-dev', ...words })
    const response = await fetch(`${service.url}/api/organizations/acme/${page}?${query.toString()}`, {
      headers: { Cookie: cookie, Origin: service.url },
    })
    const body: unknown = await response.json()
    expect(response.status, JSON.stringify(body)).to.equal(200)
    return body
  }

  async function asked(by: string, period: Period, words: Readonly<Record<string, string>> = {}): Promise<Answered> {
    const body = await read('sources', { by, ...wordsOf(period), ...words })
    return answeredByApi(body as Parameters<typeof answeredByApi>[0])
  }

  /** Visits by several dimensions at once, which are counted piece by piece. */
  async function counted(words: Readonly<Record<string, string>>, period: Period): Promise<Counts> {
    const sums: Record<string, number> = {}
    for (let cursor: string | null = ''; cursor !== null;) {
      const more: Readonly<Record<string, string>> = cursor === '' ? {} : { cursor }
      const body = (await read('visits/counts', { ...wordsOf(period), ...words, ...more })) as {
        readonly counts: Counts
        readonly next: string | null
      }
      for (const name of VISITS) sums[name] = (sums[name] ?? 0) + (body.counts[name] ?? 0)
      cursor = body.next
    }
    return sums
  }

  const report = (period: Period, ...words: readonly string[]) =>
    whencectl(['report', '--data', join(service.folder, 'data'), '--time-zone', ZONE, ...periodWords(period), ...words])

  it('shares nothing with the product', async () => {
    for (const name of ['world.ts', 'book.ts', 'doors.ts']) {
      const text = await readFile(new URL(name, import.meta.url), 'utf8')
      const from = [...text.matchAll(/ from '([^']+)'/g)].map(([, place]) => place)
      expect(
        from.filter((place) => place !== './world.ts' && !place?.startsWith('node:')),
        name,
      ).to.deep.equal([])
    }
  })

  it('has something of everything, or it would prove nothing', () => {
    const { installs, visits } = totalOf(book, { since: START_MS, until: START_MS + DAYS * DAY })
    const { pending: _, ...counts } = { ...installs, ...visits }
    for (const [name, count] of Object.entries(counts)) expect(count, name).to.be.greaterThan(0)
  })

  for (const [name, period] of Object.entries(PERIODS)) {
    it(`has the totals of the pages, over ${name}`, async () => {
      expect((await asked('source', period)).total).to.deep.equal(totalOf(book, period))
    })
  }

  for (const dimension of DIMENSIONS) {
    it(`has every row of the page Sources by ${dimension}, and they add up`, async () => {
      for (const [name, period] of Object.entries(PERIODS)) {
        const { rows, total } = await asked(dimension, period)
        const kept = rowsBy(book, dimension, period)
        expect(Object.fromEntries(rows), name).to.deep.equal(Object.fromEntries(kept))
        const sum = [...rows.values()].reduce((all, { installs }) => all + (installs['installs'] ?? 0), 0)
        expect(sum, name).to.equal(total.installs['installs'])
      }
    })
  }

  for (const words of PAIRS) {
    const [first, second] = Object.entries(words).map(([name, word]) => `${name} "${word}"`)
    it(`has the visits and installs of ${first} and ${second} together`, async () => {
      for (const [name, period] of Object.entries(PERIODS)) {
        const kept = chosen(book, words)
        if (!('country' in words)) {
          expect(await counted(words, period), name).to.deep.equal(
            countVisits(
              book,
              kept.visitors.filter(({ at }) => at >= period.since && at < period.until),
            ),
          )
        }
        const { rows, total } = await asked('medium', period, words)
        expect(total.installs, name).to.deep.equal(totalOf(kept, period).installs)
        const installs = [...rowsBy(kept, 'medium', period)].map(([row, each]) => [row, each.installs])
        const shown = [...rows].map(([row, each]) => [row, each.installs])
        expect(Object.fromEntries(shown), name).to.deep.equal(
          Object.fromEntries(installs.filter(([, counts]) => isSome(counts as Counts))),
        )
      }
    })
  }

  it('has the installs of CI, containers and tests beside the others if they are asked for, and the same visits', async () => {
    for (const [name, period] of Object.entries(PERIODS)) {
      for (const dimension of ['source', 'page', 'country'] as const) {
        const body = await read('sources', { by: dimension, ...wordsOf(period), leftOut: 'include' })
        const { rows, total } = answeredByApi(body as Parameters<typeof answeredByApi>[0])
        expect(total.installs, name).to.deep.equal(totalOf(whole, period).installs)
        expect(total.visits, name).to.deep.equal(totalOf(book, period).visits)
        const left = Number(total.installs['installs']) - Number(totalOf(book, period).installs['installs'])
        expect((body as { readonly leftOut: number }).leftOut, name).to.equal(left)
        const installs = [...rows].map(([row, each]) => [row, each.installs])
        const kept = [...rowsBy(whole, dimension, period)].map(([row, each]) => [row, each.installs])
        expect(Object.fromEntries(installs), `${name}, ${dimension}`).to.deep.equal(Object.fromEntries(kept))
        expect(visitsOf(rows), `${name}, ${dimension}`).to.deep.equal(visitsOf(rowsBy(book, dimension, period)))
      }
    }
  })

  it('has what the command line reports with them', async () => {
    const period = { since: START_MS, until: START_MS + DAYS * DAY }
    const said = await report(period, '--by', 'path', '--json', '--include-left-out')
    const lines = rowsOfReport(said, 'path')
    for (const [row, { installs }] of rowsBy(whole, 'path', period)) {
      const { is, mustBe } = reported({ installs, visits: null }, lines.get(row))
      expect(is, row).to.deep.equal(mustBe)
    }
    const text = await report(period, '--by', 'path')
    const { installs } = totalOf(book, period).installs
    const left = Number(totalOf(whole, period).installs['installs']) - Number(installs)
    expect(text.stderr).to.include(`Not counted: ${left} installs from CI, containers and tests. --include-left-out`)
  })

  it('has what the command line reports, as JSON and as CSV', async () => {
    const period = { since: START_MS, until: START_MS + DAYS * DAY }
    for (const dimension of DIMENSIONS) {
      const asJson = rowsOfReport(await report(period, '--by', dimension, '--json'), dimension)
      const asCsv = rowsOfCsv(await report(period, '--by', dimension, '--csv'))
      const kept = new Map([...rowsBy(book, dimension, period), ['total ', totalOf(book, period)]])
      expect([...asJson.keys()].sort(), dimension).to.deep.equal([...kept.keys()].sort())
      for (const [row, counts] of kept) {
        for (const line of [asJson.get(row), asCsv.get(row)]) {
          const { is, mustBe } = reported(counts, line)
          expect(is, `${dimension}: ${row}`).to.deep.equal(mustBe)
        }
      }
    }
  })

  it('has every day of the report', async () => {
    const period = { since: START_MS, until: START_MS + DAYS * DAY }
    const days = rowsOfReport(await report(period, '--by', 'day', '--json'), 'day')
    for (let day = 0; day < DAYS; day += 1) {
      const since = START_MS + day * DAY
      const { is, mustBe } = reported(
        totalOf(book, { since, until: since + DAY }),
        days.get(`value ${new Date(since + AHEAD_MS).toISOString().slice(0, 10)}`),
      )
      expect(is, `day ${day}`).to.deep.equal(mustBe)
    }
  })
})
