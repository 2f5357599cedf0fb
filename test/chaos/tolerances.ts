/** What may differ from the promises without being a violation: each with the sentence that documents it. */

import type { Disturbance, EventCall, History, Part, Violation } from './history.ts'
import { judgeAnswers } from './judge-answers.ts'
import { Receipts } from './receipts.ts'

interface Tolerance {
  readonly name: string
  /** The documented sentence, in short, and its page. */
  readonly sentence: string
  readonly rules: readonly string[]
  readonly allows: (violation: Violation, history: History) => boolean
}

/** How long after an activation the role `state` may take to revoke a predecessor that was unknown at that moment. */
const REVOKED_WITHIN_MS = 60_000
/** How long an api may take to empty its spool after the log is back. */
const SPOOLED_FOR_MS = 30_000
/** How far clocks may differ. */
const CLOCKS_MS = 5_000
/** A process that loses sight of Redis continues alone for a moment longer. */
const MARGIN_MS = 2_000

export const TOLERANCES: readonly Tolerance[] = [
  {
    name: 'decided anew',
    sentence:
      'After Redis was lost, or alone, a repeat "is taken for a first report only if ClickHouse or Kafka cannot be asked within a second", or "if the first try was stored later than this one was looked up"; it is then "decided anew" (docs/redis.md, When its data is lost).',
    rules: ['answer_differs', 'answer_changed', 'first_twice'],
    allows: isDecidedAnew,
  },
  {
    name: 'installation of an answer decided anew',
    sentence:
      'Of an event that is decided anew after Redis was lost "the record that was received first counts" (docs/redis.md), and its installation may be remembered by the answer that was given last.',
    rules: ['wrong_visit', 'not_matched'],
    allows: ({ call }, history) => {
      const event = call as EventCall | null
      if (event === null) return false
      return judgeAnswers(history).some(
        (found) =>
          found.rule === 'answer_differs' &&
          found.call?.event?.installation === event.event.installation &&
          found.call.event.eventId !== event.event.eventId &&
          found.call.beganMs <= event.endedMs &&
          isDecidedAnew(found, history),
      )
    },
  },
  {
    name: 'predecessor unknown',
    sentence:
      'An activation whose visit HotState has forgotten and the facts do not have yet revokes only when the visit is there; until then an event "with the older receipt alone", without the newer one, "may still match" (decisions.md, Resolution).',
    rules: ['revoked_matched', 'wrong_count', 'wrong_visit'],
    allows: ({ call }, { calls, disturbances }) => {
      const event = call as EventCall | null
      if (event === null) return false
      const receipts = new Receipts(calls)
      const named = event.event.receipts
      // Who carries the successor as well is decided later, when it is known what it replaces.
      const unseen = named.flatMap((visit) => receipts.successors(visit)).filter((visit) => !named.includes(visit))
      return unseen.some((successor) => {
        const activeMs = receipts.activeMs(successor)
        const made = calls.find(({ kind, visit }) => kind === 'visit' && visit === successor)
        const isForgotten = made !== undefined && isLost(disturbances, ['memory'], made.beganMs, activeMs)
        return isForgotten && event.beganMs >= activeMs && event.beganMs - activeMs < REVOKED_WITHIN_MS
      })
    },
  },
  {
    name: 'next event of the installation',
    sentence:
      'A pending event without a candidate of its own, and without an earlier event of its installation, "follows the installation\'s next event if that came within five seconds" (docs/redis.md, When its data is lost).',
    rules: ['wrong_visit'],
    allows: ({ call }, { stored }) => {
      if (call === null || call.event === null || call.answer['resolution'] !== 'pending') return false
      const { eventId, receipts, token } = call.event
      const row = stored.installs.find((one) => one.website === call.website && one.event_id === eventId)
      if (row === undefined || receipts.length > 0 || token !== '') return false
      return stored.installs.some(
        (next) =>
          next.website === row.website &&
          next.installation_id === row.installation_id &&
          next.visit_id === row.visit_id &&
          next.received_at_ms > row.received_at_ms &&
          next.received_at_ms <= row.received_at_ms + CLOCKS_MS,
      )
    },
  },
  {
    name: "activation in another process's spool",
    sentence:
      '"An install whose activation still lies in another pod\'s spool is a documented limit" (decisions.md, Resolution): it needs a log that was unavailable and a Redis that forgot.',
    rules: ['not_matched', 'revoked_matched', 'wrong_visit', 'wrong_count'],
    allows: ({ call }, { calls, disturbances, spooling }) => {
      const event = call as EventCall | null
      // The pod that keeps the spool writes the install behind what waits there.
      if (event === null || event.api === spooling) return false
      const named = new Set(event.event.receipts)
      const receipts = new Receipts(calls)
      for (const visit of event.event.receipts) receipts.successors(visit).forEach((one) => named.add(one))
      return calls.some(
        ({ kind, visit, api, beganMs, endedMs }) =>
          kind === 'activation' &&
          named.has(visit) &&
          api === spooling &&
          beganMs <= event.endedMs &&
          isLost(disturbances, ['log'], beganMs - SPOOLED_FOR_MS, endedMs) &&
          isLost(disturbances, ['memory'], beganMs, event.endedMs),
      )
    },
  },
]

/**
 * Whether Redis was lost between the first try of an event and this one, as what breaks later explains nothing; and whether a
 * process that took a try for the first one could not ask the facts and the log, or an earlier try may have been stored later.
 */
function isDecidedAnew({ call }: Violation, { calls, lastCalls, disturbances }: History): boolean {
  if (call === null || call.event === null) return false
  const eventId = call.event.eventId
  const asked = [...calls, ...lastCalls]
  const repeats = asked.filter(({ website, event }) => website === call.website && event?.eventId === eventId)
  const firstMs = Math.min(...repeats.map(({ beganMs }) => beganMs))
  if (!isLost(disturbances, ['memory'], firstMs, call.endedMs)) return false
  const doubts = disturbances.filter(({ part }) => part === 'doubt')
  return repeats.some(({ outcome, api, beganMs, endedMs }) => {
    const own = doubts.filter(({ process }) => process === api)
    return outcome === 'unknown' || isLost(own, ['doubt'], beganMs, endedMs)
  })
}

/** The name of the tolerance that allows it, or null. */
export function toleranceOf(violation: Violation, history: History): string | null {
  const fitting = TOLERANCES.find(({ rules, allows }) => rules.includes(violation.rule) && allows(violation, history))
  return fitting?.name ?? null
}

/** Whether one of these parts was disturbed at any moment of that time. */
function isLost(
  disturbances: readonly Disturbance[],
  parts: readonly Part[],
  fromMs: number,
  untilMs: number,
): boolean {
  return disturbances.some(
    ({ part, beganMs, endedMs }) =>
      parts.includes(part) && beganMs <= untilMs + MARGIN_MS && endedMs >= fromMs - MARGIN_MS,
  )
}
