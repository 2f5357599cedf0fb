/** Decides the installs of a website again under another policy, page by page. Sends nothing and changes nothing. */

import { areVerdicts } from '../../domain/collection/stored-install.ts'
import { parsedAs } from '../../domain/guards.ts'
import {
  FOLLOWED_FOR_MS,
  forgetExpired,
  replayDecision,
  type CarriedMatches,
  type DecidedInstall,
  type ReplayChange,
  type ReplayCheckpoint,
  type ReplayPolicy,
  type ReplayResult,
  type SourceDifference,
} from '../../domain/collection/replay-decision.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { type OwnedWebsite, type VisitId, EVENT_TYPES, RESOLUTIONS, SELECTION_POLICIES } from '../../domain/model.ts'
import { IN_BACKGROUND, sliced } from '../../common/sliced.ts'
import type { FactsReader, FactsScanner } from '../../ports/facts/facts.ts'
import type { DecidedInstallRow } from '../../ports/facts/pages/replay.ts'

export interface ReplayRequest extends OwnedWebsite {
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
  /** Beyond the checkpoint that it began with. */
  readonly isFurther: boolean
  /** Costs as much as there are changes. */
  readonly checkpoint: () => ReplayCheckpoint
}

interface ReplayOptions {
  readonly signal?: AbortSignal
  /** Installs per page; 5,000 if absent. */
  readonly pageSize?: number
  /** Installations that are remembered at once; 500,000 if absent. */
  readonly mostInstallations?: number
  /** Where an earlier call was; absent: at the beginning. */
  readonly from?: ReplayCheckpoint
  /** Called after each page but the last. */
  readonly onProgress?: (progress: ReplayProgress) => void | Promise<void>
}

const PAGE = 5_000
const LIFETIME_DAYS = LIMITS.receiptLifetimeMs / DAY_MS
const MOST_CHANGES = 10_000
/** Further sources are counted together. */
const MOST_SOURCES = 1_000
const OTHER_SOURCES = '(other sources)'

/** The website has more installations within the lifetime of a receipt than a process remembers. */
export class TooManyInstallations extends Error {
  override readonly name = 'TooManyInstallations'

  constructor(most: number) {
    super(`more than ${most.toLocaleString('en')} installations within ${LIFETIME_DAYS} days: choose a shorter period`)
  }
}

/** Rejects like `Facts`, with the reason of `signal`, and with `TooManyInstallations`. */
export async function replayDecisions(
  facts: FactsReader & FactsScanner,
  request: ReplayRequest,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  const { signal, pageSize = PAGE, mostInstallations = LIMITS.replayInstallations, from, onProgress } = options
  const tally = new ReplayTally(from?.result)
  const carried: CarriedMatches = new Map()
  for await (const { rows, last, isLast } of pagesInOrder(facts, request, { signal, pageSize, from })) {
    const changed: ChangedInstall[] = []
    for await (const row of sliced(rows, IN_BACKGROUND)) {
      const install = decidedOf(row)
      if (install === null) continue
      const replayed = replayDecision(install, request.policy, carried)
      // What is not changed is forgotten at once: thousands of objects would be copied by each garbage collection.
      if (isCounted(install, request, from) && tally.count(install, replayed)) changed.push({ install, replayed })
    }
    keepWithin(mostInstallations, carried, last)
    tally.addChanges(await changesAmong(facts, request, changed))
    if (isLast) break
    await onProgress?.(progressAt(tally, { last, from }))
  }
  return tally.result()
}

/** Throws `TooManyInstallations` if more of them still matter. */
function keepWithin(most: number, carried: CarriedMatches, { afterMs }: Position): void {
  if (carried.size > most) forgetExpired(carried, afterMs)
  if (carried.size > most) throw new TooManyInstallations(most)
}

function progressAt(
  tally: ReplayTally,
  { last, from }: { readonly last: Position; readonly from: Position | undefined },
): ReplayProgress {
  const isFurther = from === undefined || comesAfter(last, from)
  // Before the checkpoint, installs are only read again.
  const { afterMs, afterId } = isFurther ? last : from
  const checkpoint = (): ReplayCheckpoint => ({ afterMs, afterId, result: tally.result() })
  return { installs: tally.installs, reachedMs: afterMs, isFurther, checkpoint }
}

type Position = { readonly afterMs: number; readonly afterId: string }

function comesAfter(one: Position, other: Position): boolean {
  return one.afterMs > other.afterMs || (one.afterMs === other.afterMs && one.afterId > other.afterId)
}

/** In the period, and not in the checkpoint. */
function isCounted(
  { receivedAtMs: afterMs, eventId: afterId }: DecidedInstall,
  { sinceMs }: ReplayRequest,
  from: Position | undefined,
): boolean {
  return afterMs >= sinceMs && (from === undefined || comesAfter({ afterMs, afterId }, from))
}

interface PagesToRead {
  readonly signal: AbortSignal | undefined
  readonly pageSize: number
  readonly from: ReplayCheckpoint | undefined
}

interface OrderedPage {
  /** To be taken once. */
  readonly rows: Iterable<DecidedInstallRow>
  /** Of its last record. */
  readonly last: Position
  readonly isLast: boolean
}

/**
 * The oldest first. They begin before the period, and before the checkpoint: later events
 * of an installation follow a match for as long as its receipt holds.
 */
async function* pagesInOrder(
  facts: FactsReader & FactsScanner,
  request: ReplayRequest,
  { signal, pageSize, from }: PagesToRead,
): AsyncGenerator<OrderedPage> {
  const sinceMs = Math.max(0, (from?.afterMs ?? request.sinceMs) - FOLLOWED_FOR_MS)
  const { organization, website } = request
  const bounds = { organization, website, since_ms: sinceMs, until_ms: request.untilMs }
  let after = { after_ms: bounds.since_ms, after_id: '' }
  for (;;) {
    signal?.throwIfAborted()
    const [page] = await facts.run('pageInOrder', { ...bounds, ...after, limit: pageSize }, { signal })
    if (page === undefined || page.records === 0) return
    const { last_ms: afterMs, last_id: afterId } = page
    const upTo = { last_ms: afterMs, last_id: afterId }
    const rows = await facts.each('installsInOrder', { ...bounds, ...after, ...upTo }, { signal })
    const isLast = page.records < pageSize
    yield { rows, last: { afterMs, afterId }, isLast }
    if (isLast) return
    after = { after_ms: afterMs, after_id: afterId }
  }
}

/** None if a word of it is none that this release knows. */
function decidedOf(row: DecidedInstallRow): DecidedInstall | null {
  const eventType = EVENT_TYPES.find((each) => each === row.event_type)
  const resolution = RESOLUTIONS.find((each) => each === row.resolution)
  const selectionPolicy = SELECTION_POLICIES.find((each) => each === row.selection_policy)
  if (eventType === undefined || resolution === undefined || selectionPolicy === undefined) return null
  return {
    eventId: row.event_id,
    installationId: row.installation_id,
    eventType,
    receivedAtMs: row.received_at_ms,
    resolution,
    selectionPolicy,
    visitId: row.visit_id === '' ? null : row.visit_id,
    visitIssuedAtMs: row.visit_issued_at_ms,
    verdicts: parsedAs(areVerdicts, row.verdicts) ?? [],
  }
}

/** Null: it is not decided under any policy. */
type DecidedAnew = ReturnType<typeof replayDecision>

interface ChangedInstall {
  readonly install: DecidedInstall
  readonly replayed: NonNullable<DecidedAnew>
}

async function changesAmong(
  facts: FactsReader,
  { organization, website }: OwnedWebsite,
  changed: readonly ChangedInstall[],
): Promise<readonly ReplayChange[]> {
  const visitIds = changed.flatMap(({ install, replayed }) => [install.visitId, replayed.visitId])
  const wanted = [...new Set(visitIds)].filter((id) => id !== null)
  const rows =
    wanted.length === 0 ? [] : await facts.run('sourcesOfVisits', { organization, website, visit_ids: wanted })
  const sources = new Map(rows.map(({ visit_id: id, source }) => [id, source]))
  const sourceOf = (visitId: VisitId | null): string | null => (visitId === null ? null : (sources.get(visitId) ?? ''))
  return changed.map(({ install: { eventId, receivedAtMs, visitId, selectionPolicy }, replayed }) => ({
    eventId,
    receivedAtMs,
    visitId,
    selectionPolicy,
    source: sourceOf(visitId),
    replayedVisitId: replayed.visitId,
    replayedPolicy: replayed.selectionPolicy,
    replayedSource: sourceOf(replayed.visitId),
  }))
}

/** The most changed first, those without a source last among equals; in the same order whatever order they were found in. */
function byChanges(one: SourceDifference, other: SourceDifference): number {
  const difference = other.lost + other.gained - (one.lost + one.gained)
  if (difference !== 0 || other.lost !== one.lost) return difference || other.lost - one.lost
  return one.source === '' || (other.source !== '' && one.source > other.source) ? 1 : -1
}

const NOTHING_COUNTED: ReplayResult = {
  installs: 0,
  matched: 0,
  replayedMatched: 0,
  notDecided: 0,
  changed: 0,
  sources: [],
  changes: [],
}

class ReplayTally {
  installs: number
  #matched: number
  #replayedMatched: number
  #notDecided: number
  #changed: number
  readonly #changes: ReplayChange[]
  readonly #sources: Map<string, { lost: number; gained: number }>

  constructor(before: ReplayResult = NOTHING_COUNTED) {
    this.installs = before.installs
    this.#matched = before.matched
    this.#replayedMatched = before.replayedMatched
    this.#notDecided = before.notDecided
    this.#changed = before.changed
    this.#changes = [...before.changes]
    this.#sources = new Map(before.sources.map(({ source, ...counts }) => [source, counts]))
  }

  /** Whether it has another visit under this policy, or none. */
  count({ visitId }: DecidedInstall, replayed: DecidedAnew): replayed is NonNullable<DecidedAnew> {
    this.installs += 1
    if (visitId !== null) this.#matched += 1
    if (replayed === null) this.#notDecided += 1
    else if (replayed.visitId !== null) this.#replayedMatched += 1
    return replayed !== null && replayed.visitId !== visitId
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
      sources: sources.toSorted(byChanges),
      changes: [...this.#changes],
    }
  }
}
