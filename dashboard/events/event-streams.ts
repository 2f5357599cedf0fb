/** Streams of events to browsers (server-sent events): how many there may be, and how they end. */

import { isAtLeast } from '../../domain/people/roles.ts'
import { roleIn } from '../../domain/people/standing.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import { STREAM_PLACES } from '../../domain/limits.ts'
import type { MemberRole } from '../../domain/model.ts'
import { type OrganizationCall } from '../http/call.ts'
import type { Directory } from '../resources/directory.ts'
import type { Sessions } from '../sessions/sessions.ts'

/** A place among the streams. */
export interface StreamPlace {
  readonly kind: 'place'
  /** Aborted when the process ends. */
  readonly closing: AbortSignal
  /** Call it once the stream has ended, for whatever reason. */
  readonly leave: () => void
}

/**
 * There are as many streams as there may be, or the process ends. `rule` is the limit that these have reached themselves; if it is absent
 * others have all places of the process, which is recorded for nobody.
 */
export type NoStreamPlace =
  | { readonly kind: 'full'; readonly rule?: 'streams_per_session' | 'streams_per_person' | 'streams_per_organization' }
  | { readonly kind: 'closing' }

export interface EventStreams {
  /** Aborted when the process ends. */
  readonly closing: AbortSignal
  readonly enter: (call: OrganizationCall) => StreamPlace | NoStreamPlace
  /** Ends all streams; browsers reconnect a little later, at different times. */
  readonly close: () => void
}

/** A browser that gets none polls instead, which costs this process less. */
export function createEventStreams(): EventStreams {
  /** By session, person and organisation. */
  const counts = new Map<string, number>()
  const closing = new AbortController()
  let all = 0
  const count = (keys: readonly string[], by: number): void => {
    all += by
    for (const key of keys) {
      const left = (counts.get(key) ?? 0) + by
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    }
  }
  return {
    closing: closing.signal,
    enter(call) {
      if (closing.signal.aborted) return { kind: 'closing' }
      const shares = sharesOf(call)
      const reached = shares.find(({ key, most }) => (counts.get(key) ?? 0) >= most)
      if (reached !== undefined) return { kind: 'full', rule: reached.rule }
      if (all >= STREAM_PLACES.process) return { kind: 'full' }
      const keys = shares.map(({ key }) => key)
      count(keys, 1)
      let isIn = true
      return {
        kind: 'place',
        closing: closing.signal,
        leave: () => {
          if (isIn) count(keys, -1)
          isIn = false
        },
      }
    },
    close: () => closing.abort(),
  }
}

/** The narrowest first. */
function sharesOf(call: OrganizationCall) {
  const { id, person } = call.session
  const { session, person: ofPerson, organization } = STREAM_PLACES
  return [
    { rule: 'streams_per_session', key: `session ${id}`, most: session },
    { rule: 'streams_per_person', key: `person ${person}`, most: ofPerson },
    { rule: 'streams_per_organization', key: `organization ${call.scope.organization.id}`, most: organization },
  ] as const
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
  readonly sessions: Sessions
  readonly directory: Directory
}

/** Whether the person of a call may still read what they requested. */
export type StillAllowed = (call: OrganizationCall, least: MemberRole) => Promise<boolean>

export function createStillAllowed({ sessions, directory }: StandingParts): StillAllowed {
  return async (call, least) => {
    const session = await sessions.readAgain(call.session)
    if (session === null) return false
    const { organization } = call.scope
    if (!directory.organizations().has(organization.id)) return false
    return isAtLeast(roleIn(organization.id, session, directory.members()), least)
  }
}
