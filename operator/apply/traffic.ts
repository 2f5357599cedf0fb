/**
 * Shows the figures of the last 24 hours in the status of every website: one query of the facts for all of them, and a
 * write only if a rounded figure changed. The same round updates which destinations are
 * paused and how far log streams are.
 */

import { ownerKey } from '../../domain/records.ts'
import { inLanes } from '../../common/in-lanes.ts'
import { isSameTraffic, shownTraffic, readTraffic } from '../../domain/resources/traffic.ts'
import type { ShownTraffic, WebsiteTraffic } from '../../domain/resources/traffic.ts'
import type { StreamReport } from '../../domain/streams/status.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { kubeKey } from '../../runtime/kube/objects.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Decision } from '../decide/decide.ts'
import type { DecidedObject } from '../gather/known-objects.ts'
import type { DestinationState } from './pauses.ts'
import { createPauses } from './pauses.ts'
import { createStreamStates } from './stream-states.ts'
import type { StatusWriter } from './writer.ts'

/** The operator's queries of the facts. All reject if the facts are unreachable. */
export interface TrafficFacts {
  /** Counts of every website with traffic in the period. */
  readonly traffic: (period: {
    readonly sinceMs: number
    readonly untilMs: number
  }) => Promise<readonly WebsiteTraffic[]>
  /** For every destination that was ever paused. */
  readonly destinationStates: () => Promise<readonly DestinationState[]>
  /** Of every log stream that was looked after within a month. */
  readonly streamStates: () => Promise<readonly StreamReport[]>
}

interface TrafficOptions {
  /** Null: nothing is shown, and what was shown before is removed. */
  readonly read: TrafficFacts | null
  readonly writer: StatusWriter
  readonly shown: ShownObjects
  /** Called with what became of each query of the counts. */
  readonly onRead: (result: 'read' | 'failed') => void
  readonly logger: Logger
  readonly nowMs: () => number
}

/** The objects whose statuses show something. */
interface ShownObjects {
  /** Null while there is none, and if this operator does not lead. */
  readonly decision: () => Decision | null
  /** The object as it is in the cluster now. */
  readonly current: (kind: 'Website' | 'Destination' | 'LogStream', object: KubeObject) => KubeObject | undefined
}

interface Traffic {
  readonly close: () => Promise<void>
}

const INTERVAL_MS = 30_000
const PERIOD_MS = 86_400_000
/** Writes between two rounds; the longest waiting come first, so that ten thousand take half an hour. */
const WRITES_PER_S = 5
const MOST_WRITES = (WRITES_PER_S * INTERVAL_MS) / 1_000
const AT_ONCE = 4
/** The facts have other work: querying them takes at most a twentieth of the time. */
const REST = 20

/** A separate field manager: the other fields of the status are applied without these, which must not remove them. */
const TRAFFIC_MANAGER = 'whence-operator-traffic'

/** Between two rounds are `intervalMs`, set by tests, or as long as the facts need to rest. */
export function startTraffic(options: TrafficOptions, intervalMs: number | null = null): Traffic {
  const showing = new Showing(options, intervalMs)
  const running = showing.run()
  return {
    close: async () => {
      showing.close()
      await running
    },
  }
}

interface Due {
  readonly object: KubeObject
  readonly shown: ShownTraffic | null
}

class Showing {
  readonly #options: TrafficOptions
  readonly #intervalMs: number | null
  readonly #pauses
  readonly #streamStates
  readonly #stopped = Promise.withResolvers<void>()
  #isStopped = false
  #isAway = false
  /** Last written, and over which version: the copy of the cluster lags a moment behind. */
  readonly #written = new Map<string, { readonly over: string; readonly shown: ShownTraffic | null; atMs: number }>()

  constructor(options: TrafficOptions, intervalMs: number | null) {
    this.#options = options
    this.#intervalMs = intervalMs
    const { writer, nowMs } = options
    const { current } = options.shown
    this.#pauses = createPauses({ writer, current: (destination) => current('Destination', destination) })
    this.#streamStates = createStreamStates({ writer, nowMs, current: (stream) => current('LogStream', stream) })
  }

  close(): void {
    this.#isStopped = true
    this.#stopped.resolve()
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const startedAtMs = performance.now()
      await this.#look()
      const tookMs = performance.now() - startedAtMs
      await this.#rest(this.#intervalMs ?? Math.max(INTERVAL_MS, REST * tookMs))
    }
  }

  async #rest(durationMs: number): Promise<void> {
    // Until there is something to show, a round costs nothing.
    const isIdle = this.#options.shown.decision() === null
    const rested = Promise.withResolvers<void>()
    const timer = setTimeout(() => rested.resolve(), isIdle ? Math.min(durationMs, 1_000) : durationMs)
    await Promise.race([rested.promise, this.#stopped.promise])
    clearTimeout(timer)
  }

  async #look(): Promise<void> {
    const decision = this.#options.shown.decision()
    if (decision === null) return
    const traffic = await this.#read()
    if (traffic === null) return
    const due = this.#due(decision, traffic).slice(0, MOST_WRITES)
    const writes = due.map((each) => async () => {
      if (!this.#isStopped) await this.#write(each)
    })
    await inLanes(writes, AT_ONCE)
    await this.#settleSenders(decision)
  }

  /** What destinations and log streams say of their receivers. */
  async #settleSenders(decision: Decision): Promise<void> {
    const { read, logger } = this.#options
    if (read === null) return
    try {
      await this.#pauses(await read.destinationStates(), decision)
      await this.#streamStates(await read.streamStates(), decision)
    } catch (error) {
      logger.debug({ why: String(error) }, 'states of destinations and log streams not written')
    }
  }

  /** By `ownerKey`; null if the facts are unreachable: the shown figures stay. */
  async #read(): Promise<ReadonlyMap<string, WebsiteTraffic> | null> {
    const { read, nowMs, onRead, logger } = this.#options
    if (read === null) return new Map()
    try {
      const untilMs = nowMs()
      const rows = await read.traffic({ sinceMs: untilMs - PERIOD_MS, untilMs })
      onRead('read')
      this.#isAway = false
      return new Map(rows.map((row) => [ownerKey(row), row]))
    } catch (error) {
      onRead('failed')
      if (!this.#isAway) logger.warn({ why: String(error) }, 'figures of websites stay as they are: facts unreachable')
      this.#isAway = true
      return null
    }
  }

  /** Websites whose figures must be written, those written longest ago first. */
  #due(decision: Decision, traffic: ReadonlyMap<string, WebsiteTraffic>): Due[] {
    const due: (Due & { readonly atMs: number })[] = []
    const seen = new Set<string>()
    for (const [name, decided] of decision.objects) {
      const object = decided.kind === 'Website' ? this.#options.shown.current('Website', decided.object) : undefined
      if (object === undefined) continue
      const key = kubeKey(object)
      seen.add(key)
      const before = this.#shownAt(key, object)
      const owner = { organization: decision.owners.get(name) ?? '', website: String(decided.fields['id']) }
      const shown = this.#wanted(decided, traffic.get(ownerKey(owner)) ?? null, before)
      if (!isSameTraffic(shown, before)) due.push({ object, shown, atMs: this.#written.get(key)?.atMs ?? 0 })
    }
    for (const key of this.#written.keys()) if (!seen.has(key)) this.#written.delete(key)
    return due.sort((a, b) => a.atMs - b.atMs)
  }

  #shownAt(key: string, object: KubeObject): ShownTraffic | null {
    const last = this.#written.get(key)
    if (last !== undefined && last.over === object.metadata.resourceVersion) return last.shown
    return readTraffic(object['status'])
  }

  /** A website that is not in force has no figures. */
  #wanted(
    { isInForce }: DecidedObject,
    traffic: WebsiteTraffic | null,
    before: ShownTraffic | null,
  ): ShownTraffic | null {
    if (!isInForce || this.#options.read === null) return null
    return shownTraffic(traffic, before)
  }

  async #write({ object, shown }: Due): Promise<void> {
    try {
      const status = shown === null ? {} : { traffic: shown }
      await this.#options.writer.applyStatus('Website', object, status, TRAFFIC_MANAGER)
      const over = object.metadata.resourceVersion ?? ''
      this.#written.set(kubeKey(object), { over, shown, atMs: performance.now() })
    } catch (error) {
      // The next round tries again.
      this.#options.logger.debug({ website: kubeKey(object), why: String(error) }, 'figures not written')
    }
  }
}
