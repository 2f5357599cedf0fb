/** Kills the whole service under load, again and again, and holds what it had promised against what is stored. */

import { expect } from 'chai'
import { randomInt } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startTestService } from '../../fixtures/service/service.ts'
import { startChild } from './service.child.ts'
import { brokenPromises } from './service.history.ts'
import { Clients } from './service.load.ts'
import { LOAD_MANIFESTS, LOAD_WEBSITES } from './service.manifests.ts'
import { readStored, settle } from './service.stored.ts'

/** `npm run -s chaos` uses 300. */
const CYCLES = Number(process.env['WHENCE_CRASH_CYCLES'] ?? 20)
/** A long run shows that it lives. */
const TOLD_EVERY = 50
const CYCLE_BUDGET_MS = 15_000
const SETTLING_MS = 180_000
const LONGEST_LIFE_MS = 600
/** Every so often it is killed during its start, in which it reads back what the last kill left. */
const KILL_AT_START_EVERY = 5
const LONGEST_START_MS = 1_200
const CLIENTS = 16
const KEEP_HITS = 1_000_000

describe('the service and kill -9', () => {
  let folder: string
  let ga4: Ga4StandIn

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-crash-'))
    await mkdir(join(folder, 'manifests'))
    await writeFile(join(folder, 'manifests', 'load.yaml'), LOAD_MANIFESTS)
    ga4 = await startGa4StandIn({ port: 0, keep: KEEP_HITS })
  })
  after(async () => {
    await ga4?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it(`loses nothing and doubles nothing over ${CYCLES} kills under load`, async function () {
    this.timeout(CYCLES * CYCLE_BUDGET_MS + SETTLING_MS)
    const clients = new Clients()
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      await liveAndDie(cycle, clients, { folder, ga4Url: ga4.url })
      if (cycle % TOLD_EVERY === TOLD_EVERY - 1) console.log(`        ${cycle + 1} of ${CYCLES} kills`)
    }

    const service = await startTestService({
      folder,
      manifests: {},
      env: { WHENCE_GA4_URL: ga4.url, WHENCE_TRUST_PROXY: '127.0.0.1/32' },
    })
    // No clients of their own: only what the last kill left without an answer is tried again.
    await clients.start({ url: service.url, websites: [], clients: 0 }).stop()
    await settle(service)
    const stored = await readStored(service.facts, ga4, clients.operations)
    await service.stop()
    const outcomes = Map.groupBy(clients.operations, ({ outcome }) => outcome)
    const told = [...outcomes].map(([outcome, some]) => `${some.length} ${outcome}`).join(', ')
    console.log(`        ${told}; ${stored.installs.length} installs, ${stored.sentIds.length} hits`)
    expect(brokenPromises(clients.operations, stored)).to.deep.equal([])
    // A run that answered next to nothing, or was never cut off, would show nothing.
    expect(outcomes.get('ok')?.length).to.be.greaterThan(CYCLES * 10)
    expect(outcomes.get('unknown')?.length).to.be.greaterThan(CYCLES / 2)
    expect(stored.sentIds.length).to.be.greaterThan(CYCLES)
  })
})

async function liveAndDie(
  cycle: number,
  clients: Clients,
  { folder, ga4Url }: { readonly folder: string; readonly ga4Url: string },
): Promise<void> {
  const port = await freePort()
  const child = startChild({ folder, port, ga4Url })
  if (cycle % KILL_AT_START_EVERY === KILL_AT_START_EVERY - 1) {
    await Promise.race([wait(randomInt(LONGEST_START_MS)), child.ready])
    child.kill('SIGKILL')
    await child.ended
    return
  }
  await child.ready
  const load = clients.start({ url: child.url, websites: LOAD_WEBSITES, clients: CLIENTS })
  await wait(randomInt(LONGEST_LIFE_MS))
  child.kill('SIGKILL')
  const { signal } = await child.ended
  await load.stop()
  expect(signal, child.stderr()).to.equal('SIGKILL')
}
