/** New lines of Logs as they come, as a stream of events: the tail of Logs, and the live view of requests. */

import { once } from 'node:events'

import { refuse, type Refusal } from '../../domain/errors.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import type { LogPageFilters, LogLineRow } from '../../ports/facts/pages/logs.ts'
import {
  endText,
  eventText,
  type EventStreams,
  type StillAllowed,
  type NoStreamPlace,
  type StreamPlace,
} from '../events/event-streams.ts'
import type { OrganizationCall, CallTo, StreamAnswer } from '../http/call.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import { directedFilters, type DirectedFilters } from './filters.ts'
import type { LineFeeds } from './feed.ts'
import { lineOf } from './line.ts'

/** Lines of one second; the others are counted. Nobody reads more. */
const LINES_A_TICK = 20
const IDLE_MS = 15 * MINUTE_MS
const POLL_AFTER_S = 5
/** The beginning of the live view. */
const LIVE = { sinceMs: 30 * MINUTE_MS, lines: 50 } as const

export interface TailParts {
  readonly scope: ReadScope
  readonly feeds: LineFeeds
  readonly streams: EventStreams
  readonly stillAllowed: StillAllowed
  readonly nowMs: () => number
  readonly random: () => number
}

/** The browser polls instead if there are as many streams as there may be. */
export function tailLogs(parts: TailParts) {
  return parts.scope(async (reads, call: CallTo<'logTail'>) =>
    inPlace(parts, call, async () => ({ reads, filters: directedFilters(call.query), first: [] })),
  )
}

/** Requests of the last half hour, then each as it comes. */
export function watchLive(parts: TailParts) {
  return parts.scope(async (reads, call: OrganizationCall) =>
    inPlace(parts, call, async () => {
      const bounds = { since_ms: call.nowMs - LIVE.sinceMs, until_ms: call.nowMs, limit: LIVE.lines }
      const first = (await reads.run('requestLines', bounds)).toReversed()
      return { reads, filters: { requests: {}, attempts: null }, first }
    }),
  )
}

interface BegunWatch {
  readonly reads: OrganizationFacts
  readonly filters: DirectedFilters
  readonly first: readonly LogLineRow[]
}

interface WatchedLines extends BegunWatch {
  readonly call: OrganizationCall
}

type LineStream = StreamAnswer<'text/event-stream; charset=utf-8'>

/** Nothing is read for whoever gets no place. */
async function inPlace(
  parts: TailParts,
  call: OrganizationCall,
  begin: () => Promise<BegunWatch>,
): Promise<LineStream | Refusal> {
  const place = parts.streams.enter(call)
  if (place.kind !== 'place') return refusePlace(place)
  try {
    const { reads, filters, first } = await begin()
    return {
      kind: 'stream',
      contentType: 'text/event-stream; charset=utf-8',
      // Proxies that buffer answers would hold the lines back.
      headers: { 'X-Accel-Buffering': 'no' },
      chunks: lineEvents(parts, { call, reads, filters, first }, place),
      onEnd: place.leave,
    }
  } catch (error) {
    place.leave()
    throw error
  }
}

function refusePlace(full: NoStreamPlace): Refusal {
  const patience = { retryAfter: POLL_AFTER_S }
  if (full.kind === 'closing') return refuse('rate_limited', patience)
  const { rule } = full
  return rule === undefined ? refuse('unavailable', patience) : { ...refuse('rate_limited', patience), rule }
}

/** Lines of one watcher that were not sent yet: bounded, however slowly the browser reads. */
interface Unsent {
  readonly rows: LogLineRow[]
  more: number
  /** There may be others, which nobody has counted. */
  isAtLeast: boolean
}

async function* lineEvents(
  { feeds, stillAllowed, nowMs, random }: TailParts,
  { call, reads, filters, first }: WatchedLines,
  place: StreamPlace,
): AsyncGenerator<string> {
  const unsent: Unsent = { rows: [], more: 0, isAtLeast: false }
  const over = AbortSignal.any([call.signal, place.closing])
  const ticks = new EventTarget()
  const stop = feeds.watch({ organization: reads.organization.id, websites: reads.logPlaces }, ({ rows, isCut }) => {
    take(
      unsent,
      rows.filter((row) => passesFilters(row, filters)),
    )
    unsent.isAtLeast ||= isCut
    ticks.dispatchEvent(new Event('tick'))
  })
  let heardMs = nowMs()
  try {
    yield linesText({ rows: [...first], more: 0, isAtLeast: false })
    while (true) {
      await once(ticks, 'tick', { signal: over }).catch(() => undefined)
      if (call.signal.aborted) return
      if (place.closing.aborted) return void (yield endText('closing', random()))
      if (!(await stillAllowed(call, 'Viewer'))) return void (yield endText('no_longer_allowed', random()))
      if (unsent.rows.length > 0 || unsent.isAtLeast) {
        heardMs = nowMs()
        const text = linesText({ ...unsent, rows: unsent.rows.splice(0) })
        // While a browser does not read, more come.
        Object.assign(unsent, { more: 0, isAtLeast: false })
        yield text
      } else if (nowMs() - heardMs > IDLE_MS) return void (yield endText('idle', random()))
      else yield ': still here\n\n'
    }
  } finally {
    stop()
  }
}

function linesText({ rows, more, isAtLeast }: Unsent): string {
  return eventText('lines', { records: rows.map(lineOf), more, ...(isAtLeast ? { isAtLeast } : {}) })
}

function take(unsent: Unsent, rows: readonly LogLineRow[]): void {
  const room = Math.max(0, LINES_A_TICK - unsent.rows.length)
  unsent.rows.push(...rows.slice(0, room))
  unsent.more += Math.max(0, rows.length - room)
}

function passesFilters(row: LogLineRow, { requests, attempts }: DirectedFilters): boolean {
  const filters = row.destination === '' ? requests : attempts
  return filters !== null && fitsFilters(row, filters)
}

function fitsFilters(row: LogLineRow, filters: LogPageFilters): boolean {
  const { status_from: from = 0, status_to: to = Infinity } = filters
  const names = ['code', 'path', 'kind', 'origin'] as const
  if (!names.every((name) => (filters[name] ?? row[name]) === row[name])) return false
  return row.status >= from && row.status <= to && namesOne(row, filters)
}

/** As the statements for stored lines have it. */
function namesOne({ event_id: event, job_id: job, refs: own = [] }: LogLineRow, filters: LogPageFilters): boolean {
  const { refs, references } = filters
  if (refs !== undefined) return refs.some((ref) => own.includes(ref))
  return references?.some((reference) => reference === event || reference === job) ?? true
}
