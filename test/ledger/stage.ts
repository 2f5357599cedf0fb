/** The service in which a world of the ledger happens, and the ways to ask it afterwards. */

import { join } from 'node:path'

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { startTestService, type TestService } from '../../fixtures/service/service.ts'
import { whencectl, type Ran } from '../bin/support/run-whencectl.ts'
import { apiKeyOf, specTime } from '../dashboard/support/stage.ts'
import type { Period } from './book.ts'
import { startOf, ZONE } from './calendar.ts'
import { letHappen } from './doors.ts'
import { periodWords } from './surfaces.ts'
import { DAY, HOUR, liveThrough, type World } from './world.ts'

const OWNER = 'owner@acme.dev'
const KEY = apiKeyOf('reader', { organization: 'acme', expiresAt: specTime(Date.now() + 30 * DAY) })
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
${KEY.text}`,
}

const VISITORS = 180
const SEED = Number(process.env['WHENCE_LEDGER_SEED'] ?? 1)
export const DAYS = 8
/** Midnight: rows of days are whole. */
export const START_MS = startOf('day', Date.now()) - DAYS * DAY
export const ALL: Period = { since: START_MS, until: START_MS + DAYS * DAY }
export const PERIODS: Readonly<Record<string, Period>> = {
  'the whole time': ALL,
  'its second half': { since: START_MS + 4 * DAY, until: START_MS + DAYS * DAY },
  'some hours': { since: START_MS + 2 * DAY + 5 * HOUR, until: START_MS + 2 * DAY + 16 * HOUR },
}

/** Words of a question; those of one name may be several. */
export type Words = Readonly<Record<string, string | readonly string[]>>

export interface Ledger {
  readonly world: World
  /** When everything has happened and the service is asked; Unix ms. */
  readonly now: number
  /** A page of the dashboard, asked about the website by the owner. */
  readonly read: (page: string, words: Words) => Promise<unknown>
  /** As a program asks with its key. */
  readonly readByKey: (page: string, words: Words, accept?: string) => Promise<Response>
  /** What the command line reports. */
  readonly report: (period: Period, ...words: readonly string[]) => Promise<Ran>
  readonly stop: () => Promise<void>
}

export const wordsOf = ({ since, until }: Period) => ({ since: String(since), until: String(until) })

/** Starts it before the tests of the suite and stops it after them. */
export function useLedger(): () => Ledger {
  let ledger: Ledger | undefined
  before(async () => {
    ledger = await startLedger()
  })
  after(() => ledger?.stop())
  return () => {
    if (ledger === undefined) throw new Error('the world has not happened')
    return ledger
  }
}

/** Lets the world happen and waits until all of it is counted. */
async function startLedger(): Promise<Ledger> {
  let nowMs = START_MS
  const service = await startTestService({
    manifests: MANIFESTS,
    nowMs: () => nowMs,
    env: { WHENCE_TRUST_PROXY: '127.0.0.1' },
  })
  const world = liveThrough(SEED, { startAt: START_MS, days: DAYS, visitors: VISITORS })
  const setTime = (atMs: number) => void (nowMs = Math.max(nowMs, atMs))
  await letHappen(world, { url: service.url, setTime, testMark: () => testMark(service) })
  nowMs = Date.now()
  await service.drain()
  await untilCounted(service, nowMs)
  const cookie = await signIn(service)
  const root = '/api/organizations/acme'
  return {
    world,
    now: nowMs,
    read: async (page, words) => {
      const headers = { Cookie: cookie, Origin: service.url }
      const response = await asked(service, `${root}/${page}?${queryOf(words)}`, { headers })
      return response.json()
    },
    readByKey: (page, words, accept = 'application/json') =>
      asked(service, `/v1/${page}?${queryOf(words)}`, { headers: { ...KEY.headers, Accept: accept } }),
    report: (period, ...words) =>
      whencectl([
        'report',
        '--data',
        join(service.folder, 'data'),
        '--time-zone',
        ZONE,
        ...periodWords(period),
        ...words,
      ]),
    stop: service.stop,
  }
}

/** The service counts hours beside this, and what it changes in one hour may change another. */
async function untilCounted({ facts }: TestService, nowMs: number): Promise<void> {
  const dirty = () => facts.run('dirtyHours', { until_ms: Math.floor(nowMs / HOUR) * HOUR, limit: 1 })
  do await rollUp({ facts, nowMs: () => nowMs })
  while ((await dirty()).length > 0)
}

function queryOf(words: Words): string {
  const query = new URLSearchParams({ website: 'acme-dev' })
  for (const [name, said] of Object.entries(words)) for (const word of [said].flat()) query.append(name, word)
  return query.toString()
}

async function asked({ url }: TestService, path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url + path, init)
  expect(response.ok, response.ok ? path : `${path}: ${await response.text()}`).to.equal(true)
  return response
}

async function signIn({ url, signInLink }: TestService): Promise<string> {
  const link = await signInLink({ email: OWNER, ownerOf: null })
  const token = /[A-Za-z0-9_-]{43}/.exec(new URL(link).hash + new URL(link).search)?.[0]
  const response = await fetch(`${url}/api/sign-in/link`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url },
    body: JSON.stringify({ token }),
  })
  expect(response.status, await response.text()).to.equal(200)
  return response.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
}

/** By a session of its own: one ends within the time of the world. */
async function testMark(service: TestService): Promise<string> {
  const headers = { 'Content-Type': 'application/json', Cookie: await signIn(service), Origin: service.url }
  const path = '/api/organizations/acme/websites/acme-dev/test'
  const { mark } = (await (await asked(service, path, { method: 'POST', headers, body: '{}' })).json()) as {
    readonly mark: string
  }
  return mark
}
