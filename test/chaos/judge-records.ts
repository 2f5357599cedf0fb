/** Everything that was answered ok is stored once, nothing else is, and a revocation is there in the end. */

import { eventsOf, keyOf, type Call, type History, type Violation } from './history.ts'
import { Receipts } from './receipts.ts'

export function judgeRecords(history: History): Violation[] {
  return [...judgeLogs(history), ...judgeVisits(history), ...judgeInstallRows(history), ...judgeRest(history)]
}

const about = (call: Call, rule: string, sentence: string): Violation => ({
  rule,
  website: call.website,
  subject: call.event?.eventId ?? call.visit,
  sentence: `${call.kind} ${call.tag} ${sentence}`,
  call,
})

function judgeLogs({ calls, stored }: History): Violation[] {
  return calls.flatMap((call) => {
    const rows = stored.logs.get(call.tag) ?? 0
    if (rows > 1) return [about(call, 'doubled', `has ${rows} rows in Logs`)]
    return call.outcome === 'ok' && rows === 0 ? [about(call, 'lost', 'was answered ok and is not in Logs')] : []
  })
}

function judgeVisits({ calls, stored }: History): Violation[] {
  const receipts = new Receipts(calls)
  const answered = calls.filter(({ kind, outcome }) => kind !== 'event' && outcome === 'ok')
  return [
    ...answered.flatMap((call) => judgeVisit(call, stored)),
    ...answered
      .filter(({ previous, visit }) => previous !== '' && receipts.activeMs(visit) < Infinity)
      .filter(({ previous }) => stored.visits.get(previous)?.is_revoked !== true)
      .map((call) =>
        about(call, 'revocation_lost', `was activated, and ${call.previous}, which it replaces, is not revoked`),
      ),
    ...judgeRevoked(calls, stored.visits, receipts),
  ]
}

function judgeVisit(call: Call, { visits, handoffs }: History['stored']): Violation[] {
  const { kind, visit } = call
  const isLost = {
    [`visit ${visit} is lost`]: visits.get(visit)?.is_recorded !== true,
    [`no activation of ${visit} is stored`]: kind === 'activation' && visits.get(visit)?.is_active !== true,
    [`no handoff of ${visit} is stored`]: kind === 'handoff' && !handoffs.has(visit),
  }
  const lost = Object.entries(isLost).filter(([, is]) => is)
  return lost.map(([what]) => about(call, 'lost', `was answered ok and ${what}`))
}

/** A receipt that was not replaced must not be revoked. */
function judgeRevoked(calls: readonly Call[], visits: History['stored']['visits'], receipts: Receipts): Violation[] {
  return calls
    .filter(({ kind, visit }) => kind === 'visit' && visits.get(visit)?.is_revoked === true)
    .filter(({ visit }) => receipts.maybeRevokedMs(visit) === Infinity)
    .map((call) => about(call, 'revoked_by_nobody', `made ${call.visit}, which is revoked and was never replaced`))
}

function judgeInstallRows({ calls, stored }: History): Violation[] {
  const rows = Map.groupBy(stored.installs, keyOf)
  const events = eventsOf(calls)
  const strangers = stored.installs
    .filter((row) => !events.has(keyOf(row)))
    .map((row) => ({
      rule: 'stranger',
      website: row.website,
      subject: row.event_id,
      call: null,
      sentence: `event ${row.event_id} is stored and nobody sent it`,
    }))
  return [...[...events].flatMap(([key, some]) => judgeEventRows(some, rows.get(key) ?? [])), ...strangers]
}

type Row = History['stored']['installs'][number]

function judgeEventRows(calls: readonly Call[], rows: readonly Row[]): Violation[] {
  const [first] = calls
  if (first === undefined) return []
  const ok = calls.find(({ outcome }) => outcome === 'ok')
  if (rows.length > 1) return [about(first, 'doubled', `has ${rows.length} rows of installs`)]
  if (rows.length === 0)
    return ok === undefined ? [] : [about(ok, 'lost', 'was answered ok and has no row of installs')]
  if (calls.every(({ outcome }) => outcome === 'refused')) {
    return [about(first, 'stranger', 'was refused and has a row of installs')]
  }
  return []
}

function judgeRest({ calls, stored }: History): Violation[] {
  const none = { website: '', subject: '', call: null }
  const made = calls.filter(({ kind, outcome }) => kind === 'visit' || (kind === 'handoff' && outcome !== 'refused'))
  const named = new Set(made.filter(({ outcome }) => outcome === 'ok').map(({ visit }) => visit))
  const unknown = made.filter(({ outcome }) => outcome === 'unknown').length
  const found: Violation[] = []
  if (stored.visitCount > named.size + unknown) {
    const sentence = `${stored.visitCount} visits are stored, of ${named.size} answered and ${unknown} unanswered calls`
    found.push({ ...none, rule: 'stranger', sentence })
  }
  if (stored.poisonRecords > 0) {
    found.push({ ...none, rule: 'poison', sentence: `${stored.poisonRecords} records could not become facts` })
  }
  return found
}
