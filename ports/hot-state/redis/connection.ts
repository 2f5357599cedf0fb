/**
 * Runs scripts within a deadline, and tracks whether Redis is reachable: after a failure it sends only probes, until
 * one is answered. It also detects that Redis has changed: restarted, failed over or emptied.
 */

import { randomBytes } from 'node:crypto'

import type { Redis } from 'ioredis'

import type { StoreGeneration } from './verbs.ts'
import { defineScripts, runTogether, type RunScript, type SendVerbs } from './scripts.ts'
import { endedWithin } from '../../../common/deadline.ts'
import { Outage } from '../../../common/outage.ts'

/** Redis did not answer in time or refused; the verb may have run or not. Carries no keys and no values. */
export class RedisUnavailable extends Outage {
  override readonly name = 'RedisUnavailable'
}

export interface KeepingProcess {
  /** 16 bytes. */
  readonly id: Buffer
  /** Since when it has kept writes back (Unix ms); now if it keeps none. */
  readonly keptSinceMs: () => number
  /** Whether it keeps any. */
  readonly keepsSome: () => boolean
}

interface RedisConnectionOptions {
  readonly prefix: string
  readonly times: ProbeTimes
  /** Most verbs that may wait for their answers at once; more are refused. */
  readonly maxInFlight: number
  /** For a process that keeps writes while Redis is away: Redis then knows that it lives. Null for others. */
  readonly process: KeepingProcess | null
  readonly news: RedisNews
  /** After each probe that was answered. */
  readonly onProbed: () => void
}

interface ProbeTimes {
  /** The longest that a verb waits for Redis. */
  readonly deadlineMs: number
  /** Pause between two probes while Redis is reachable. */
  readonly probeEveryMs: number
}

/** Who hears how Redis does. */
export interface RedisNews {
  /** Called when Redis becomes unreachable, with the reason; without keys, values and credentials. */
  readonly onUnreachable: (reason: string) => void
  readonly onReachable: () => void
  /**
   * Called when the data in Redis may have changed: restarted, failed over or emptied. `run` is an ID of this generation of the
   * data; `before` is the previous one, or null at the first connection.
   */
  readonly onNewRun: (run: string, before: string | null) => void
}

/** Between probes while Redis is unreachable. */
const PROBE_AWAY_MS = 100
/** After this many unanswered probes the connection counts as dead, even if it was not closed. */
const SILENT_PROBES = 4
const REASON_CHARS = 200
const DEADLINE_PARTS = 5
/** Of a mark that does not begin as in shared.lua. */
const OTHER_FORM = 'Redis holds data in another form: use an empty database, or the program that made them'
/** No deadline lasts longer than this many times its length, even if this process was stalled. */
export const MOST_STRETCHED = 3

/** One connection to Redis: sends while Redis is reachable, probes while it is not. */
export class RedisConnection {
  readonly #client: Redis
  readonly #options: RedisConnectionOptions
  readonly #send: SendVerbs
  readonly #runTogether: RunScript
  #isReachable = false
  #isToldAway = false
  /** Why the connection will be closed. */
  #cause: Error | null = null
  #isClosed = false
  #inFlight = 0
  #silentProbes = 0
  /** ID of the server behind the present connection; null until it was read. */
  #serverRun: string | null = null
  #run: string | null = null
  #mark = ''
  #timer: NodeJS.Timeout | undefined

  constructor(client: Redis, options: RedisConnectionOptions) {
    this.#client = client
    this.#options = options
    this.#send = defineScripts(client, options.prefix)
    this.#runTogether = runTogether((call, count) => this.#answered(call, count))
    client.on('ready', () => this.#probeIn(0))
    client.on('error', (error: Error) => {
      this.#cause = error
    })
    client.on('close', () => {
      this.#serverRun = null
      this.#lose(redisUnavailable(this.#cause ?? new RedisUnavailable('the connection was closed')))
      this.#cause = null
    })
    // If a connection is closed while ioredis still queries Sentinel, as in a failover, ioredis gives up for good.
    client.on('end', () => this.#connectAgain())
  }

  /** As of the last probe. Before the first one, a name that no store ever has. */
  get generation(): StoreGeneration {
    return { name: this.#run ?? 'unknown', mark: this.#mark }
  }

  get isReachable(): boolean {
    return this.#isReachable
  }

  /** Resolves when Redis answered, or after `waitMs`; keeps trying either way. */
  async open(waitMs: number): Promise<void> {
    const answered = this.#client.connect().then(
      () => this.#probeAndGoOn(),
      () => undefined,
    )
    await endedWithin(answered, waitMs)
  }

  /** Rejects with RedisUnavailable, at the latest at the deadline. */
  readonly run: RunScript = (name, args) => {
    if (!this.#isReachable) return Promise.reject(new RedisUnavailable('Redis is unreachable'))
    if (this.#inFlight >= this.#options.maxInFlight) {
      return Promise.reject(new RedisUnavailable('too many verbs wait for Redis'))
    }
    return this.#ask(name, args)
  }

  close(): void {
    this.#isClosed = true
    this.#isReachable = false
    clearTimeout(this.#timer)
    this.#client.disconnect()
  }

  #connectAgain(): void {
    if (this.#isClosed) return
    setTimeout(() => {
      if (!this.#isClosed && this.#client.status === 'end') this.#client.connect().catch(() => undefined)
    }, PROBE_AWAY_MS).unref()
  }

  readonly #ask: RunScript = (name, args) => {
    this.#inFlight++
    return this.#runTogether(name, args)
  }

  /** The answers to the verbs of one call. They have one deadline: a timer for each verb would cost more than encoding it. */
  async #answered(call: Buffer, count: number): Promise<readonly unknown[]> {
    try {
      if (this.#client.status !== 'ready') throw new RedisUnavailable('there is no connection')
      return await answeredWithin(this.#send(call, count), this.#options.times.deadlineMs)
    } catch (error) {
      const failure = redisUnavailable(error)
      this.#lose(failure)
      throw failure
    } finally {
      this.#inFlight -= count
    }
  }

  #lose(failure: RedisUnavailable): void {
    if (this.#isToldAway || this.#isClosed) return
    this.#isToldAway = true
    this.#isReachable = false
    this.#options.news.onUnreachable(failure.message)
    this.#probeIn(PROBE_AWAY_MS)
  }

  #probeIn(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#probeAndGoOn(), ms).unref()
  }

  async #probeAndGoOn(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      await this.#probe()
      this.#silentProbes = 0
    } catch (error) {
      this.#lose(redisUnavailable(error))
      this.#reconnectIfSilent()
    }
    this.#probeIn(this.#isReachable ? this.#options.times.probeEveryMs : PROBE_AWAY_MS)
  }

  async #probe(): Promise<void> {
    this.#serverRun ??= runIdOf(await answeredWithin(this.#client.info('server'), this.#options.times.deadlineMs))
    const { process } = this.#options
    const wasAway = this.#isToldAway ? 1 : ''
    // What came while this probe is under way is kept too, so one that was away says so until the next probe.
    const keeps = wasAway || (process?.keepsSome() === true ? 1 : '')
    const alive = process === null ? ['', '', ''] : [process.id, process.keptSinceMs(), keeps]
    const mark = await this.#ask('probe', ['', randomBytes(8).toString('hex'), ...alive, wasAway])
    const before = this.#run
    this.#mark = String(mark)
    if (this.#mark === '') throw new RedisUnavailable(OTHER_FORM)
    this.#run = `${this.#serverRun}/${this.#mark}`
    if (this.#run !== before) this.#options.news.onNewRun(this.#run, before)
    if (this.#isClosed) return
    if (!this.#isReachable) {
      this.#isReachable = true
      this.#isToldAway = false
      this.#options.news.onReachable()
    }
    this.#options.onProbed()
  }

  #reconnectIfSilent(): void {
    if (this.#client.status !== 'ready' || ++this.#silentProbes < SILENT_PROBES) return
    this.#silentProbes = 0
    this.#client.disconnect(true)
  }
}

/**
 * Time in which this process itself was stalled does not count; otherwise a busy machine would look like an unreachable
 * Redis. The deadline therefore passes in parts, each begun after the one before. At the end one turn of the event loop may
 * pass, so that an answer that has already arrived still counts.
 */
function answeredWithin<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new RedisUnavailable(`no answer within ${ms} ms`))
    const latestAtMs = performance.now() + ms * MOST_STRETCHED
    let parts = DEADLINE_PARTS
    const passed = (): void => {
      parts--
      if (parts === 0 || performance.now() > latestAtMs) setImmediate(late)
      else timer = setTimeout(passed, ms / DEADLINE_PARTS)
    }
    let timer = setTimeout(passed, ms / DEADLINE_PARTS)
    answer.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(redisUnavailable(error))
      },
    )
  })
}

/** The client's errors carry the command with all its arguments, so only the message is passed on. */
function redisUnavailable(error: unknown): RedisUnavailable {
  if (error instanceof RedisUnavailable) return error
  return new RedisUnavailable(error instanceof Error ? error.message.slice(0, REASON_CHARS) : 'unknown error')
}

function runIdOf(info: string): string {
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? 'unknown'
}
