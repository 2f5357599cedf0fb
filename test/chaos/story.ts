/** The whole story of a violation, for people: who called what, what broke meanwhile, and what was stored and sent. */

import type { Call, History, Violation } from './history.ts'

/** What was broken shortly before may still matter. */
const BEFORE_MS = 60_000
const AFTER_MS = 5_000

interface Line {
  readonly atMs: number
  readonly text: string
}

export function storyOf(violation: Violation, history: History): string {
  const calls = relatedCalls(violation, history)
  const firstMs = Math.min(...calls.map(({ beganMs }) => beganMs))
  const lastMs = Math.max(...calls.map(({ endedMs }) => endedMs))
  const disturbances = history.disturbances.filter(
    ({ beganMs, endedMs }) => endedMs >= firstMs - BEFORE_MS && beganMs <= lastMs + AFTER_MS,
  )
  const events = new Set(calls.flatMap(({ event }) => (event === null ? [] : [event.eventId])))
  const lines = [
    ...calls.map(callLine),
    ...disturbances.flatMap(({ name, part, beganMs, endedMs }) => [
      { atMs: beganMs, text: `-- ${name} (${part}) begins` },
      { atMs: endedMs, text: `-- ${name} ends` },
    ]),
    ...storedLines(history, events),
  ].toSorted((one, other) => one.atMs - other.atMs)
  const told = lines.map(({ atMs, text }) => `  ${((atMs - firstMs) / 1_000).toFixed(3).padStart(9)} s  ${text}`)
  return [`${violation.rule}: ${violation.website} ${violation.sentence}`, ...told, ...visitLines(calls, history)].join(
    '\n',
  )
}

/** The event's calls and those of its installation, and all that was done with the visits that any of them names. */
function relatedCalls({ website, subject, call }: Violation, { calls, stored }: History): readonly Call[] {
  const ofSite = calls.filter((one) => one.website === website)
  const row = stored.installs.find((one) => one.website === website && one.event_id === subject)
  const installation = row?.installation_id ?? call?.event?.installation
  const events = ofSite.filter(
    ({ event }) => event !== null && (event.eventId === subject || event.installation === installation),
  )
  const visits = new Set([subject, row?.visit_id ?? '', ...events.flatMap(({ event }) => event?.receipts ?? [])])
  events.forEach(({ event }) => visits.add(event?.token ?? ''))
  visits.delete('')
  for (const { previous, visit } of ofSite) if (visit !== '' && visits.has(previous)) visits.add(visit)
  const ofVisits = ofSite.filter(({ kind, visit }) => kind !== 'event' && visits.has(visit))
  return [...ofVisits, ...events].toSorted((one, other) => one.beganMs - other.beganMs)
}

function callLine(call: Call): Line {
  const { kind, api, event, visit, previous, tag, status, outcome, silence } = call
  const sent = event === null ? [visit, previous === '' ? '' : `after ${previous}`] : [eventText(event)]
  const told = event === null || outcome !== 'ok' ? '' : JSON.stringify(call.answer)
  const tookMs = Math.round(call.endedMs - call.beganMs)
  const words = [
    kind,
    ...sent,
    `to ${api} (${tag}):`,
    outcome,
    silence === '' ? String(status) : silence,
    told,
    `in ${tookMs} ms`,
  ]
  return { atMs: call.beganMs, text: words.filter((word) => word !== '').join(' ') }
}

function eventText({ eventId, eventType, installation, receipts, token }: NonNullable<Call['event']>): string {
  const carried = token === '' ? `[${receipts.join(', ')}]` : `token of ${token}`
  return `${eventId} ${eventType} of ${installation} with ${carried}`
}

function storedLines({ stored }: History, events: ReadonlySet<string>): Line[] {
  const ids = new Set<string>()
  const rows = stored.installs.filter(({ event_id }) => events.has(event_id))
  const lines = rows.map((row) => ({
    atMs: row.received_at_ms,
    text: `== row of ${row.event_id} (from ${row.tag}): ${row.event_type} ${row.resolution}/${row.selection_policy}/${row.candidate_count} ${row.visit_id}`,
  }))
  const last = Math.max(0, ...rows.map(({ received_at_ms: atMs }) => atMs))
  for (const { event_id, destination, job_id, status, reason } of stored.deliveries) {
    if (!events.has(event_id)) continue
    ids.add(job_id)
    lines.push({ atMs: last, text: `== delivery ${job_id} of ${event_id} at ${destination}: ${status} ${reason}` })
  }
  for (const { id, provider, eventName, identity, isTaken, atMs } of stored.hits) {
    if (!ids.has(id)) continue
    lines.push({ atMs, text: `== ${provider} ${isTaken ? 'took' : 'refused'} ${id}: ${eventName} of ${identity}` })
  }
  return lines
}

function visitLines(calls: readonly Call[], { stored }: History): string[] {
  const visits = new Set(calls.map(({ visit }) => visit).filter((visit) => visit !== ''))
  return [...visits].map((visit) => `  visit ${visit} in the end: ${JSON.stringify(stored.visits.get(visit) ?? null)}`)
}
