/** Decides the installs of a website again under another policy, page by page. Sends nothing and changes nothing. */

import {
  forgetExpired,
  replayDecision,
  type CarriedMatches,
  type DecidedInstall,
  type ReplayChange,
  type ReplayPolicy,
  type ReplayResult,
} from '../../domain/collection/replay-decision.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { CandidateVerdict, EventType, Resolution, SelectionPolicy, VisitId } from '../../domain/model.ts'
import { readJsonColumn } from '../../common/json-column.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { DecidedInstallRow } from '../../ports/facts/pages/replay.ts'

export interface ReplayRequest {
  readonly website: string
  readonly policy: ReplayPolicy
  /** Inclusive, Unix ms. */
  readonly sinceMs: number
  /** Exclusive. */
  readonly untilMs: number
}

interface ReplayProgress {
  readonly installs: number
  /** Unix ms: every install received before this moment is decided. */
  readonly reachedMs: number
}

interface ReplayOptions {
  readonly signal?: AbortSignal
  /** Installs per page; 5,000 if absent. */
  readonly pageSize?: number
  /** Installations that are remembered at once; 500,000 if absent. */
  readonly mostInstallations?: number
  /** Called after each page but the last. */
  readonly onProgress?: (progress: ReplayProgress) => void | Promise<void>
}

const PAGE = 5_000
const MOST_CHANGES = 10_000
/** Within the lifetime of a receipt. About 260 bytes each; of its 384 MB, a pod of the role `rollup` has about 190 MB for objects. */
const MOST_INSTALLATIONS = 500_000
/** Further sources are counted together. */
const MOST_SOURCES = 1_000
const OTHER_SOURCES = '(other sources)'

/** The website has more installations within the lifetime of a receipt than a process remembers. */
export class TooManyInstallations extends Error {
  override readonly name = 'TooManyInstallations'
}

/** Rejects like `Facts`, with the reason of `signal`, and with `TooManyInstallations`. */
export async function replayDecisions(
  facts: Pick<Facts, 'run'>,
  request: ReplayRequest,
  { signal, pageSize = PAGE, mostInstallations = MOST_INSTALLATIONS, onProgress }: ReplayOptions = {},
): Promise<ReplayResult> {
  const tally = new ReplayTally()
  const carried: CarriedMatches = new Map()
  // Later events of an installation follow a match for as long as its receipt holds.
  const { website, untilMs } = request
  const begin = { since_ms: Math.max(0, request.sinceMs - LIMITS.receiptLifetimeMs), until_ms: untilMs }
  let after = { after_ms: begin.since_ms, after_id: '' }
  for (;;) {
    signal?.throwIfAborted()
    const rows = await facts.run('installsInOrder', { website, ...begin, ...after, limit: pageSize }, { signal })
    const last = rows.at(-1)
    if (last === undefined) return tally.result()
    const all = rows.map((row): Pair => {
      const install = decidedOf(row)
      return { install, replayed: replayDecision(install, request.policy, carried) }
    })
    if (carried.size > mostInstallations) {
      forgetExpired(carried, last.received_at_ms)
      if (carried.size > mostInstallations) throw new TooManyInstallations(`more than ${mostInstallations}`)
    }
    const pairs = all.filter(({ install }) => install.receivedAtMs >= request.sinceMs)
    tally.count(pairs)
    tally.addChanges(await changesAmong(facts, website, pairs))
    after = { after_ms: last.received_at_ms, after_id: last.event_id }
    if (rows.length === pageSize) await onProgress?.({ installs: tally.installs, reachedMs: last.received_at_ms })
  }
}

function decidedOf(row: DecidedInstallRow): DecidedInstall {
  return {
    eventId: row.event_id,
    installationId: row.installation_id,
    eventType: row.event_type as EventType,
    receivedAtMs: row.received_at_ms,
    resolution: row.resolution as Resolution,
    selectionPolicy: row.selection_policy as SelectionPolicy,
    visitId: row.visit_id === '' ? null : row.visit_id,
    visitIssuedAtMs: row.visit_issued_at_ms,
    verdicts: readJsonColumn<CandidateVerdict[]>(row.verdicts) ?? [],
  }
}

interface Pair {
  readonly install: DecidedInstall
  readonly replayed: ReturnType<typeof replayDecision>
}

async function changesAmong(
  facts: Pick<Facts, 'run'>,
  website: string,
  pairs: readonly Pair[],
): Promise<readonly ReplayChange[]> {
  const changed = pairs.flatMap(({ install, replayed }) =>
    replayed === null || replayed.visitId === install.visitId ? [] : [{ install, replayed }],
  )
  const visitIds = changed.flatMap(({ install, replayed }) => [install.visitId, replayed.visitId])
  const wanted = [...new Set(visitIds)].filter((id) => id !== null)
  const rows = wanted.length === 0 ? [] : await facts.run('sourcesOfVisits', { website, visit_ids: wanted })
  const sources = new Map(rows.map(({ visit_id: id, source }) => [id, source]))
  const sourceOf = (visitId: VisitId | null): string | null => (visitId === null ? null : (sources.get(visitId) ?? ''))
  return changed.map(({ install: { eventId, receivedAtMs, visitId, selectionPolicy }, replayed }) => ({
    ...{ eventId, receivedAtMs, visitId, selectionPolicy, source: sourceOf(visitId) },
    replayedVisitId: replayed.visitId,
    replayedPolicy: replayed.selectionPolicy,
    replayedSource: sourceOf(replayed.visitId),
  }))
}

class ReplayTally {
  installs = 0
  #matched = 0
  #replayedMatched = 0
  #notDecided = 0
  #changed = 0
  readonly #changes: ReplayChange[] = []
  readonly #sources = new Map<string, { lost: number; gained: number }>()

  count(pairs: readonly Pair[]): void {
    for (const { install, replayed } of pairs) {
      this.installs += 1
      if (install.visitId !== null) this.#matched += 1
      if (replayed === null) this.#notDecided += 1
      else if (replayed.visitId !== null) this.#replayedMatched += 1
    }
  }

  addChanges(changes: readonly ReplayChange[]): void {
    for (const change of changes) {
      this.#changed += 1
      if (this.#changes.length < MOST_CHANGES) this.#changes.push(change)
      if (change.source !== null) this.#of(change.source).lost += 1
      if (change.replayedSource !== null) this.#of(change.replayedSource).gained += 1
    }
  }

  #of(source: string): { lost: number; gained: number } {
    const name = this.#sources.has(source) || this.#sources.size < MOST_SOURCES ? source : OTHER_SOURCES
    const known = this.#sources.get(name) ?? { lost: 0, gained: 0 }
    this.#sources.set(name, known)
    return known
  }

  result(): ReplayResult {
    const sources = [...this.#sources].map(([source, counts]) => ({ source, ...counts }))
    return {
      installs: this.installs,
      matched: this.#matched,
      replayedMatched: this.#replayedMatched,
      notDecided: this.#notDecided,
      changed: this.#changed,
      sources: sources.toSorted((one, other) => other.lost + other.gained - (one.lost + one.gained)),
      changes: this.#changes,
    }
  }
}
