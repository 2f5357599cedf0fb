/**
 * What clients were answered is what is stored, once as the first answer and then as a repeat, and what `explain`
 * shows.
 */

import {
  eventsOf,
  IN_PEACE,
  ROLLING_UPGRADE,
  keyOf,
  withoutDuplicate,
  type Call,
  type EventCall,
  type History,
  type StoredInstall,
  type Violation,
} from './history.ts'
import { Receipts } from './receipts.ts'

export function judgeAnswers(history: History): Violation[] {
  const { calls, stored } = history
  const rows = new Map(stored.installs.map((row) => [keyOf(row), row]))
  return [
    ...[...eventsOf(calls)].flatMap(([key, some]) => [...judgeTold(some, rows.get(key)), ...judgeRepeats(some)]),
    ...judgeLast(history, rows),
    ...judgeRefusals(calls),
    ...judgeResets(history),
    ...judgeExplained(history, rows),
  ]
}

const about = (call: Call, rule: string, sentence: string): Violation => ({
  rule,
  website: call.website,
  subject: call.event?.eventId ?? call.visit,
  sentence: `${call.kind} ${call.tag} ${sentence}`,
  call,
})

function judgeTold(calls: readonly EventCall[], row: StoredInstall | undefined): Violation[] {
  if (row === undefined) return []
  const stored = withoutDuplicate(JSON.parse(row.answer) as Record<string, unknown>)
  return calls
    .filter(({ outcome }) => outcome === 'ok')
    .filter(({ answer }) => withoutDuplicate(answer) !== stored && answer['resolution'] !== 'pending')
    .map((call) => about(call, 'answer_differs', `was told ${JSON.stringify(call.answer)}, and stored is ${stored}`))
}

/** When all has settled, a repeat is told what is stored, which is what was answered when it was first decided. */
function judgeLast({ calls, lastCalls }: History, rows: ReadonlyMap<string, StoredInstall>): Violation[] {
  const before = eventsOf(calls)
  return [...eventsOf(lastCalls)].flatMap(([key, some]) =>
    some.flatMap((last) => {
      if (last.outcome !== 'ok') return [about(last, 'not_repeated', `was not answered again: ${last.status}`)]
      if (last.answer['resolution'] === 'pending') return [about(last, 'still_pending', 'is pending to the end')]
      return [...judgeTold([last], rows.get(key)), ...judgeChanged(last, before.get(key) ?? [])]
    }),
  )
}

function judgeChanged(last: EventCall, calls: readonly EventCall[]): Violation[] {
  const found: Violation[] = []
  if (last.answer['duplicate'] !== true)
    found.push(about(last, 'first_twice', 'is the first one, and was answered before'))
  const first = calls.find(({ outcome, answer }) => outcome === 'ok' && answer['resolution'] !== 'pending')
  if (first === undefined || first.answer['resolution'] === last.answer['resolution']) return found
  const [was, is] = [first, last].map(({ answer }) => String(answer['resolution']))
  return [...found, about(last, 'answer_changed', `is ${is}, and ${first.tag} was told ${was}`)]
}

function judgeRepeats(calls: readonly EventCall[]): Violation[] {
  const found: Violation[] = []
  const answered = calls.filter(({ outcome }) => outcome === 'ok')
  const firsts = answered.filter(({ answer }) => answer['duplicate'] === false)
  for (const call of answered) {
    if (call.answer['duplicate'] === true) {
      const hasReason = calls.some((one) => one !== call && one.outcome !== 'refused' && one.beganMs <= call.endedMs)
      if (!hasReason) found.push(about(call, 'repeat_of_nothing', 'is called a repeat, and nothing came before it'))
    } else if (firsts.some((one) => one !== call && one.endedMs <= call.endedMs)) {
      found.push(about(call, 'first_twice', 'is the first one, and so was another one before'))
    } else if (answered.some((one) => one.endedMs < call.beganMs)) {
      found.push(about(call, 'first_twice', 'is the first one, after another answer'))
    }
  }
  return found
}

/** Every call is a valid one; all that may be said against it is that its receipt was revoked. */
function judgeRefusals(calls: readonly Call[]): Violation[] {
  const receipts = new Receipts(calls)
  return calls.flatMap((call) => {
    if (call.outcome !== 'refused' || call.status === 0) return []
    const isRevoked = call.status === 409 && call.answer['error'] === 'receipt_revoked'
    if (isRevoked && receipts.maybeRevokedMs(call.visit) <= call.endedMs) return []
    return [about(call, 'refused', `was refused: ${call.status} ${JSON.stringify(call.answer)}`)]
  })
}

/** Who stops in peace lets everybody finish. */
function judgeResets({ calls, disturbances }: History): Violation[] {
  return calls
    .filter(({ silence }) => silence === 'reset')
    .filter(({ api, endedMs: atMs }) =>
      disturbances.some(
        ({ name, beganMs, endedMs }) =>
          [`${api} ${IN_PEACE}`, ROLLING_UPGRADE].includes(name) && beganMs <= atMs && atMs <= endedMs,
      ),
    )
    .map((call) => about(call, 'reset', 'lost its connection to a process that was stopped in peace'))
}

function judgeExplained({ stored }: History, rows: ReadonlyMap<string, StoredInstall>): Violation[] {
  const deliveries = Map.groupBy(stored.deliveries, keyOf)
  const line = (some: readonly { destination: string; status: string }[]): string =>
    some
      .map(({ destination, status }) => `${destination} ${status}`)
      .toSorted()
      .join()
  return stored.explained.flatMap((told) => {
    const row = rows.get(keyOf(told))
    const saved = line(deliveries.get(keyOf(told)) ?? [])
    const isSame =
      row?.resolution === told.resolution && row.visit_id === told.visit_id && line(told.deliveries) === saved
    if (isSame) return []
    const sentence = `is explained as ${JSON.stringify(told)}, and stored is ${row?.resolution} ${row?.visit_id} ${saved}`
    const subject = { website: told.website, subject: told.event_id, call: null }
    return [{ rule: 'explain_differs', ...subject, sentence: `event ${told.event_id} ${sentence}` }]
  })
}
