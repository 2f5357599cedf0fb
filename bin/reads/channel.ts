/**
 * Calls between two threads: each side offers functions and calls those of the other. A call resolves with a copy of its result, or rejects
 * with an error of the same name, message, code and stack, which is an `Outage` if theirs is one. If its signal is aborted it rejects at once, and
 * the other side's signal is aborted, too.
 */

import { Outage } from '../../common/outage.ts'

/** What a side offers. Arguments and results must be such as `structuredClone` copies. */
export type Offers = Readonly<Record<string, (argument: never, signal: AbortSignal) => Promise<unknown>>>

/** One end of a message channel: of a worker or of its parent. */
interface ThreadPort {
  postMessage: (value: unknown, transfer?: readonly ArrayBuffer[]) => void
  on: (event: 'message', listener: (message: unknown) => void) => unknown
}

export interface Channel<Theirs extends Offers> {
  readonly call: <N extends keyof Theirs & string>(
    name: N,
    argument: Parameters<Theirs[N]>[0],
    signal?: AbortSignal,
  ) => Promise<Received<Awaited<ReturnType<Theirs[N]>>>>
  /** For an end of the other side: every call that waits, and every later one, rejects with this reason, and what runs for the other side is aborted. */
  readonly close: (reason: Error) => void
}

/** A result whose bytes change hands in place of being copied; the side that sends them must not use them any more. */
export class Moved<T> {
  readonly value: T
  readonly bytes: Uint8Array

  constructor(value: T, bytes: Uint8Array) {
    this.value = value
    this.bytes = bytes
  }
}

type Received<T> = T extends Moved<infer Value> ? Value : T

type ThreadMessage =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly argument: unknown }
  | { readonly kind: 'abort'; readonly id: number }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: CarriedError }

interface CarriedError {
  readonly name: string
  readonly message: string
  readonly isOutage: boolean
  readonly code: string | number | undefined
  readonly stack: string | undefined
}

interface WaitingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export function openChannel<Theirs extends Offers>(port: ThreadPort, own: Offers): Channel<Theirs> {
  const caller = createCaller(port)
  const answerer = createAnswerer(port, own)
  port.on('message', (received) => {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- both threads are of this program, which declares what each offers
    const message = received as ThreadMessage
    if (message.kind === 'call') void answerer.answer(message)
    else if (message.kind === 'abort') answerer.abort(message)
    else caller.settle(message)
  })
  const close = (reason: Error): void => {
    caller.close(reason)
    answerer.close(reason)
  }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- both threads are of this program, which declares what each offers
  return { call: caller.call as Channel<Theirs>['call'], close }
}

/** Makes the calls of this side. */
function createCaller(port: ThreadPort) {
  const waiting = new Map<number, WaitingCall>()
  let lastId = 0
  let closedBy: Error | null = null

  function call(name: string, argument: unknown, signal?: AbortSignal): Promise<unknown> {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const leave = (): void => {
      port.postMessage({ kind: 'abort', id } satisfies ThreadMessage)
      reject(signal?.reason)
    }
    waiting.set(id, { resolve, reject })
    signal?.addEventListener('abort', leave, { once: true })
    try {
      if (closedBy !== null) throw closedBy
      signal?.throwIfAborted()
      port.postMessage({ kind: 'call', id, name, argument } satisfies ThreadMessage)
    } catch (error) {
      reject(error)
    }
    return promise.finally(() => {
      waiting.delete(id)
      signal?.removeEventListener('abort', leave)
    })
  }

  return {
    call,
    /** An answer to a call that was left is dropped. */
    settle(message: Extract<ThreadMessage, { kind: 'result' | 'failure' }>): void {
      const { resolve, reject } = waiting.get(message.id) ?? NOBODY
      if (message.kind === 'result') resolve(message.value)
      else reject(errorOf(message.error))
    },
    close(reason: Error): void {
      closedBy = reason
      for (const each of waiting.values()) each.reject(reason)
    },
  }
}

const NOBODY: WaitingCall = { resolve: () => undefined, reject: () => undefined }

/** Answers the calls of the other side. */
function createAnswerer(port: ThreadPort, own: Offers) {
  const running = new Map<number, AbortController>()
  return {
    async answer({ id, name, argument }: Extract<ThreadMessage, { kind: 'call' }>): Promise<void> {
      const left = new AbortController()
      running.set(id, left)
      try {
        const act = own[name]
        if (act === undefined) throw new Error(`the other thread offers no ${name}`)
        // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- both threads are of this program, which declares what each offers
        const result = await act(argument as never, left.signal)
        const { value, transfer } = result instanceof Moved ? movable(result) : { value: result, transfer: [] }
        port.postMessage({ kind: 'result', id, value } satisfies ThreadMessage, transfer)
      } catch (error) {
        port.postMessage({ kind: 'failure', id, error: carried(error) } satisfies ThreadMessage)
      } finally {
        running.delete(id)
      }
    },
    abort({ id }: Extract<ThreadMessage, { kind: 'abort' }>): void {
      running.get(id)?.abort()
    },
    close(reason: Error): void {
      for (const each of running.values()) each.abort(reason)
    },
  }
}

/** Bytes that share their memory with others stay, and are copied. */
function movable({ value, bytes }: Moved<unknown>): { readonly value: unknown; readonly transfer: ArrayBuffer[] } {
  const { buffer } = bytes
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
  return { value, transfer: isAlone ? [buffer] : [] }
}

function carried(error: unknown): CarriedError {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), isOutage: false, code: undefined, stack: undefined }
  const { name, message, stack } = error
  const code = 'code' in error ? error.code : undefined
  return {
    name,
    message,
    isOutage: error instanceof Outage,
    stack,
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
  }
}

function errorOf({ name, message, isOutage, code, stack }: CarriedError): Error {
  const error: Error = isOutage ? new Outage(message) : new Error(message)
  return Object.assign(error, { name, stack }, code === undefined ? {} : { code })
}
