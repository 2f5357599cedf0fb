/** Prints each delivery of an install for people: its status and why, every attempt, and what comes next. */

import { keysOf } from '../../../domain/typed-keys.ts'
import { DELIVERY_REASONS } from '../../../domain/reasons.ts'
import type { DeliveryPlan } from '../../../domain/model.ts'
import type { AttemptRow, DeliveryRow } from '../../../ports/facts/query-rows.ts'
import type { Explanation } from './explanation.ts'
import { durationText, timeText } from '../../terminal/table.ts'

/** Of each body of an exchange; `--json` shows all of what is kept. */
const EXCERPT_CHARS = 400
/** Attempts shown of one delivery: the first and the last ones. */
const SHOWN_TRIES = { first: 2, last: 8 } as const

export function deliveryLines(explanation: Explanation): string[] {
  const { plans, unread } = explanation
  if (unread.includes('deliveries')) return []
  if (plans.length === 0) return ['No deliveries: the website has no destinations.']
  return ['Deliveries', ...plans.flatMap((plan) => oneDelivery(plan, explanation))]
}

function oneDelivery(plan: DeliveryPlan, { deliveries, attempts }: Explanation): string[] {
  const now = deliveries.find(({ destination }) => destination === plan.destination)
  const { status, reason } = now ?? plan
  const made = attempts.filter(({ destination }) => destination === plan.destination)
  const url = made.at(-1)?.request_url ?? ''
  return [
    `  ${plan.destination} (${plan.provider}): ${status}${reason === '' ? '' : `, ${reasonText(reason)}`}`,
    ...indented('used', now?.detail ?? ''),
    ...indented('sent to', url),
    ...(made.length === 0 ? [] : indented('known as', now?.job_id ?? '')),
    ...tryLines(made, url),
    ...(now === undefined ? [] : outlookLines(now)),
  ]
}

function tryLines(made: readonly AttemptRow[], url: string): string[] {
  const { first, last } = SHOWN_TRIES
  const left = made.length - first - last
  if (left <= 0) return made.flatMap((attempt) => attemptLines(attempt, url))
  return [
    ...made.slice(0, first).flatMap((attempt) => attemptLines(attempt, url)),
    `    ... ${left} more; --json shows all of them`,
    ...made.slice(-last).flatMap((attempt) => attemptLines(attempt, url)),
  ]
}

function attemptLines(attempt: AttemptRow, url: string): string[] {
  const { outcome, next_step: next } = attempt
  const answer = attempt.response_status === 0 ? 'no answer' : `answered ${attempt.response_status}`
  const code = attempt.code === '' || attempt.code === outcome ? '' : ` (${attempt.code})`
  const span = durationText(attempt.duration_ms)
  return [
    `    try ${attempt.number}    ${timeText(attempt.started_at_ms)} UTC, ${answer} after ${span}: ${outcome}${code}`,
    // A poll for the verdict uses another address.
    ...below('to', attempt.request_url === url ? '' : attempt.request_url),
    ...below('request', excerpt(attempt.request_body)),
    ...below('answer', excerpt(attempt.response_body)),
    ...below('next', next === 'done' ? '' : next),
  ]
}

function excerpt(body: string): string {
  const text = body.replace(/\s+/g, ' ').trim()
  return text.length <= EXCERPT_CHARS ? text : `${text.slice(0, EXCERPT_CHARS).toWellFormed()}…`
}

/** The next attempt of an unfinished delivery, and how long a failed one can be replayed. */
function outlookLines({ status, next_attempt_at_ms: nextAtMs, deadline_at_ms: deadlineAtMs }: DeliveryRow): string[] {
  if (status === 'failed') return indented('replay', deadlineAtMs === null ? '' : `before ${utcText(deadlineAtMs)}`)
  const isOpen = status === 'pending' || status === 'retrying'
  return isOpen ? [...indented('next try', utcText(nextAtMs)), ...indented('until', utcText(deadlineAtMs))] : []
}

function indented(label: string, text: string): string[] {
  return text === '' ? [] : [`    ${label.padEnd(8)} ${text}`]
}

function below(label: string, text: string): string[] {
  return text === '' ? [] : [`      ${label.padEnd(8)} ${text}`]
}

function utcText(ms: number | null): string {
  return ms === null ? '' : `${timeText(ms)} UTC`
}

function reasonText(reason: string): string {
  const row = keysOf(DELIVERY_REASONS).find((each) => each === reason)
  return row === undefined ? reason : `${reason}: ${DELIVERY_REASONS[row].when}`
}
