/** A log stream on real engines: LMDB, the facts-writer, chDB, and a receiver; with a clock that tests set. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startFactsWriter } from '../../../delivery/facts-writer/facts-writer.ts'
import { createWatermarks } from '../../../delivery/streams/backlog-reader.ts'
import { createPackingRoom, type PackingRoom } from '../../../delivery/streams/packing-room.ts'
import { LIMITS } from '../../../domain/limits.ts'
import { createProgressStore, type ProgressStore } from '../../../delivery/streams/progress-store.ts'
import type { CatalogWaits } from '../../../delivery/catalog-waits.ts'
import type { StreamNews } from '../../../delivery/streams/news.ts'
import type { StreamInForce } from '../../../delivery/streams/in-force.ts'
import { StreamRunner } from '../../../delivery/streams/runner.ts'
import type { StreamSender, StreamTarget } from '../../../delivery/streams/sender.ts'
import { senderFor } from '../../../delivery/streams/sender-for.ts'
import type { OutboundParts } from '../../../delivery/outbound/call.ts'
import type { LogStream } from '../../../domain/catalog.ts'
import { FACTS_WRITER_GROUP } from '../../../domain/collection/facts-lag.ts'
import { encodeRecord, type LogRecord, type RecordTopic } from '../../../domain/records.ts'
import { until } from '../../../fixtures/until.ts'
import { lmdbEventLog, type LmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../../ports/facts/clickhouse.ts'
import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../../ports/facts/facts.ts'
import { migrate } from '../../../ports/facts/migrate.ts'
import { openLmdb, type LmdbEnvironment } from '../../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../../runtime/logger.ts'
import { KEYS, URL_OF_RECEIVER, type Receiver } from './receiver.ts'

export const STREAM: LogStream = {
  id: 'default/acme-logs',
  uid: '',
  namespace: 'default',
  objectName: 'acme-logs',
  displayName: 'Logs',
  webhook: { url: URL_OF_RECEIVER },
  s3: null,
  flushSeconds: 60,
  isPaused: false,
  includeBodies: true,
  startFrom: 'Now',
  compress: false,
  filter: { websites: [], kinds: [], minStatus: 0 },
}

/** One organisation's stream. */
export interface Actor {
  inForce: StreamInForce
  readonly told: string[]
  runner: StreamRunner
  /** As after a kill: nothing is left but what is stored. */
  restart(): void
}

export interface ActorOptions {
  readonly organization: string
  readonly receiver: Receiver
  readonly stream?: Partial<LogStream>
  /** To throw at a step, as a kill would end it there. */
  readonly store?: (store: ProgressStore) => ProgressStore
  readonly sender?: (sender: StreamSender) => StreamSender
  readonly callMs?: number
  /** Of all streams that pack together; each has its own without it. */
  readonly packing?: PackingRoom
  /** A bucket instead of the receiver, and how it is reached. */
  readonly target?: StreamTarget
  readonly bucket?: OutboundParts
  readonly waits?: CatalogWaits
}

export class Stage {
  nowMs = Date.now()
  readonly facts: Facts
  readonly #folder: string
  #environment: LmdbEnvironment
  #log: LmdbEventLog
  #logs = 0
  #count = 0
  #writer: Awaited<ReturnType<typeof startFactsWriter>> | null = null
  #ahead = 0

  private constructor(folder: string, facts: Facts, environment: LmdbEnvironment, log: LmdbEventLog) {
    this.#folder = folder
    this.facts = facts
    this.#environment = environment
    this.#log = log
  }

  static async open(): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'whence-streams-'))
    const connection = await openChdb(join(folder, 'facts'))
    await migrate(connection)
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    const environment = await openEnvironment(join(folder, 'log-0'))
    return new Stage(folder, facts, environment, await lmdbEventLog(environment))
  }

  get log(): LmdbEventLog {
    return this.#log
  }

  /** The log is lost, and a new one begins. */
  async loseLog(): Promise<void> {
    await this.#closeLog()
    this.#logs += 1
    this.#environment = await openEnvironment(join(this.#folder, `log-${this.#logs}`))
    this.#log = await lmdbEventLog(this.#environment)
  }

  /** Appends records; resolves once the facts-writer has written all that is on the log. */
  async write(topic: RecordTopic, records: readonly LogRecord[]): Promise<void> {
    this.#writer ??= await this.#startWriter()
    // It asks again who streams.
    this.#ahead += 11_000
    const entries = records.map((record) => ({ key: `key-${(this.#count += 1)}`, value: encodeRecord(record) }))
    await this.#log.append(topic, entries, { deadlineMs: 10_000 })
    await until(async () =>
      (await this.#log.lag()).every((lag) => lag.group !== FACTS_WRITER_GROUP || lag.entries === 0),
    )
  }

  actor(options: ActorOptions): Actor {
    const { organization, receiver, stream = {} } = options
    const told: string[] = []
    const make = (): StreamRunner => this.#runner(options, () => actor.inForce, told)
    const target: StreamTarget = options.target ?? { kind: 'webhook', url: URL_OF_RECEIVER, ...KEYS }
    const inForce = {
      stream: { ...STREAM, ...stream },
      organization: { id: organization, logRetentionDays: 90 },
      target,
    }
    const actor: Actor = { inForce, told, runner: null as never, restart: () => void (actor.runner = make()) }
    actor.restart()
    receiver.mood = 'takes'
    return actor
  }

  /** Steps until nothing is left to do at this moment of the clock; a step that throws ends the process. */
  async settle(actor: Actor, most = 60): Promise<void> {
    for (let count = 0; count < most; count += 1) {
      this.nowMs += 1_001
      const waitMs = await actor.runner.step().catch(() => {
        actor.restart()
        return 0
      })
      if (waitMs > 0) return
    }
  }

  async close(): Promise<void> {
    await this.#closeLog()
    await this.facts.close()
    await rm(this.#folder, { recursive: true })
  }

  #startWriter(): ReturnType<typeof startFactsWriter> {
    const options = { lingerMs: 2, gatherMs: 0, busyGatherMs: 0, politeness: 0 }
    const nowMs = (): number => Date.now() + this.#ahead
    return startFactsWriter({ eventLog: this.#log, facts: this.facts, logger: SILENT_LOGGER, nowMs, options })
  }

  #runner(options: ActorOptions, current: () => StreamInForce, told: string[]): StreamRunner {
    const { organization, receiver, store = (own) => own, sender = (own) => own, callMs = 10_000 } = options
    const nowMs = (): number => this.nowMs
    const key = { organization, stream: STREAM.id }
    const news: StreamNews = {
      tell: async (_inForce, type, detail) => void told.push(`${type} ${detail}`),
      dropped: (reason, records) => void told.push(`dropped ${reason} ${records}`),
      sent: () => undefined,
      standings: () => undefined,
    }
    return new StreamRunner({
      configured: {
        current,
        catalogNumber: () => 1,
        waits: options.waits ?? { isBehind: () => false, waitFor: () => 0 },
      },
      backlog: { facts: this.facts, watermarks: createWatermarks(this.#log, nowMs) },
      store: store(createProgressStore({ facts: this.facts, key, leasedAtMs: nowMs(), nowMs })),
      sending: {
        senderOf: ({ stream, target }) =>
          sender(
            senderFor(
              { stream, target },
              { bucket: options.bucket ?? {}, webhook: receiver.outbound({ callMs }) },
              nowMs,
            ),
          ),
        packing: options.packing ?? createPackingRoom(LIMITS.streamPackingBytes),
        random: () => 0.5,
      },
      news,
      nowMs,
    })
  }

  async #closeLog(): Promise<void> {
    await this.#writer?.close()
    this.#writer = null
    await this.#log.close()
    await this.#environment.close()
  }
}

function openEnvironment(folder: string): Promise<LmdbEnvironment> {
  const onFatal = (error: Error): void => {
    throw error
  }
  return openLmdb(folder, { nowMs: Date.now, onFatal, minFreeBytes: 0 })
}
