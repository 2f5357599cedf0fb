/** Moments and durations, in the viewer's time zone; the tooltip shows UTC. */

import type { ReactNode } from 'react'

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function Moment({ ms }: { readonly ms: number }): ReactNode {
  const iso = new Date(ms).toISOString()
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').slice(0, 19)} UTC`}>
      {SHORT.format(ms)}
    </time>
  )
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const DAY_MS = 86_400_000

/** The time of day, with the date if it is older than a day. */
export function Clock({ ms }: { readonly ms: number }): ReactNode {
  const iso = new Date(ms).toISOString()
  const isOld = Date.now() - ms > DAY_MS
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').slice(0, 23)} UTC`}>
      {isOld && `${DAY.format(ms)}, `}
      {CLOCK.format(ms)}
    </time>
  )
}

interface BetweenProps {
  readonly since?: number
  readonly until?: number
}

/** A period of time, as a filter describes it. */
export function Between({ since, until }: BetweenProps): ReactNode {
  return (
    <>
      {since !== undefined && (
        <>
          from <Moment ms={since} />
        </>
      )}
      {since !== undefined && until !== undefined && ' '}
      {until !== undefined && (
        <>
          until <Moment ms={until} />
        </>
      )}
    </>
  )
}
