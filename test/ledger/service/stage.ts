/** The service in which a world of the ledger happens, and the ways to ask it afterwards. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { rollUp } from '../../../delivery/rollup/rollup.ts'
import { startTestService, type TestService } from '../../../fixtures/service/service.ts'
import { openSurfaces, testMark, type Surfaces } from './asking.ts'
import type { Period } from '../world/book.ts'
import { startOf } from '../world/calendar.ts'
import { clockOf } from './clock.ts'
import { letHappen } from '../world/doors.ts'
import { MANIFESTS } from './objects.ts'
import { troublesOf } from './troubles.ts'
import { openViews, type ReadViews, type Views } from './views.ts'
import { DAY, HOUR, liveThrough, type World } from '../world/world.ts'

export const SEED = Number(process.env['WHENCE_LEDGER_SEED'] ?? 1)
export const DAYS = 8
/** Midnight: rows of days are whole. */
export const START_MS = startOf('day', Date.now()) - DAYS * DAY
export const ALL: Period = { since: START_MS, until: START_MS + DAYS * DAY }
/** What figures are compared over. */
export interface Spans {
  readonly all: Period
  readonly periods: Readonly<Record<string, Period>>
}

export const PERIODS: Readonly<Record<string, Period>> = {
  'the whole time': ALL,
  'its second half': { since: START_MS + 4 * DAY, until: START_MS + DAYS * DAY },
  'some hours': { since: START_MS + 2 * DAY + 5 * HOUR, until: START_MS + 2 * DAY + 16 * HOUR },
}

export const USUAL: Spans = { all: ALL, periods: PERIODS }

/** What a suite wants to happen besides the usual, and where. */
export interface Setting {
  /** Another one than is made up. */
  readonly world?: World
  readonly visitors?: number
  /** From eight days before today; 8 unless it says so. More end in the future: the engine drops by its own clock what is too old. */
  readonly days?: number
  /** Things come late, cannot be decided at once, are erased and expire. */
  readonly isTroubled?: boolean
  /** Further objects of the service, as YAML documents. */
  readonly manifests?: string
  readonly env?: Readonly<Record<string, string>>
  /** The service gets its work done before time goes on, as it does where time is real. */
  readonly isPatient?: boolean
  /** What people do when all has happened, and what is waited for. */
  readonly afterwards?: (ledger: OpenLedger) => Promise<void>
}

/** A world that has happened, and a service that knows of it. */
export interface Ledger extends Surfaces {
  readonly world: World
  /** When everything has happened and the service is asked; Unix ms. */
  readonly now: number
}

/** Of which the service is at hand as well. */
export interface OpenLedger extends Ledger {
  /** Adds objects to the service. */
  readonly apply: (files: Readonly<Record<string, string>>) => Promise<void>
  /** Acts while the service's clock shows this, and goes on. */
  readonly at: <T>(atMs: number, act: () => Promise<T>) => Promise<T>
  /** Ends the service, makes the views of its documentation, and reads with SQL from there on. */
  readonly openViews: () => Promise<ReadViews>
  readonly stop: () => Promise<void>
}

export const wordsOf = ({ since, until }: Period) => ({ since: String(since), until: String(until) })

/** Starts it before the tests of the suite and stops it after them. */
export function useLedger(setting: () => Setting = () => ({})): () => OpenLedger {
  let ledger: OpenLedger | undefined
  before(async () => {
    ledger = await startLedger(setting())
  })
  after(() => ledger?.stop())
  return () => {
    if (ledger === undefined) throw new Error('the world has not happened')
    return ledger
  }
}

/** Lets the world happen and waits until all of it is counted. */
export async function startLedger(setting: Setting): Promise<OpenLedger> {
  const { visitors = 180, days = DAYS, isPatient = false, isTroubled = false, manifests = '' } = setting
  const startAt = START_MS
  const clock = clockOf(startAt)
  const folder = await mkdtemp(join(tmpdir(), 'whence-ledger-'))
  const service = await startTestService({
    folder,
    manifests: { 'acme.yaml': MANIFESTS + manifests },
    nowMs: clock.nowMs,
    env: { WHENCE_TRUST_PROXY: '127.0.0.1', ...setting.env },
  })
  const world = setting.world ?? liveThrough(SEED, { startAt, days, visitors, isTroubled })
  const settle = () => clock.whileItRuns((skip) => settled(service, skip))
  await letHappen(world, {
    url: service.url,
    setTime: clock.set,
    testMark: () => testMark(service),
    settle,
    isPatient,
    onHook: () => undefined,
    whenCutOff: () => Promise.reject(new Error('the service is gone')),
    ...troublesOf(service, { clock, manifests }),
  })
  const nowMs = days === DAYS ? Date.now() : startAt + days * DAY + 10 * HOUR
  clock.set(nowMs)
  await clock.whileItRuns(() => service.drain())
  await untilCounted(service, nowMs)
  let views: Views | null = null
  const ledger: OpenLedger = {
    world,
    now: nowMs,
    ...(await openSurfaces(service)),
    apply: service.apply,
    at: async (atMs, act) => {
      clock.set(atMs)
      try {
        return await clock.whileItRuns(act)
      } finally {
        clock.set(nowMs)
      }
    },
    openViews: async () => {
      await service.stop()
      views ??= await openViews(join(folder, 'data', 'chdb'))
      return views.read
    },
    stop: async () => {
      await (views === null ? service.stop() : views.close())
      await rm(folder, { recursive: true, force: true })
    },
  }
  await clock.whileItRuns(() => setting.afterwards?.(ledger) ?? Promise.resolve())
  return ledger
}

/** What waits for something in the facts is looked at again after some seconds. */
const PATIENCE_MS = 6_000

/** Resolves when no event waits for its visit, its machine or its deliveries. */
async function settled({ drain, eventLog }: TestService, skip: (ms: number) => void): Promise<void> {
  await drain()
  const isWaiting = async (): Promise<boolean> =>
    (await eventLog.lag()).some(({ topic, entries }) => topic.startsWith('dispatch.') && entries > 0)
  while (await isWaiting()) {
    skip(PATIENCE_MS)
    await drain()
  }
}

/** The service counts hours beside this, and what it changes in one hour may change another. */
async function untilCounted({ facts }: TestService, nowMs: number): Promise<void> {
  const dirty = () => facts.run('dirtyHours', { until_ms: Math.floor(nowMs / HOUR) * HOUR, limit: 1 })
  do await rollUp({ facts, nowMs: () => nowMs })
  while ((await dirty()).length > 0)
}
