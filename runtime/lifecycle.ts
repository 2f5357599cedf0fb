/** Starts the parts of a process in order and stops them in reverse: once, within a deadline, whatever goes wrong. */

import type { Logger } from './logger.ts'

type StopReason = 'SIGTERM' | 'SIGINT' | 'failure' | 'request'

/** Starts parts, which the process stops. */
export interface PartStarter {
  /**
   * Opens a part and remembers how to close it. If opening fails, everything opened before is closed in reverse and the
   * error is rethrown. Start parts one after another.
   */
  readonly start: <T>(name: string, open: () => Promise<T> | T, close?: (part: T) => Promise<void> | void) => Promise<T>
  /**
   * As `start`, for a part that works in the background and that no other part asks for anything: it begins to close as soon as
   * the process is to stop, and is awaited in its turn. Several that wait for what hangs then wait at the same time.
   */
  readonly startBackground: PartStarter['start']
  /** A part cannot continue: the process stops as on a signal, and exits with a failure. */
  readonly fail: (part: string, error: unknown) => void
}

interface Draining {
  /**
   * True from the signal on that says that the process will be stopped soon: it goes on, and lets callers go elsewhere. A process
   * that stops drains as well.
   */
  readonly isDraining: () => boolean
  /** Calls back once when draining begins; at once if it has begun. Not called by a stop that came without a warning. */
  readonly onDrain: (act: () => void) => void
}

interface StopState {
  /** True from the first signal or failure on. */
  readonly isStopping: () => boolean
  /** Resolves with the exit code once everything is stopped, by signal, failure or request. */
  readonly stopped: Promise<number>
}

export interface Lifecycle extends PartStarter, Draining, StopState {
  /** Stops all parts; the same promise for every caller. Resolves with the exit code: 1 for the reason `failure`. */
  readonly stop: (reason: StopReason) => Promise<number>
}

interface LifecycleOptions {
  readonly logger: Logger
  /** For all parts together, in ms; parts that have not closed by then are logged and abandoned. */
  readonly stopDeadlineMs: number
  /** Where signals come from; in production, the process itself. */
  readonly signals: SignalSource
  /** Ends the process at once: on a second signal. */
  readonly exit: (code: number) => void
}

type Signal = (typeof SIGNALS)[number] | typeof DRAIN_SIGNAL

interface SignalSource {
  readonly on: (signal: Signal, listener: () => void) => unknown
  readonly off: (signal: Signal, listener: () => void) => unknown
}

interface StartedPart {
  readonly name: string
  readonly isBackground: boolean
  /** Closes it once, however often it is called. Never rejects. */
  readonly close: () => Promise<CloseOutcome>
}

type CloseOutcome = 'closed' | { readonly error: unknown }

const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** Sent before SIGTERM by who knows that the process will be stopped, such as the pod's preStop. */
const DRAIN_SIGNAL = 'SIGUSR2'

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { logger, signals } = options
  const parts: StartedPart[] = []
  const { promise: stopped, resolve: settle } = Promise.withResolvers<number>()
  let stopping: Promise<number> | null = null
  let hasFailed = false
  const isStopping = () => stopping !== null
  const draining = createDraining(options, { isStopping, stopped })

  const stop = (reason: StopReason): Promise<number> => {
    if (reason === 'failure') hasFailed ||= !isStopping()
    stopping ??= stopAll(reason).then((isClean) => {
      for (const signal of SIGNALS) signals.off(signal, listeners[signal])
      const code = isClean && !hasFailed ? 0 : 1
      settle(code)
      return code
    })
    return stopping
  }
  const stopAll = async (reason: StopReason): Promise<boolean> => {
    if (reason !== 'request') logger.info({ reason }, 'stopping')
    const isClean = await closeInReverse(parts, options)
    logger.info({ isClean }, 'stopped')
    return isClean
  }
  const onSignal = (signal: 'SIGTERM' | 'SIGINT') => () => {
    if (!isStopping()) return void stop(signal)
    logger.warn({ signal }, 'second signal: ending at once')
    options.exit(SIGNAL_EXIT_CODES[signal])
  }
  const listeners = { SIGTERM: onSignal('SIGTERM'), SIGINT: onSignal('SIGINT') }
  for (const signal of SIGNALS) signals.on(signal, listeners[signal])

  const starting =
    (isBackground: boolean): PartStarter['start'] =>
    async (name, open, close) => {
      try {
        if (isStopping()) throw new Error(`${name} not started: the process is stopping`)
        const part = await open()
        if (close !== undefined) parts.push({ name, isBackground, close: closingOnce(() => close(part)) })
        // A signal came while this part opened, so the stop may have missed it.
        if (isStopping()) await closeInReverse(parts, options)
        if (isStopping()) throw new Error(`${name} closed again: the process is stopping`)
        return part
      } catch (error) {
        await stop('failure')
        throw error
      }
    }
  return {
    start: starting(false),
    startBackground: starting(true),
    fail: (part, error) => {
      hasFailed = true
      logger.error({ part, err: error }, 'part failed')
      void stop('failure')
    },
    isStopping,
    ...draining,
    stop,
    stopped,
  }
}

function createDraining({ logger, signals }: LifecycleOptions, { isStopping, stopped }: StopState): Draining {
  const waiting: (() => void)[] = []
  let hasBegun = false
  const begin = (): void => {
    if (hasBegun) return
    hasBegun = true
    logger.info('draining: answers end their connections from now on')
    for (const act of waiting.splice(0)) act()
  }
  signals.on(DRAIN_SIGNAL, begin)
  void stopped.then(() => signals.off(DRAIN_SIGNAL, begin))
  return {
    isDraining: () => hasBegun || isStopping(),
    onDrain: (act) => {
      if (hasBegun) act()
      else waiting.push(act)
    },
  }
}

/** True when every part closed by itself and in time. */
async function closeInReverse(parts: StartedPart[], { logger, stopDeadlineMs }: LifecycleOptions): Promise<boolean> {
  const deadline = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => deadline.resolve('late'), stopDeadlineMs)
  let isClean = true
  for (const { isBackground, close } of parts) if (isBackground) void close()
  // A part that opens while others stop is closed too: the list is read again after every close.
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const { name, close } = part
    const outcome = await Promise.race([close(), deadline.promise])
    if (outcome === 'closed') continue
    isClean = false
    if (outcome === 'late') logger.error({ part: name }, 'part did not stop in time')
    else logger.error({ part: name, err: outcome.error }, 'part failed to stop')
  }
  clearTimeout(timer)
  return isClean
}

function closingOnce(close: () => Promise<void> | void): StartedPart['close'] {
  let outcome: Promise<CloseOutcome> | null = null
  return () => (outcome ??= closePart(close))
}

async function closePart(close: () => Promise<void> | void): Promise<CloseOutcome> {
  try {
    await close()
    return 'closed'
  } catch (error) {
    return { error }
  }
}
