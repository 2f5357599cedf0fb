/** Repeats work in the background, one round at a time, until it is closed. */

/** Its timers do not keep a process alive. */
export interface Repetition extends AsyncDisposable {
  /** Begins a round without waiting; if one is under way, another follows at once. */
  readonly now: () => void
  /** No further round begins. Resolves when the one under way has ended; a second call does the same. */
  readonly close: () => Promise<void>
}

/** One round. The signal is aborted by `close`. A number is the pause until the next round, in ms, in place of the usual one. */
type Round = (signal: AbortSignal) => Promise<number | void> | number | void

interface RepetitionOptions {
  /** Receives what a round failed with; the next one follows all the same. Not called for a round that `close` interrupted. */
  readonly onFailure: (error: unknown) => void
  /** Pause before the first round, in ms. Default 0: it begins at once. */
  readonly firstMs?: number
  /** Pause after a round that failed, in ms. Default: the usual one. */
  readonly retryMs?: number
}

/** `pauseMs` is the time between the end of a round and the next, in ms; with `Infinity` only `now` and a failure begin another. */
export function every(
  pauseMs: number,
  act: Round,
  { onFailure, firstMs = 0, retryMs = pauseMs }: RepetitionOptions,
): Repetition {
  const closing = new AbortController()
  const { signal } = closing
  let timer: NodeJS.Timeout | undefined
  let ended = Promise.resolve()
  let isUnderWay = false
  let isWanted = false
  const round = async (): Promise<number> => {
    isWanted = false
    try {
      return (await act(signal)) ?? pauseMs
    } catch (error) {
      if (!signal.aborted) onFailure(error)
      return retryMs
    }
  }
  const rounds = async (): Promise<void> => {
    let waitMs = await round()
    while (isWanted && !signal.aborted) waitMs = await round()
    isUnderWay = false
    if (!signal.aborted) beginAfter(waitMs)
  }
  const now = (): void => {
    clearTimeout(timer)
    isWanted = true
    if (signal.aborted || isUnderWay) return
    isUnderWay = true
    ended = rounds()
  }
  const beginAfter = (waitMs: number): void => {
    if (Number.isFinite(waitMs)) timer = setTimeout(now, waitMs).unref()
  }
  const close = async (): Promise<void> => {
    closing.abort()
    clearTimeout(timer)
    await ended
  }
  if (firstMs === 0) now()
  else beginAfter(firstMs)
  return { now, close, [Symbol.asyncDispose]: close }
}
