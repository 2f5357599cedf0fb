/**
 * Closes the gap that a kill can leave between an install's record and the answer that is remembered for it.
 *
 * An install event is answered once its record is on the log and its answer is in the hot state, in this order. A process
 * that ends in between has the record alone: the next try of that event would be decided anew, perhaps otherwise than
 * what is stored and delivered. So before a process takes requests it looks at the newest records of the log.
 */

import { LIMITS } from '../domain/limits.ts'
import { decodeRecord, type InstallRecord } from '../domain/records.ts'
import type { EventLog, StoredEntry } from '../ports/event-log/event-log.ts'
import type { HotState, MatchedVisit } from '../ports/hot-state/hot-state.ts'

const PAGE_ENTRIES = 1_000
/** No claim is held longer: what was appended earlier was settled, or taken over and settled by the next try. */
const WINDOW_MS = LIMITS.claimLeaseMs

/** Resolves with how many answers had been lost. Nobody else may work on this log and hot state yet. */
export async function recallAnswers(parts: {
  readonly eventLog: Pick<EventLog, 'read'>
  readonly hotState: Pick<HotState, 'claimInstall' | 'settleInstall'>
}): Promise<number> {
  const { eventLog, hotState } = parts
  const records = (await newestInstalls(eventLog)).flatMap((entry) => readRecord(entry) ?? [])
  // Begun in the log's order: of two records of one event the first takes the claim, and the second finds it taken.
  const outcomes = await Promise.all(records.map((record, index) => recallOne(record, `recall-${index}`, hotState)))
  return outcomes.filter((isRecalled) => isRecalled).length
}

/** Null for an entry that cannot be read: the facts-writer sets it aside, and a start must not fail over it. */
function readRecord(entry: StoredEntry): InstallRecord | null {
  try {
    return decodeRecord<InstallRecord>(entry.value)
  } catch {
    return null
  }
}

async function recallOne(
  { install }: InstallRecord,
  owner: string,
  hotState: Pick<HotState, 'claimInstall' | 'settleInstall'>,
): Promise<boolean> {
  const { website, eventId, installationId, visitId, visitIssuedAtMs, gpc } = install
  const claim = { website, eventId, installationId, owner }
  if ((await hotState.claimInstall(claim)).kind !== 'first') return false
  const matched: MatchedVisit | null =
    visitId === null || visitIssuedAtMs === null ? null : { website, visitId, issuedAtMs: visitIssuedAtMs, gpc }
  await hotState.settleInstall({ ...claim, answer: JSON.stringify(install.answer), matched })
  return true
}

/** The entries appended within the window before the last one, oldest first, so that the first record of an event wins. */
async function newestInstalls(eventLog: Pick<EventLog, 'read'>): Promise<readonly StoredEntry[]> {
  const end = await endOffset(eventLog)
  let newest: readonly StoredEntry[] = []
  for (let to = end; to > 0; to -= PAGE_ENTRIES) {
    const from = Math.max(0, to - PAGE_ENTRIES)
    const page = (await eventLog.read('installs', from, to - from)).filter(({ offset }) => offset < to)
    newest = [...page, ...newest]
    const oldestAllowedMs = (newest.at(-1)?.appendedAtMs ?? 0) - WINDOW_MS
    if ((page[0]?.appendedAtMs ?? 0) < oldestAllowedMs || page.length === 0) {
      return newest.filter(({ appendedAtMs }) => appendedAtMs >= oldestAllowedMs)
    }
  }
  return newest
}

/** The offset after the last entry, found by halving: a log tells its entries, not its length. */
async function endOffset(eventLog: Pick<EventLog, 'read'>): Promise<number> {
  const next = async (from: number): Promise<number | null> => {
    const [entry] = await eventLog.read('installs', from, 1)
    return entry === undefined ? null : entry.offset + 1
  }
  let low = (await next(0)) ?? 0
  let high = low
  for (let found = await next(high); found !== null; found = await next(high)) {
    low = found
    high = found * 2
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = await next(middle)
    if (found === null) high = middle
    else low = found
  }
  return low
}
