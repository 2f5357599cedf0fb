/** Runs a real worker on a real log against the GA4 stand-in, on a clock that tests move. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { destinationKey, type Catalog, type Credentials, type Destination } from '../../../domain/catalog.ts'
import {
  decodeRecord,
  encodeRecord,
  recordKey,
  type ActivityRecord,
  type DeadLetter,
  type DeliveryRecord,
  type Job,
  type Topic,
} from '../../../domain/records.ts'
import { ga4 } from '../../../delivery/providers/ga4.ts'
import { startGa4StandIn, type Ga4StandIn } from '../../../stand-ins/ga4.ts'
import { startWorker, type Worker } from '../../../delivery/worker/worker.ts'
import type { EventLog } from '../../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import type { HotState } from '../../../ports/hot-state/hot-state.ts'
import { lmdbHotState } from '../../../ports/hot-state/lmdb/lmdb.ts'
import { openLmdb } from '../../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { API_SECRET, catalogOf, destinationOf, NOON_MS, WEBSITE } from './builders.ts'
import { until } from '../../support/until.ts'

export { until }

/** Begins at noon of the builders and runs on; `advance` jumps ahead. */
export class TestClock {
  #offsetMs = NOON_MS - Date.now()
  readonly nowMs = (): number => Date.now() + this.#offsetMs
  advance(ms: number): void {
    this.#offsetMs += ms
  }
}

export interface Store {
  readonly log: EventLog
  readonly hotState: HotState
  close(): Promise<void>
}

export async function openStore(folder: string, nowMs: () => number): Promise<Store> {
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(folder, { onFatal, nowMs, minFreeBytes: 0 })
  const log = await lmdbEventLog(environment, { recheckMs: 5, retryMs: { first: 10, most: 50 } })
  const hotState = await lmdbHotState(environment)
  return {
    log,
    hotState,
    async close() {
      await log.close()
      await hotState.close()
      await environment.close()
    },
  }
}

export interface StageOptions {
  readonly destinations?: readonly Destination[]
  readonly exchangeMs?: number
  readonly stopMs?: number
  readonly random?: number
}

/** Everything a delivery test needs; `strike` takes it all down again. */
export class Stage {
  readonly clock: TestClock
  readonly standIn: Ga4StandIn
  readonly #folder: string
  readonly #options: StageOptions
  catalog: Catalog
  credentials: Credentials
  store: Store
  worker: Worker | null = null

  private constructor(
    parts: { clock: TestClock; standIn: Ga4StandIn; folder: string; store: Store },
    options: StageOptions,
  ) {
    this.clock = parts.clock
    this.standIn = parts.standIn
    this.#folder = parts.folder
    this.store = parts.store
    this.#options = options
    const destinations = options.destinations ?? [destinationOf()]
    this.catalog = catalogOf(destinations)
    this.credentials = credentialsOf(destinations)
  }

  static async set(options: StageOptions = {}): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'whence-delivery-'))
    const clock = new TestClock()
    const standIn = await startGa4StandIn({ port: 0, keep: 10_000, nowMs: clock.nowMs })
    return new Stage({ clock, standIn, folder, store: await openStore(folder, clock.nowMs) }, options)
  }

  async startWorker(): Promise<Worker> {
    this.worker = await startWorker({
      provider: ga4,
      baseUrl: this.standIn.url,
      eventLog: this.store.log,
      hotState: this.store.hotState,
      catalog: () => this.catalog,
      credentials: () => this.credentials,
      nowMs: this.clock.nowMs,
      random: () => this.#options.random ?? 0,
      logger: SILENT_LOGGER,
      ...(this.#options.exchangeMs === undefined ? {} : { exchangeMs: this.#options.exchangeMs }),
      ...(this.#options.stopMs === undefined ? {} : { stopMs: this.#options.stopMs }),
    })
    return this.worker
  }

  async enqueue(...jobs: readonly Job[]): Promise<void> {
    const entries = jobs.map((job) => ({ key: recordKey(job.website, job.jobId), value: encodeRecord(job) }))
    await this.store.log.append('deliver.ga4', entries)
  }

  /** Ends the worker in good order and opens the log anew, as a restart of the process would. */
  async restart(): Promise<void> {
    await this.worker?.stop()
    await this.store.close()
    this.store = await openStore(this.#folder, this.clock.nowMs)
    await this.startWorker()
  }

  async records(): Promise<DeliveryRecord[]> {
    return this.#all<DeliveryRecord>('deliveries')
  }

  /** The status of each delivery after its last record, by event ID. */
  async statuses(): Promise<Map<string, string>> {
    return new Map((await this.records()).map((record) => [record.eventId, record.status]))
  }

  deadLetters(): Promise<DeadLetter[]> {
    return this.#all<DeadLetter>('dead-letters')
  }

  activity(): Promise<ActivityRecord[]> {
    return this.#all<ActivityRecord>('activity')
  }

  inTier(tier: string): Promise<Job[]> {
    return this.#all<Job>(`deliver.ga4.${tier}` as Topic)
  }

  async strike(): Promise<void> {
    await this.worker?.stop()
    await this.store.close()
    await this.standIn.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #all<T extends { readonly v: 1 }>(topic: Topic): Promise<T[]> {
    const entries = await this.store.log.read(topic, 0, 100_000)
    return entries.map((entry) => decodeRecord<T>(entry.value))
  }
}

export function credentialsOf(destinations: readonly Destination[]): Credentials {
  return new Map(destinations.map((each) => [destinationKey(WEBSITE, each.id), { apiSecret: API_SECRET }]))
}
