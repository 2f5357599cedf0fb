/**
 * Role `streams`: forwards Logs to webhooks and buckets of organisations. A lease lets one process at a time serve a stream;
 * while the store of leases is unavailable every process sends, and records come twice, with the same IDs.
 */

import { randomUUID } from 'node:crypto'

import { every, type Repetition } from '../../common/every.ts'
import type { CatalogOrganizations, CatalogSecrets, NumberedCatalog } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { CatalogInHand } from '../../domain/published/catalog-number.ts'
import type { Watermarks } from '../../domain/streams/plan.ts'
import type { EventLog, LogWriter, LogProgress } from '../../ports/event-log/event-log.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import { createRandomness } from '../../runtime/random.ts'
import { createCatalogWaits, type CatalogWaits } from '../catalog-waits.ts'
import { createStopping, stoppableFacts, type Stopping } from '../stopping.ts'
import { createWatermarks } from './backlog-reader.ts'
import { streamsInForce, type StreamInForce } from './in-force.ts'
import { createStreamNews, type StreamNews } from './news.ts'
import { createPackingRoom } from './packing-room.ts'
import { createProgressStore } from './progress-store.ts'
import { StreamRunner } from './runner.ts'
import { senderFor, type StreamOutbound } from './sender-for.ts'

interface StreamsDeps {
  readonly facts: FactsReader & FactsWriter
  readonly eventLog: LogWriter & LogProgress
  readonly hotState: JobVerbs
  readonly catalog: CatalogInHand<NumberedCatalog & CatalogOrganizations> & CatalogSecrets
  readonly telemetry: Telemetry
  readonly nowMs: () => number
}

const TICK_MS = 1_000
const AFTER_ERROR_MS = 5_000

interface Running {
  readonly runner: StreamRunner
  readonly steps: Repetition
  leasedAtMs: number
}

/** Starts at once. `close` resolves when calls in flight have ended or were given up, and releases the leases. `owner`: unique for each process. */
export function startStreams(
  deps: StreamsDeps,
  outbound: StreamOutbound,
  owner: string = randomUUID(),
): { readonly close: () => Promise<void> } {
  const stopping = createStopping()
  const role = new StreamsRole(stoppableDeps(deps, stopping), outbound, owner)
  const ticks = every(TICK_MS, () => role.tick(), { onFailure: streamFailure(deps, 'streams') })
  return {
    close: () => stopping.end(ticks.close().then(() => role.close())),
  }
}

/** Calls of webhooks have a deadline of their own. */
function stoppableDeps(deps: StreamsDeps, stopping: Stopping): StreamsDeps {
  const { facts, eventLog } = deps
  const progress: EventLog['progress'] = (topic, group) => stopping.unlessGivenUp(() => eventLog.progress(topic, group))
  const append: EventLog['append'] = (topic, entries, options) =>
    stopping.unlessGivenUp(() => eventLog.append(topic, entries, options))
  return { ...deps, facts: stoppableFacts(facts, stopping), eventLog: { progress, append } }
}

class StreamsRole {
  readonly #deps: StreamsDeps
  readonly #outbound: StreamOutbound
  readonly #owner: string
  readonly #random: () => number
  readonly #news: StreamNews
  readonly #waits: CatalogWaits
  readonly #watermarks: () => Promise<Watermarks>
  readonly #packing = createPackingRoom(LIMITS.streamPackingBytes)
  /** By `leaseKey`. */
  readonly #running = new Map<string, Running>()
  #known: { readonly from: readonly unknown[]; readonly streams: ReadonlyMap<string, StreamInForce> } | null = null

  constructor(deps: StreamsDeps, outbound: StreamOutbound, owner: string) {
    const randomness = createRandomness()
    this.#deps = deps
    this.#outbound = outbound
    this.#owner = owner
    this.#random = randomness.fraction
    const { eventLog, hotState, telemetry, nowMs, catalog } = deps
    this.#news = createStreamNews({ eventLog, hotState, telemetry, randomness, nowMs, catalog })
    this.#waits = createCatalogWaits(deps, 'streams')
    this.#watermarks = createWatermarks(deps.eventLog, deps.nowMs)
  }

  /** Acquires free streams, renews leases, and drops streams that are no longer in force. */
  async tick(): Promise<void> {
    const wanted = this.#inForce()
    for (const [key, running] of this.#running) {
      if (!wanted.has(key) || !(await this.#keeps(key, running))) void this.#leave(key, running)
    }
    for (const [key, inForce] of wanted) {
      if (this.#running.size >= LIMITS.streamsPerProcess) break
      if (!this.#running.has(key) && (await this.#claim(key))) this.#begin(key, inForce)
    }
    const standings = [...this.#running.values()].flatMap(({ runner }) => runner.standing() ?? [])
    this.#news.standings(standings)
  }

  /** Computed again only after a change of the catalog or the credentials. */
  #inForce(): ReadonlyMap<string, StreamInForce> {
    const { catalog } = this.#deps
    const from = [catalog.current(), catalog.credentials()] as const
    if (this.#known === null || from.some((each, index) => each !== this.#known?.from[index])) {
      this.#known = { from, streams: new Map(streamsInForce(...from).map((each) => [leaseKey(each), each])) }
    }
    return this.#known.streams
  }

  async close(): Promise<void> {
    const all = [...this.#running]
    await Promise.all(all.map(([key, running]) => this.#leave(key, running)))
    await Promise.all(all.map(([key]) => this.#deps.hotState.releaseJob(key, this.#owner).catch(() => undefined)))
  }

  /** Continues while the store of leases is unavailable: records may come twice, and none is lost. */
  #claim(key: string): Promise<boolean> {
    return this.#deps.hotState.claimJob(key, this.#owner, LIMITS.streamLeaseMs).catch(() => true)
  }

  async #keeps(key: string, running: Running): Promise<boolean> {
    const now = this.#deps.nowMs()
    if (now - running.leasedAtMs < LIMITS.streamRenewMs) return true
    running.leasedAtMs = now
    return this.#claim(key)
  }

  /** Resolves when its current step has ended. */
  #leave(key: string, { steps }: Running): Promise<void> {
    this.#running.delete(key)
    return steps.close()
  }

  #begin(key: string, inForce: StreamInForce): void {
    const runner = this.#runnerOf(key, inForce)
    const steps = every(0, () => runner.step(), {
      retryMs: AFTER_ERROR_MS,
      onFailure: streamFailure(this.#deps, 'stream_step'),
    })
    this.#running.set(key, { runner, steps, leasedAtMs: this.#deps.nowMs() })
  }

  #runnerOf(key: string, { organization, stream }: StreamInForce): StreamRunner {
    const { facts, nowMs } = this.#deps
    const leasedAtMs = nowMs()
    const store = createProgressStore({
      facts,
      key: { organization: organization.id, stream: stream.id },
      leasedAtMs,
      nowMs,
    })
    return new StreamRunner({
      configured: {
        current: () => this.#inForce().get(key) ?? null,
        catalogNumber: () => this.#deps.catalog.current().number,
        waits: this.#waits,
      },
      backlog: { facts, watermarks: this.#watermarks },
      store,
      sending: {
        senderOf: (inForce) => senderFor(inForce, this.#outbound, nowMs),
        packing: this.#packing,
        random: this.#random,
      },
      news: this.#news,
      nowMs,
    })
  }
}

function streamFailure({ telemetry }: StreamsDeps, task: string): (error: unknown) => void {
  return (error) => {
    const reason = error instanceof Error ? error.message : 'unknown'
    telemetry.logger.warn({ reason, task }, 'a log stream waits for the engines')
  }
}

function leaseKey({ organization, stream }: StreamInForce): string {
  return `stream/${organization.id} ${stream.id}`
}
