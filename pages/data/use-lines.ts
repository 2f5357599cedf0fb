/** New lines of Logs: from a stream while the tab is visible, or by polling every few seconds if no stream is available. */

import { useEffect, useRef, useState } from 'react'

import { memberOf } from '../../domain/strict-json.ts'
import type { JsonFrom } from '../../dashboard/api/routes.ts'
import { ApiProblem, ask } from './ask.ts'
import type { LogLine } from '../../domain/logs/line.ts'

/**
 * `polling`: too many streams are open, so the list is polled instead; `failing`: that has failed, and is repeated. `ended`: this person
 * is signed out, or may no longer read it.
 */
type LinesState = 'connecting' | 'live' | 'polling' | 'failing' | 'ended' | 'paused'

interface Lines {
  /** Newest first, at most `most`. */
  readonly lines: readonly LogLine[]
  readonly state: LinesState
  /** Number of lines that arrived too fast to be shown. */
  readonly more: number
  /** There may be others, which nobody has counted. */
  readonly isAtLeast: boolean
}

/** As the stream sends them, oldest first. */
interface NewLines {
  readonly records: readonly LogLine[]
  readonly more?: number
  readonly isAtLeast?: boolean
}

interface Source {
  readonly stream: string
  /** The list of the same lines. */
  readonly list: string
  readonly isOn: boolean
}

const MOST_LINES = 200
const POLL_MS = 5_000
/** After so many of them there may be room for a stream again. */
const MOST_POLLS = 12
const NOTHING: Lines = { lines: [], state: 'connecting', more: 0, isAtLeast: false }

export function useLines({ stream, list, isOn }: Source): Lines {
  const [seen, setSeen] = useState(NOTHING)
  const [turn, setTurn] = useState(0)
  const isVisible = useVisible()
  const wasOpen = useRef(false)
  useEffect(() => {
    wasOpen.current = false
    setSeen(NOTHING)
  }, [stream])
  useEffect(() => {
    if (!isOn || !isVisible) {
      setSeen((before) => ({ ...before, state: 'paused' }))
      return undefined
    }
    const ended = new AbortController()
    const add = (come: NewLines): void => setSeen((before) => added(before, come))
    const tell = (state: LinesState): void => setSeen((before) => ({ ...before, state }))
    const events = new EventSource(stream)
    const onEnd = (): void => {
      events.close()
      tell('ended')
    }
    events.addEventListener('end', ({ data }: MessageEvent<string>) => {
      // After any other end the browser reconnects by itself.
      if (memberOf(JSON.parse(data), 'reason') === 'no_longer_allowed') onEnd()
    })
    events.addEventListener('open', () => {
      tell('live')
      // What came between two streams is in neither.
      add({ records: [], isAtLeast: wasOpen.current })
      wasOpen.current = true
    })
    events.addEventListener('lines', ({ data }: MessageEvent<string>) => {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the server's own tests check its events
      add(JSON.parse(data) as NewLines)
    })
    events.addEventListener('error', () => {
      if (events.readyState !== EventSource.CLOSED) return tell('connecting')
      void poll(list, { add, tell, onEnd, onRoom: () => setTurn((before) => before + 1) }, ended.signal)
    })
    return () => {
      events.close()
      ended.abort()
    }
  }, [stream, list, isOn, isVisible, turn])
  return seen
}

/** Lines may come twice: a stream repeats some after a reconnect. */
function added({ lines, state, ...before }: Lines, { records, more = 0, isAtLeast = false }: NewLines): Lines {
  const known = new Set(lines.map(({ id }) => id))
  const fresh = records.filter(({ id }) => !known.has(id)).toReversed()
  const seen = [...fresh, ...lines].slice(0, MOST_LINES)
  return { lines: seen, state, more: before.more + more, isAtLeast: before.isAtLeast || isAtLeast }
}

interface Polled {
  readonly add: (come: NewLines) => void
  readonly tell: (state: LinesState) => void
  readonly onEnd: () => void
  /** It is time to try a stream again. */
  readonly onRoom: () => void
}

async function poll(list: string, { add, tell, onEnd, onRoom }: Polled, signal: AbortSignal): Promise<void> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const state = await ask<JsonFrom<'logs'>>(recentOf(list), { signal }).then(
      ({ records, next }): LinesState => {
        add({ records: records.toReversed(), isAtLeast: next !== null })
        return 'polling'
      },
      // The next poll finds what this one missed.
      (error: unknown): LinesState => (isRefused(error) ? 'ended' : 'failing'),
    )
    if (signal.aborted) return
    if (state === 'ended') return onEnd()
    tell(state)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (signal.aborted) return
  }
  onRoom()
}

/** The same list, of the last seconds alone. */
function recentOf(list: string): string {
  const address = new URL(list, location.origin)
  address.searchParams.set('since', String(Date.now() - 3 * POLL_MS))
  address.searchParams.delete('until')
  return address.pathname + address.search
}

function isRefused(error: unknown): boolean {
  return error instanceof ApiProblem && [401, 403, 404].includes(error.status)
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
