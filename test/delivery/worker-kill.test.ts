/** A worker that is killed under load loses no delivery and repeats only what was under way. */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { decodeRecord, encodeRecord, recordKey, type DeliveryRecord, type Job } from '../../domain/records.ts'
import { startGa4Simulator, type Ga4Simulator } from '../../delivery/simulator/ga4.ts'
import { HOUR_MS, visitOf } from './support/builders.ts'
import { openStore, until } from './support/harness.ts'
import { jobOf } from './support/jobs.ts'

const KILLS = 5
const JOBS = 600
/** What one destination may have under way at once. */
const IN_FLIGHT = 8

describe('a worker killed with kill -9 under load', () => {
  let folder: string
  let simulator: Ga4Simulator
  const children: ChildProcess[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-kill-'))
    simulator = await startGa4Simulator({ port: 0, keep: 10 * JOBS })
    simulator.fail('*', { kind: 'delay', waitMs: 5 })
  })
  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await simulator.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function startChild(): Promise<ChildProcess> {
    const script = join(import.meta.dirname, 'support', 'worker-child.ts')
    const child = spawn(process.execPath, [script, folder, simulator.url], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    await once(child.stdout, 'data')
    return child
  }

  async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  async function withStore<T>(use: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>): Promise<T> {
    const store = await openStore(folder, Date.now)
    try {
      return await use(store)
    } finally {
      await store.close()
    }
  }

  it('delivers every job at least once under one ID, and repeats at most what was under way', async () => {
    const nowMs = Date.now()
    const visit = visitOf({ issuedAtMs: nowMs - HOUR_MS })
    const jobs: Job[] = Array.from({ length: JOBS }, (_, index) =>
      jobOf({ visit, install: { eventId: `event-${index}`, receivedAtMs: nowMs } }),
    )
    const entries = jobs.map((job) => ({ key: recordKey(job.website, job.jobId), value: encodeRecord(job) }))
    await withStore((store) => store.log.append('deliver.ga4', entries))

    for (let kill = 1; kill <= KILLS; kill += 1) {
      const child = await startChild()
      await until(() => simulator.total() >= (kill * JOBS) / (KILLS + 1))
      await end(child, 'SIGKILL')
    }
    const arrived = (): Set<string> =>
      new Set(simulator.requests().map((hit: any) => hit.body.events[0].params.install_id as string))
    const last = await startChild()
    await until(() => arrived().size === JOBS)
    await end(last, 'SIGTERM')

    expect([...arrived()]).to.have.members(jobs.map((job) => job.jobId))
    expect(simulator.total() - JOBS).to.be.within(0, KILLS * IN_FLIGHT)
    const records = await withStore((store) => store.log.read('deliveries', 0, 100_000))
    const delivered = records
      .map((entry) => decodeRecord<DeliveryRecord>(entry.value))
      .filter((record) => record.status === 'delivered')
    expect(new Set(delivered.map((record) => record.jobId)).size).to.equal(JOBS)
  }).timeout(60_000)
})
