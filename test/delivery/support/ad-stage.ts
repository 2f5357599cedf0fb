/** Runs a real worker of any provider on a real log, against that provider's stand-in, on a clock that tests move. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { destinationKey, type Destination } from '../../../domain/catalog.ts'
import {
  decodeRecord,
  encodeRecord,
  recordKey,
  type DeadLetter,
  type DeliveryRecord,
  type Job,
  type Topic,
} from '../../../domain/records.ts'
import type { Provider } from '../../../delivery/providers/provider.ts'
import { startWorker, type Worker } from '../../../delivery/worker/worker.ts'
import type { EventLog } from '../../../ports/event-log/event-log.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { catalogOf, WEBSITE } from '../../../fixtures/delivery/builders.ts'
import type { TestClock } from '../../../fixtures/delivery/harness.ts'
import { openStore, until, type Store } from '../../../fixtures/delivery/harness.ts'

export interface AdStageOptions {
  readonly provider: Provider
  readonly destination: Destination
  readonly secrets: Readonly<Record<string, string>>
  /** Further destinations, with the same credentials. */
  readonly others?: readonly Destination[]
  readonly baseUrl: string
  readonly tokenUrl?: string
  readonly clock: TestClock
}

interface AdSetup {
  /** Null once it is removed. */
  destination: Destination | null
  secrets: Readonly<Record<string, string>>
}

export class AdStage {
  readonly #options: AdStageOptions
  readonly #folder: string
  readonly #store: Store
  readonly #worker: Worker
  readonly #setup: AdSetup

  private constructor(
    options: AdStageOptions,
    parts: { folder: string; store: Store; worker: Worker; setup: AdStage['setup'] },
  ) {
    this.#options = options
    this.#folder = parts.folder
    this.#store = parts.store
    this.#worker = parts.worker
    this.#setup = parts.setup
  }

  /** Destination and credentials in force; a test may replace them. */
  get setup(): AdSetup {
    return this.#setup
  }

  get eventLog(): EventLog {
    return this.#store.log
  }

  static async set(options: AdStageOptions): Promise<AdStage> {
    const { provider, destination, secrets, others = [], baseUrl, tokenUrl, clock } = options
    const folder = await mkdtemp(join(tmpdir(), 'whence-delivery-'))
    const store = await openStore(folder, clock.nowMs)
    const setup: AdSetup = { destination, secrets }
    const catalog = {
      current: () => catalogOf([...(setup.destination === null ? [] : [setup.destination]), ...others]),
      credentials: () =>
        new Map(
          [destination, ...others].map((each) => [
            destinationKey({ organization: 'acme', website: WEBSITE }, each.id),
            setup.secrets,
          ]),
        ),
    }
    const { log: eventLog, hotState } = store
    const worker = await startWorker(
      { provider, baseUrl, ...(tokenUrl === undefined ? {} : { tokenUrl }) },
      { eventLog, hotState, catalog, nowMs: clock.nowMs, random: () => 0, telemetry: { logger: SILENT_LOGGER } },
    )
    return new AdStage(options, { folder, store, worker, setup })
  }

  async enqueue(...jobs: readonly Job[]): Promise<void> {
    const entries = jobs.map((job) => ({ key: recordKey(job, job.jobId), value: encodeRecord(job) }))
    await this.#store.log.append(`deliver.${this.#options.provider.id}`, entries)
  }

  records(): Promise<DeliveryRecord[]> {
    return this.#all<DeliveryRecord>('deliveries')
  }

  /** The records once there are `count`. */
  async recorded(count: number): Promise<DeliveryRecord[]> {
    await until(async () => (await this.records()).length >= count)
    return this.records()
  }

  inTier(tier: string): Promise<Job[]> {
    return this.#all<Job>(`deliver.${this.#options.provider.id}.${tier}` as Topic)
  }

  deadLetters(): Promise<DeadLetter[]> {
    return this.#all<DeadLetter>('dead-letters')
  }

  activityTypes(): Promise<string[]> {
    return this.#all<{ v: 1; type: string }>('activity').then((entries) => entries.map(({ type }) => type))
  }

  async strike(): Promise<void> {
    await this.#worker.close()
    await this.#store.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #all<T extends { readonly v: 1 }>(topic: Topic): Promise<T[]> {
    const entries = await this.#store.log.read(topic, 0, 100_000)
    return entries.map((entry) => decodeRecord<T>(entry.value))
  }
}
