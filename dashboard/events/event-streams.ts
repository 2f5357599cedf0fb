/** Streams of events to browsers (server-sent events): how many there may be, and how they end. */

import { isAtLeast } from '../../domain/people/roles.ts'
import { roleIn } from '../../domain/people/standing.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import type { MemberRole } from '../../domain/model.ts'
import { scopeOf, sessionOf, type Call } from '../http/call.ts'
import type { Directory } from '../resources/directory.ts'
import type { Sessions } from '../sessions/sessions.ts'

/** Browsers allow six connections per host; a page needs some for itself. */
const MOST_OF_SESSION = 4
/** Above it browsers must poll, which costs this process less. */
const MOST_OF_PROCESS = 50

/** A place among the streams. */
export interface StreamPlace {
  readonly kind: 'place'
  /** Aborted when the process ends. */
  readonly closing: AbortSignal
  /** Call it once the stream has ended, for whatever reason. */
  readonly leave: () => void
}

/** There are as many streams as there may be. */
interface NoStreamPlace {
  readonly kind: 'full'
  /** Name of the limit; absent if there is none, and the process ends. */
  readonly rule?: 'streams_per_session' | 'streams_per_process'
}

export interface EventStreams {
  /** Aborted when the process ends. */
  readonly closing: AbortSignal
  readonly enter: (call: Call) => StreamPlace | NoStreamPlace
  /** Ends all streams; browsers reconnect a little later, at different times. */
  readonly close: () => void
}

export function createEventStreams(): EventStreams {
  const ofSessions = new Map<string, number>()
  const closing = new AbortController()
  let all = 0
  const count = (session: string, by: number): void => {
    all += by
    const left = (ofSessions.get(session) ?? 0) + by
    if (left === 0) ofSessions.delete(session)
    else ofSessions.set(session, left)
  }
  return {
    closing: closing.signal,
    enter(call) {
      const { id } = sessionOf(call)
      if (closing.signal.aborted) return { kind: 'full' }
      if ((ofSessions.get(id) ?? 0) >= MOST_OF_SESSION) return { kind: 'full', rule: 'streams_per_session' }
      if (all >= MOST_OF_PROCESS) return { kind: 'full', rule: 'streams_per_process' }
      count(id, 1)
      let isIn = true
      return {
        kind: 'place',
        closing: closing.signal,
        leave: () => {
          if (isIn) count(id, -1)
          isIn = false
        },
      }
    },
    close: () => closing.abort(),
  }
}

/** One event as it is sent. */
export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

const RETRY_MS = { least: 2 * SECOND_MS, spread: 8 * SECOND_MS } as const

/** The end of a stream: why, and when the browser may reconnect. With jitter, so that a restart is not followed by a rush. */
export function endText(reason: 'closing' | 'idle' | 'no_longer_allowed', random: number): string {
  const retryMs = Math.round(RETRY_MS.least + random * RETRY_MS.spread)
  return `retry: ${retryMs}\n${eventText('end', { reason })}`
}

interface StandingParts {
  readonly sessions: Pick<Sessions, 'readAgain'>
  readonly directory: Directory
}

/** Whether the person of a call may still read what they requested. */
export type StillAllowed = (call: Call, least: MemberRole) => Promise<boolean>

export function createStillAllowed({ sessions, directory }: StandingParts): StillAllowed {
  return async (call, least) => {
    const session = await sessions.readAgain(sessionOf(call))
    if (session === null) return false
    const { organization } = scopeOf(call)
    if (!directory.organizations().has(organization.id)) return false
    return isAtLeast(roleIn(organization.id, session, directory.members()), least)
  }
}
