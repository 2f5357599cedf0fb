/**
 * Every install is tied to the visit that its receipts, its token or its installation name: what was active and not revoked
 * when it was reported must match, and what was revoked or never active must not.
 */

import { eventsOf, keyOf, type EventCall, type History, type StoredInstall, type Violation } from './history.ts'
import { newest, Receipts } from './receipts.ts'

export function judgeDecisions(history: History): Violation[] {
  const { calls, stored } = history
  const receipts = new Receipts(calls)
  const events = eventsOf(calls)
  const installations = Map.groupBy(stored.installs, (row) => `${row.website}/${row.installation_id}`)
  return stored.installs.flatMap((row) => {
    const repeats = events.get(keyOf(row)) ?? []
    if (repeats.length === 0) return []
    const call = decidingCall(row, repeats)
    if (call === null) return [violation(row, null, 'stranger', 'is the record of no call')]
    const siblings = installations.get(`${row.website}/${row.installation_id}`) ?? []
    const earlier = earlierMatches({ row, call, siblings, events })
    return [...judgeFields(row, call), ...judgeResolution({ row, call, receipts, earlier })]
  })
}

/**
 * The try whose body and time of receipt the row has. Its record may be that of a later try: that one appends what was
 * decided before, if it is not known whether the first one's record is on the log.
 */
function decidingCall(row: StoredInstall, repeats: readonly EventCall[]): EventCall | null {
  const own = repeats.find(({ tag }) => tag === row.tag)
  if (own === undefined) return null
  const before = repeats.filter((one) => one.beganMs <= row.received_at_ms && one.beganMs <= own.beganMs)
  const under = before.filter((one) => isOf(row, one) && (one.endedMs >= row.received_at_ms || one.silence !== ''))
  return under.includes(own) ? own : (under.at(-1) ?? own)
}

function isOf(row: StoredInstall, { event }: EventCall): boolean {
  return row.installation_id === event.installation && row.event_type === event.eventType
}

function violation(row: StoredInstall, call: EventCall | null, rule: string, sentence: string): Violation {
  const shown = `event ${row.event_id} (${row.resolution}/${row.selection_policy}/${row.candidate_count})`
  return { rule, website: row.website, subject: row.event_id, sentence: `${shown} ${sentence}`, call }
}

function judgeFields(row: StoredInstall, call: EventCall): Violation[] {
  return isOf(row, call) ? [] : [violation(row, call, 'wrong_row', `is not what ${call.tag} sent`)]
}

interface Earlier {
  /** Visits that this installation was matched to, of which the last one must count if there is any. */
  readonly certain: readonly string[]
  readonly possible: readonly string[]
}

interface EarlierInput {
  readonly row: StoredInstall
  readonly call: EventCall
  readonly siblings: readonly StoredInstall[]
  readonly events: ReadonlyMap<string, readonly EventCall[]>
}

/** To what the same installation was matched before. */
function earlierMatches({ row, call, siblings, events }: EarlierInput): Earlier {
  const others = siblings
    .filter((other) => other.event_id !== row.event_id && other.resolution === 'matched')
    .map((other) => ({ visit: other.visit_id, beganMs: other.received_at_ms, endedMs: answeredMs(other, events) }))
  const before = others.filter((other) => other.endedMs <= call.beganMs)
  const maybe = others.filter((other) => other.beganMs <= call.endedMs)
  // What another match has surely followed is no longer the last one.
  const last = maybe.filter((one) => !before.some((other) => one.endedMs <= other.beganMs))
  return { certain: before.map(({ visit }) => visit), possible: last.map(({ visit }) => visit) }
}

/** When a client knew for the first time that the event is stored. */
function answeredMs(row: StoredInstall, events: EarlierInput['events']): number {
  const ok = (events.get(keyOf(row)) ?? []).filter(({ outcome }) => outcome === 'ok')
  return Math.min(Infinity, ...ok.map(({ endedMs }) => endedMs))
}

interface ResolutionInput {
  readonly row: StoredInstall
  readonly call: EventCall
  readonly receipts: Receipts
  readonly earlier: Earlier
}

function judgeResolution(input: ResolutionInput): Violation[] {
  const { row, call } = input
  if (row.resolution === 'pending') return [violation(row, call, 'still_pending', 'was never decided')]
  if (call.event.token !== '') return judgeToken(input)
  if (row.resolution === 'matched' && row.selection_policy === 'latest_visit') return judgeLatest(input)
  const { certain } = input.receipts.candidates(call)
  if (certain.length > 0) {
    return [violation(row, call, 'not_matched', `carries ${certain.join(' and ')}, active and not revoked`)]
  }
  return row.resolution === 'matched' ? judgeSameInstallation(input) : judgeUnmatched(input)
}

function judgeToken({ row, call }: ResolutionInput): Violation[] {
  const isRight = row.selection_policy === 'handoff' && row.visit_id === call.event.token && row.candidate_count === 1
  return isRight ? [] : [violation(row, call, 'not_matched', `carries the token of ${call.event.token}`)]
}

function judgeUnmatched({ row, call, earlier }: ResolutionInput): Violation[] {
  if (row.resolution !== 'unmatched' || row.visit_id !== '' || row.candidate_count !== 0) {
    return [violation(row, call, 'wrong_resolution', `names visit ${row.visit_id}`)]
  }
  const visits = earlier.certain.join(', ')
  if (visits === '') return []
  return [violation(row, call, 'not_matched', `is of an installation that was matched to ${visits}`)]
}

function judgeLatest({ row, call, receipts }: ResolutionInput): Violation[] {
  const fail = (rule: string, sentence: string): Violation[] => [violation(row, call, rule, sentence)]
  const { certain, possible } = receipts.candidates(call)
  const visit = row.visit_id
  if (!call.event.receipts.includes(visit)) return fail('wrong_visit', `is matched to ${visit}, which it does not name`)
  if (receipts.maybeActiveMs(visit) > call.endedMs)
    return fail('inactive_matched', `is matched to ${visit}, not active`)
  if (!possible.includes(visit)) return fail('revoked_matched', `is matched to ${visit}, which was revoked before`)
  if (newest([...certain, visit]) !== visit)
    return fail('wrong_visit', `is matched to ${visit} and carries a newer one`)
  const isCount = row.candidate_count >= Math.max(certain.length, 1) && row.candidate_count <= possible.length
  const span = `${certain.length} to ${possible.length}`
  return isCount ? [] : fail('wrong_count', `counts ${row.candidate_count} candidates of ${span}`)
}

function judgeSameInstallation({ row, call, earlier }: ResolutionInput): Violation[] {
  const isRight =
    row.selection_policy === 'same_installation' && row.candidate_count === 0 && earlier.possible.includes(row.visit_id)
  return isRight ? [] : [violation(row, call, 'wrong_visit', `is matched to ${row.visit_id}, which nothing names`)]
}
