/**
 * The independent ledger beside a service that is killed twenty times while the world happens, every role of it at once: between requests,
 * with all their work before it, and in the middle of one, which the hook sends again.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { expect } from 'chai'

import { connectTools } from '../../bin/tools/control.ts'
import type { LiveTools } from '../../bin/tools/live.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { openSurfaces, testMark, type AskedService } from './service/asking.ts'
import { letHappen, type Doors } from './world/doors.ts'
import { MANIFESTS } from './service/objects.ts'
import { reportSuite } from './suites/report.suite.ts'
import { sourcesSuite } from './suites/sources.suite.ts'
import { DAYS, SEED, START_MS, type Ledger } from './service/stage.ts'
import { HOUR, liveThrough, type World } from './world/world.ts'

const KILLS = 20
const VISITORS = 100
/** Every other time it is killed in the middle of a request. */
const MIDST_EVERY = 2
/**
 * The hot state stores its answers twice a second, and what a kill takes of them is read back from the last seconds of the log. Hours of the
 * world pass in such a second, so nothing of an hour before may hang on it.
 */
const STORED_MS = 600
/** Long enough to have begun with a request, too short to be sure of its end. */
const MOST_INTO_REQUEST_MS = 12
/** Longer than a process believes in the clock that it read. */
const CLOCK_READ_MS = 30
const PRELOAD = ['--import', new URL('../../fixtures/service/moved-clock.ts', import.meta.url).href]

describe('the ledger of a service that is killed again and again', function () {
  this.timeout(900_000)
  let folder: string
  let program: Program | null = null
  let ledger: Ledger | undefined
  let kills = 0

  const clockFile = (): string => join(folder, 'clock')
  const setTime = async (atMs: number): Promise<void> => {
    await writeFile(clockFile(), String(atMs - Date.now()))
    await wait(CLOCK_READ_MS)
  }

  async function start(port: number): Promise<void> {
    const words = ['embedded', '--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
    program = startProgram([...words, '--data', join(folder, 'data'), '--manifests', join(folder, 'manifests')], {
      env: { WHENCE_SECRET: TEST_SECRET, WHENCE_TRUST_PROXY: '127.0.0.1/32', MOVED_CLOCK: clockFile() },
      nodeWords: PRELOAD,
    })
    await program.ready
  }

  async function strike(port: number): Promise<void> {
    kills += 1
    await program?.end('SIGKILL')
    await start(port)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-ledger-kills-'))
    await mkdir(join(folder, 'manifests'))
    await writeFile(join(folder, 'manifests', 'acme.yaml'), MANIFESTS)
    const port = await freePort()
    await setTime(START_MS)
    await start(port)
    const world = liveThrough(SEED, { startAt: START_MS, days: DAYS, visitors: VISITORS })
    const service = {
      url: `http://127.0.0.1:${port}`,
      folder,
      signInLink: async (wanted) => (await tools()).signInLink(wanted),
    } satisfies AskedService
    await letHappen(world, killing(doorsOf(service), { world, strike: () => strike(port) }))
    const now = Date.now()
    await setTime(now)
    await untilCounted(world, now)
    ledger = { world, now, ...(await openSurfaces(service)) }
  })
  after(async () => {
    await program?.end('SIGTERM')
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })

  async function tools(): Promise<LiveTools> {
    const found = await connectTools(join(folder, 'data'))
    if (found === null) throw new Error('the service does not answer')
    return found
  }

  const doorsOf = (service: AskedService): Doors => ({
    url: service.url,
    setTime,
    testMark: () => testMark(service),
    settle: () => Promise.resolve(),
    isPatient: false,
    onHook: () => undefined,
    whenCutOff: () => Promise.resolve(),
    holdBack: async (happen) => {
      await happen()
      return () => Promise.resolve()
    },
    setClear: () => true,
    erase: () => Promise.resolve(),
    forget: () => Promise.resolve(),
  })

  /** All facts are there, and every hour is counted that they changed. */
  async function untilCounted({ visitors, machines }: World, now: number): Promise<void> {
    const looks = visitors.reduce((sum, { walk }) => sum + walk.length, 0)
    const events = machines.reduce((sum, machine) => sum + machine.events.length, 0)
    let quiet = 0
    await until(
      async () => {
        const live = await tools()
        const [counts] = await live.run('counts', {})
        const open = await live.run('dirtyHours', { until_ms: now - HOUR, limit: 1 })
        const isAll = counts !== undefined && counts.visits >= looks && counts.installs >= events
        quiet = isAll && open.length === 0 ? quiet + 1 : 0
        return quiet === 3
      },
      { what: 'all of the world is counted', everyMs: 1_000, withinMs: 300_000 },
    )
  }

  it(`was killed ${KILLS} times`, () => {
    expect(kills).to.equal(KILLS)
  })

  const ledgerOf = (): Ledger => {
    if (ledger === undefined) throw new Error('the world has not happened')
    return ledger
  }
  sourcesSuite(ledgerOf)
  reportSuite(ledgerOf)
})

interface Killing {
  readonly world: World
  readonly strike: () => Promise<void>
}

/** Strikes at moments that are spread over the world. */
function killing(doors: Doors, { world, strike }: Killing): Doors {
  const moments = world.visitors.reduce((sum, { walk }) => sum + walk.length, 0)
  const every = Math.floor(moments / KILLS)
  let seen = 0
  let struck = 0
  let isNextHit = false
  /** What began in the middle of a request. */
  let inMidst = Promise.resolve()
  return {
    ...doors,
    setTime: async (atMs) => {
      await doors.setTime(atMs)
      seen += 1
      if (seen % every !== 0 || struck >= KILLS) return
      struck += 1
      await wait(STORED_MS)
      if (struck % MIDST_EVERY === 0) isNextHit = true
      else await strike()
    },
    onHook: () => {
      if (isNextHit) inMidst = wait((struck * 7) % MOST_INTO_REQUEST_MS).then(strike)
      isNextHit = false
    },
    whenCutOff: () => inMidst,
    isPatient: true,
    settle: () => inMidst,
  }
}
