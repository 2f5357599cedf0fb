/** Kills a process that appends under load, again and again, and looks for every entry it had acknowledged. */

import { expect } from 'chai'

import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { lmdbHotState } from '../../ports/hot-state/lmdb/lmdb.ts'
import { deleteFolder, openTestEnvironment, temporaryFolder } from '../contract/lmdb-harness.ts'

import { idsOf, startAppender } from './lmdb.processes.ts'

const CYCLES = 20
const MAX_ACKS_BEFORE_KILL = 1_500

describe('LMDB and kill -9', () => {
  let folder: string

  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(async () => {
    await deleteFolder(folder)
  })

  it(`keeps every acknowledged entry exactly once, and every stored answer, over ${CYCLES} kills`, async function () {
    // Only ends a test that hangs: a busy machine needs seconds for each start.
    this.timeout(CYCLES * 15_000)
    const acked = new Set<number>()
    const settled = new Set<number>()
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const firstId = cycle * 1_000_000
      const acksBeforeKill = 1 + Math.floor(Math.random() * MAX_ACKS_BEFORE_KILL)
      const appender = startAppender({ folder, firstId, inFlight: 1 + ((cycle * 37) % 200) })
      await appender.printed('ack', acksBeforeKill)
      appender.child.kill('SIGKILL')
      await appender.ended
      for (const id of idsOf(appender.lines, 'ack')) acked.add(id)
      for (const id of idsOf(appender.lines, 'settled')) settled.add(id)
      expect(appender.lines.length).to.be.greaterThan(acksBeforeKill)
    }
    const stored = await readAll(folder)
    const counts = new Map<string, number>()
    for (const value of stored) counts.set(idOf(value), (counts.get(idOf(value)) ?? 0) + 1)
    const wrong = [...acked].filter((id) => counts.get(String(id)) !== 1)
    expect(wrong, `${acked.size} acknowledged`).to.deep.equal([])
    expect(await unsettled(folder, settled), `${settled.size} settled`).to.deep.equal([])
  })
})

async function readAll(folder: string): Promise<string[]> {
  const environment = await openTestEnvironment(folder, Date.now)
  const log = await lmdbEventLog(environment)
  const values: string[] = []
  let offset = 0
  for (;;) {
    const entries = await log.read('visits', offset, 10_000)
    const last = entries.at(-1)
    if (last === undefined) break
    values.push(...entries.map(({ value }) => value))
    offset = last.offset + 1
  }
  await log.close()
  await environment.close()
  return values
}

async function unsettled(folder: string, settled: ReadonlySet<number>): Promise<number[]> {
  const environment = await openTestEnvironment(folder, Date.now)
  const state = await lmdbHotState(environment)
  const missing: number[] = []
  for (const id of settled) {
    const claim = {
      organization: 'acme',
      website: 'acme',
      eventId: `event-${id}`,
      installationId: `${id}`,
      owner: 'test',
    }
    const outcome = await state.claimInstall(claim)
    if (outcome.kind !== 'settled' || outcome.answer !== `answer ${id}`) missing.push(id)
  }
  await state.close()
  await environment.close()
  return missing
}

function idOf(value: string): string {
  return value.replace(/\.*$/, '')
}
