/**
 * Kills workers with kill -9 while they deliver, one request each to GA4 and many together to Meta, and reports what
 * arrived.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startGa4StandIn } from '../../../stand-ins/ga4.ts'
import { startMetaStandIn } from '../../../stand-ins/meta.ts'
import { decodeRecord, encodeRecord, recordKey, type DeliveryRecord, type Job } from '../../../domain/records.ts'
import { parseKafkaUrl } from '../../../ports/event-log/kafka/url.ts'
import { openKafka } from '../../contract/kafka-harness.ts'
import { AD_DESTINATIONS, adJob } from '../../../fixtures/delivery/ad-install.ts'
import { HOUR_MS, visitOf } from '../../../fixtures/delivery/builders.ts'
import { openStore, until, type Store } from '../../../fixtures/delivery/harness.ts'
import { jobOf } from '../../../fixtures/delivery/jobs.ts'

/** The hot state is always a file of the folder; the log is there too, or on Kafka. */
export async function openLoadStore(folder: string, kafkaUrl: string | null): Promise<Store> {
  const store = await openStore(folder, Date.now)
  if (kafkaUrl === null) return store
  const parsed = parseKafkaUrl(kafkaUrl)
  if (!parsed.ok) throw new Error(parsed.why)
  const log = await openKafka(parsed.value)
  const close = async (): Promise<void> => {
    await log.close()
    await store.close()
  }
  return { hotState: store.hotState, log, close }
}

export interface KillLoad {
  readonly kills: number
  /** Enqueued for each provider before each start. */
  readonly jobsPerStart: number
  readonly kafkaUrl: string | null
}

export interface KillResult {
  readonly jobIds: { readonly ga4: readonly string[]; readonly meta: readonly string[] }
  /** Of all requests that arrived, in their order: the IDs of the deliveries in each. */
  readonly arrived: { readonly ga4: readonly (readonly string[])[]; readonly meta: readonly (readonly string[])[] }
  /** IDs with a record that says delivered. */
  readonly delivered: ReadonlySet<string>
  /** Faults that a stand-in found in any request. */
  readonly faults: readonly string[]
}

export async function killUnderLoad({ kills, jobsPerStart, kafkaUrl }: KillLoad): Promise<KillResult> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-kill-'))
  const keep = 100_000
  const standIns = {
    ga4: await startGa4StandIn({ port: 0, keep }),
    meta: await startMetaStandIn({ port: 0, keep }),
  }
  standIns.ga4.fail('*', { kind: 'delay', waitMs: 5 })
  standIns.meta.fail('*', { kind: 'delay', waitMs: 20 })
  const children: ChildProcess[] = []
  const arrived = () => ({
    ga4: standIns.ga4.requests().map(({ body }: any) => [body.events[0].params.install_id as string]),
    meta: standIns.meta.requests().map(({ body }: any) => body.data.map((event: any) => event.event_id as string)),
  })
  const start = async (): Promise<ChildProcess> => {
    const script = join(import.meta.dirname, 'worker-child.ts')
    const parts = [folder, standIns.ga4.url, standIns.meta.url, ...(kafkaUrl === null ? [] : [kafkaUrl])]
    const child = spawn(process.execPath, [script, ...parts], { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    await once(child.stdout, 'data')
    return child
  }
  try {
    const jobs = { ga4: [] as Job[], meta: [] as Job[] }
    for (let number = 0; number <= kills; number += 1) {
      const fresh = freshJobs(number * jobsPerStart, jobsPerStart)
      await withStore(folder, kafkaUrl, (store) => enqueue(store, fresh))
      jobs.ga4.push(...fresh.ga4)
      jobs.meta.push(...fresh.meta)
      const before = standIns.ga4.total()
      const child = await start()
      const isLast = number === kills
      const isThere = (): boolean => {
        if (!isLast) return standIns.ga4.total() >= before + jobsPerStart / 2
        return new Set(Object.values(arrived()).flat(2)).size === 2 * jobs.ga4.length
      }
      await until(isThere)
      await end(child, isLast ? 'SIGTERM' : 'SIGKILL')
    }
    const jobIds = { ga4: jobs.ga4.map(({ jobId }) => jobId), meta: jobs.meta.map(({ jobId }) => jobId) }
    const delivered = await withStore(folder, kafkaUrl, deliveredIn)
    const requests = [...standIns.ga4.requests(), ...standIns.meta.requests()]
    const faults = requests.flatMap(({ messages }) => (messages.length === 0 ? [] : [JSON.stringify(messages)]))
    return { jobIds, arrived: arrived(), delivered, faults }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(Object.values(standIns).map((each) => each.close()))
    await rm(folder, { recursive: true, force: true })
  }
}

function freshJobs(first: number, count: number): { ga4: Job[]; meta: Job[] } {
  const receivedAtMs = Date.now()
  const issuedAtMs = receivedAtMs - HOUR_MS
  const numbers = Array.from({ length: count }, (_, index) => first + index)
  const visit = visitOf({ issuedAtMs })
  const identities = { meta: { fbp: `fb.1.${issuedAtMs}.271828` } }
  return {
    ga4: numbers.map((number) => jobOf({ visit, install: { eventId: `event-${number}`, receivedAtMs } })),
    meta: numbers.map((number) => {
      const install = { eventId: `event-${number}`, receivedAtMs }
      return adJob(AD_DESTINATIONS.meta, { identities, visit: { issuedAtMs, landedAtMs: issuedAtMs }, install })
    }),
  }
}

async function enqueue(store: Store, jobs: Record<'ga4' | 'meta', readonly Job[]>): Promise<void> {
  for (const provider of ['ga4', 'meta'] as const) {
    const entries = jobs[provider].map((job) => ({ key: recordKey(job, job.jobId), value: encodeRecord(job) }))
    await store.log.append(`deliver.${provider}`, entries, { deadlineMs: 30_000 })
  }
}

async function deliveredIn(store: Store): Promise<Set<string>> {
  const delivered = new Set<string>()
  for await (const entries of store.log.readLast('deliveries', { entries: 1_000_000 })) {
    const records = entries.map((entry) => decodeRecord<DeliveryRecord>(entry.value))
    for (const { status, jobId } of records) if (status === 'delivered') delivered.add(jobId)
  }
  return delivered
}

async function withStore<T>(folder: string, kafkaUrl: string | null, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openLoadStore(folder, kafkaUrl)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}
