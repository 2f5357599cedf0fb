/** The job of a webhook of the format Slack that tells of all installs of an hour: the same for each of them. */

import { HOUR_MS, hourOf, MINUTE_MS } from '../durations.ts'
import { isNumber } from '../guards.ts'
import { memberOf } from '../strict-json.ts'
import type { NoticedEvent } from './events.ts'

/** Install events of the end of the hour are counted by then. */
const SETTLES_MS = 5 * MINUTE_MS

/** Whether it is told of with all others of its hour. */
export function isToldByHour({ type }: Pick<NoticedEvent, 'type'>): boolean {
  return type === 'install.matched' || type === 'install.unmatched'
}

/** The hour stands for each of its events. */
export function hourEvent(event: NoticedEvent): NoticedEvent {
  const sinceMs = hourOf(event.happenedAtMs)
  const { organization } = event
  const own = { organization, website: '', type: 'install.matched', happenedAtMs: sinceMs } as const
  return { ...own, data: { hour: sinceMs }, identity: `installs of the hour ${sinceMs}` }
}

/** When the message is made, Unix ms. */
export function hourDueAtMs(sinceMs: number): number {
  return sinceMs + HOUR_MS + SETTLES_MS
}

/** The hour that this job is about, Unix ms; null for a job about one event. */
export function hourOfJob({ type, body }: { readonly type: string; readonly body: string }): number | null {
  if (type !== 'install.matched') return null
  const hour = memberOf(memberOf(JSON.parse(body), 'data'), 'hour')
  return isNumber(hour) ? hour : null
}
