/** New lines of Logs: from a stream while the tab is visible, or by polling every few seconds if no stream is available. */

import { useEffect, useState } from 'react'

import { ask, query } from './ask.ts'
import type { LogLine } from '../../domain/logs/line.ts'

/** `polling`: too many streams are open, so the list is polled instead. */
type LinesState = 'connecting' | 'live' | 'polling' | 'paused'

interface Lines {
  /** Newest first, at most `most`. */
  readonly lines: readonly LogLine[]
  readonly state: LinesState
  /** Number of lines that arrived too fast to be shown. */
  readonly more: number
}

interface Source {
  readonly stream: string
  /** The list of the same lines. */
  readonly list: string
  readonly isOn: boolean
}

const MOST_LINES = 200
const POLL_MS = 5_000
const NOTHING: Lines = { lines: [], state: 'connecting', more: 0 }

export function useLines({ stream, list, isOn }: Source): Lines {
  const [seen, setSeen] = useState(NOTHING)
  const isVisible = useVisible()
  useEffect(() => {
    setSeen(NOTHING)
  }, [stream])
  useEffect(() => {
    if (!isOn || !isVisible) {
      setSeen((before) => ({ ...before, state: 'paused' }))
      return undefined
    }
    const ended = new AbortController()
    const add = (records: readonly LogLine[], more: number): void => setSeen((before) => added(before, records, more))
    const tell = (state: LinesState): void => setSeen((before) => ({ ...before, state }))
    const events = new EventSource(stream)
    events.addEventListener('open', () => tell('live'))
    events.addEventListener('lines', ({ data }: MessageEvent<string>) => {
      const { records, more } = JSON.parse(data) as { readonly records: readonly LogLine[]; readonly more: number }
      add(records, more)
    })
    events.addEventListener('error', () => {
      if (events.readyState !== EventSource.CLOSED) return tell('connecting')
      tell('polling')
      void poll(list, add, ended.signal)
    })
    return () => {
      events.close()
      ended.abort()
    }
  }, [stream, list, isOn, isVisible])
  return seen
}

/** Lines may come twice: a stream repeats some after a reconnect. */
function added({ lines, more: before, state }: Lines, records: readonly LogLine[], more: number): Lines {
  const known = new Set(lines.map(({ id }) => id))
  const fresh = records.filter(({ id }) => !known.has(id)).toReversed()
  return { lines: [...fresh, ...lines].slice(0, MOST_LINES), state, more: before + more }
}

async function poll(
  list: string,
  add: (records: readonly LogLine[], more: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const joined = list.includes('?') ? '&' : '?'
  while (!signal.aborted) {
    const since = query({ since: Date.now() - 3 * POLL_MS }).slice(1)
    await ask<{ readonly records: readonly LogLine[] }>(list + joined + since, { signal }).then(
      ({ records }) => add(records.toReversed(), 0),
      // The next poll finds what this one missed.
      () => undefined,
    )
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** A hidden tab holds no connection: browsers allow six per host. */
function useVisible(): boolean {
  const [isVisible, setIsVisible] = useState(() => !document.hidden)
  useEffect(() => {
    const changed = (): void => setIsVisible(!document.hidden)
    document.addEventListener('visibilitychange', changed)
    return () => document.removeEventListener('visibilitychange', changed)
  }, [])
  return isVisible
}
