/** Patches faults of kafkajs 2.2.4, which is no longer maintained; each patch says what is wrong and why it matters. */

import { createRequire } from 'node:module'

import { brokerAnswered, brokerWasSilent } from './brokers.ts'

/** The inner parts of kafkajs that are patched or used. Members that a patch replaces may be missing in another version. */
interface Inner {
  readonly errors: Errors
  readonly broker: { readonly prototype: { connect?: (this: Broker) => Promise<void> } }
  readonly 'consumer/runner': { readonly prototype: Partial<Runner> }
  readonly 'network/connection': { readonly prototype: Partial<BrokerConnection> }
  readonly 'network/requestQueue': {
    readonly prototype: {
      scheduleCheckPendingRequests?: Schedule
      waitForPendingRequests?: (this: RequestQueue) => Promise<void>
      scheduleRequestTimeoutCheck?: (this: TimedQueue) => void
    }
  }
  readonly 'network/requestQueue/socketRequest': { readonly prototype: { send?: (this: SocketRequest) => void } }
  readonly 'protocol/encoder': { readonly prototype: WireEncoder }
  readonly 'protocol/requests': { readonly requests: Readonly<Record<string, unknown>> }
}

const require = createRequire(import.meta.url)

export function inner<Name extends keyof Inner>(name: Name): Inner[Name] {
  // Each patch checks that what it replaces is there, and tests that it works.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- kafkajs declares no types of its inner parts
  return require(`kafkajs/src/${name}`) as Inner[Name]
}

interface RequestQueue {
  readonly pending: readonly unknown[]
  readonly throttledUntil: number
  readonly broker: string
  rejectAll(error: Error): void
}

type Schedule = (this: RequestQueue) => void

/**
 * kafkajs sets a timer after every answer to look through waiting requests, and again when it fires, even if none wait.
 * Each connection then wakes the process a thousand times a second for ever, and Node warns about the negative delay.
 * Without waiting requests no timer is needed: a request that has to wait sets one itself.
 */
function keepIdleQueuesQuiet(): void {
  const queue = inner('network/requestQueue')
  const schedule = queue.prototype.scheduleCheckPendingRequests
  if (schedule === undefined) throw new Error('kafkajs is not the version that this service was made for')
  queue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this)
  }
}

interface WireEncoder {
  buf: Buffer
  offset: number
  ensureAvailable(bytes: number): void
  writeUVarInt?(value: number): WireEncoder
}

const MOST_VARINT_BYTES = 5
const MORE_BITS = 0xff_ff_ff_80

/** kafkajs makes two buffers for each such number, and a record has six: a tenth of the work of sending. */
function writeNumbersInPlace(): void {
  const { prototype } = inner('protocol/encoder')
  if (prototype.writeUVarInt === undefined) throw new Error('kafkajs is not the version that this service was made for')
  prototype.writeUVarInt = function (value) {
    this.ensureAvailable(MOST_VARINT_BYTES)
    let left = value
    for (; (left & MORE_BITS) !== 0; left >>>= 7) this.buf[this.offset++] = (left & 0x7f) | 0x80
    this.buf[this.offset++] = left & 0x7f
    return this
  }
}

interface Errors {
  readonly KafkaJSConnectionError: new (message: string, options: { broker: string; code: string }) => Error
  readonly KafkaJSConnectionClosedError: new (message: string, options: { host: string; port: number }) => Error
}

/** How long kafkajs may wait before it ends a connection; a healthy broker answers its longest request sooner. */
const LAST_ANSWERS_MS = 2_000

/**
 * Before it closes a connection, kafkajs removes the time-outs of requests in flight and then waits for them without
 * end (tulios/kafkajs#918, #1167). If a broker hangs, closing, reconnecting and even refreshing the list of brokers
 * never end.
 */
function endConnectionsInTime(): void {
  const { KafkaJSConnectionClosedError } = inner('errors')
  const { prototype } = inner('network/requestQueue')
  const wait = prototype.waitForPendingRequests
  if (wait === undefined) throw new Error('kafkajs is not the version that this service was made for')
  prototype.waitForPendingRequests = function () {
    const [host = '', port] = hostAndPort(this.broker)
    const timer = setTimeout(() => {
      this.rejectAll(new KafkaJSConnectionClosedError('Closed connection', { host, port: Number(port) }))
    }, LAST_ANSWERS_MS)
    return wait.call(this).finally(() => clearTimeout(timer))
  }
}

function hostAndPort(broker: string): readonly string[] {
  const colon = broker.lastIndexOf(':')
  return [broker.slice(0, colon), broker.slice(colon + 1)]
}

interface Broker {
  readonly connectionPool: { readonly host: string; readonly port: number }
  disconnect(): Promise<void>
}

/** From the first packet to the end of authentication. */
const HANDSHAKE_MS = 5_000

/**
 * If a broker refuses a connection, kafkajs tries another one. If it accepts and then answers nothing, as a frozen
 * broker does, kafkajs retries the same one. This patch treats both alike.
 */
function countSilentBrokersAsAway(): void {
  const { KafkaJSConnectionError } = inner('errors')
  const { prototype } = inner('broker')
  const connect = prototype.connect
  if (connect === undefined) throw new Error('kafkajs is not the version that this service was made for')
  prototype.connect = async function () {
    const broker = `${this.connectionPool.host}:${this.connectionPool.port}`
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new KafkaJSConnectionError('Connection error: no answer in time', { broker, code: 'ETIMEDOUT' }))
      void this.disconnect().catch(() => undefined)
    }, HANDSHAKE_MS)
    try {
      await Promise.race([connect.call(this), late.promise])
      brokerAnswered(broker)
    } catch (error) {
      if (error instanceof KafkaJSConnectionError) brokerWasSilent(broker)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

interface Runner {
  readonly running: boolean
  readonly fetchManager: { stop(): Promise<void> }
  fetch(nodeId: string): Promise<readonly unknown[]>
}

/**
 * When brokers come or go, kafkajs may start fetching after its consumer was stopped. Each fetch then answers at once
 * and is followed by the next, which starves the process. Such a fetch now ends the fetching.
 */
function endFetchingOfStoppedConsumers(): void {
  const { prototype } = inner('consumer/runner')
  const fetch = prototype.fetch
  if (fetch === undefined) throw new Error('kafkajs is not the version that this service was made for')
  prototype.fetch = function (this: Runner, nodeId) {
    // Not awaited: it resolves only when this fetch has ended.
    if (!this.running) void this.fetchManager.stop()
    return fetch.call(this, nodeId)
  }
}

interface BrokerConnection {
  readonly broker: string
  /** The length of the answer that is being received. */
  readonly bytesNeeded: number
  processData(data: Buffer): void
  rejectRequests(error: Error): void
  disconnect(): Promise<unknown>
}

/** Far more than the largest answer: what a fetch may bring is bounded to some megabytes. */
const MOST_ANSWER_BYTES = 256 * 1024 * 1024

/**
 * kafkajs reads answers in a listener of the socket. What it throws there, at a frame that is none, no promise catches: it would end
 * the process. And it waits without end for a frame that says to be of gigabytes. Both now end the connection, as an error of the
 * socket does.
 */
function endConnectionsThatMakeNoSense(): void {
  const { KafkaJSConnectionError } = inner('errors')
  const { prototype } = inner('network/connection')
  const take = prototype.processData
  if (take === undefined) throw new Error('kafkajs is not the version that this service was made for')
  prototype.processData = function (this: BrokerConnection, data) {
    try {
      take.call(this, data)
      if (this.bytesNeeded <= MOST_ANSWER_BYTES) return
    } catch {
      // Told below.
    }
    const told = { broker: this.broker, code: 'EPROTO' }
    this.rejectRequests(new KafkaJSConnectionError('Connection error: not an answer of Kafka', told))
    void this.disconnect().catch(() => undefined)
  }
}

interface SocketRequest {
  readonly requestTimeout: number
  timeoutRequest(): void
}

interface TimedQueue {
  readonly enforceRequestTimeout: boolean
  readonly requestTimeout: number
  readonly inflight: ReadonlyMap<number, SocketRequest>
  requestTimeoutIntervalId: NodeJS.Timeout
  isConnected(): boolean
  destroy(): void
}

const LOOK_MS = 100

/**
 * kafkajs measures how long a broker has had a request by the wall clock: when that is set forward, everything in flight counts as
 * late at once, and its connections are ended. They are measured by the monotonic clock instead.
 */
function timeRequestsByMonotonicClock(): void {
  const { prototype: ofRequest } = inner('network/requestQueue/socketRequest')
  const { prototype: ofQueue } = inner('network/requestQueue')
  const send = ofRequest.send
  if (send === undefined || ofQueue.scheduleRequestTimeoutCheck === undefined)
    throw new Error('kafkajs is not the version that this service was made for')
  const sentAtMs = new WeakMap<SocketRequest, number>()
  ofRequest.send = function () {
    send.call(this)
    sentAtMs.set(this, performance.now())
  }
  ofQueue.scheduleRequestTimeoutCheck = function () {
    if (!this.enforceRequestTimeout) return
    this.destroy()
    const look = (): void => {
      for (const request of this.inflight.values())
        if (performance.now() - (sentAtMs.get(request) ?? Infinity) > request.requestTimeout) request.timeoutRequest()
      if (!this.isConnected()) this.destroy()
    }
    this.requestTimeoutIntervalId = setInterval(look, Math.min(this.requestTimeout, LOOK_MS))
  }
}

let isMended = false

/** Applies the patches once, however often it is called. */
export function mendKafkajs(): void {
  if (isMended) return
  isMended = true
  keepIdleQueuesQuiet()
  writeNumbersInPlace()
  endConnectionsInTime()
  countSilentBrokersAsAway()
  endFetchingOfStoppedConsumers()
  endConnectionsThatMakeNoSense()
  timeRequestsByMonotonicClock()
}
