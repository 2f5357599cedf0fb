/** Moments and durations, in the viewer's time zone; the tooltip shows UTC. */

import type { ReactNode } from 'react'

import { clockTexts } from './clock.ts'

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function Moment({ ms }: { readonly ms: number }): ReactNode {
  const iso = new Date(ms).toISOString()
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').slice(0, 19)} UTC`}>
      {SHORT.format(ms)}
    </time>
  )
}

const clockText = clockTexts()

/** The time of day, with its date unless that is today's. */
export function Clock({ ms }: { readonly ms: number }): ReactNode {
  const iso = new Date(ms).toISOString()
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').slice(0, 23)} UTC`}>
      {clockText({ ms, nowMs: Date.now() })}
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
