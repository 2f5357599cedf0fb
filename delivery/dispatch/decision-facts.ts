/**
 * What the facts show about pending installs: the states of their receipts and installations when each event was
 * received.
 *
 * The events were received by different machines, whose clocks differ. What the times say counts; only an event that would match nothing
 * by them is given the benefit of the doubt, within `LIMITS.clockDifferenceMs`.
 */

import type { FactsReader } from '../../ports/facts/facts.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Install, VisitId } from '../../domain/model.ts'
import { recordKey } from '../../domain/records.ts'
import type { KnownInstallation, KnownState, LaterKnowledge } from '../../domain/collection/resolve.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'
import type { VisitRef } from './reads.ts'

type History = QueryRow<'receiptHistory'>
type Match = QueryRow<'installationMatches'>

/** Receipts asked for at once. */
const KEYS_AT_ONCE = 2_000
/** Moments of one installation that are asked for at once; its other events wait until these are decided. */
const MOMENTS_AT_ONCE = 10

/** In the order of the installs; usually two queries. Undefined for one that must wait for others of its installation. */
export async function readKnowledge(
  facts: FactsReader,
  installs: readonly Install[],
): Promise<readonly (LaterKnowledge | undefined)[]> {
  const [histories, matches] = await Promise.all([readHistories(facts, installs), readMatches(facts, installs)])
  return installs.map((install) => {
    const around = matches.get(momentKeyOf(install))
    if (around === undefined) return undefined
    const states = statesAt(install, histories)
    return { states, installation: installationAt(install, around), receivedAtMs: install.receivedAtMs }
  })
}

async function readHistories(facts: FactsReader, installs: readonly Install[]): Promise<ReadonlyMap<string, History>> {
  const asked = new Map<string, VisitRef>()
  for (const { organization, website, openCandidates = [] } of installs) {
    for (const { visitId } of openCandidates) {
      const visit = { organization, website, visitId }
      asked.set(recordKey(visit, visitId), visit)
    }
  }
  const keys = [...asked.values()]
  const histories = new Map<string, History>()
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const some = keys.slice(from, from + KEYS_AT_ONCE)
    const rows = await facts.run('receiptHistory', {
      ...ownersOf(some),
      visit_ids: some.map(({ visitId }) => visitId),
    })
    for (const row of rows) histories.set(recordKey(row, row.visit_id), row)
  }
  return histories
}

/** What each installation was matched to around each moment. A query takes one moment of an installation. */
async function readMatches(
  facts: FactsReader,
  installs: readonly Install[],
): Promise<ReadonlyMap<string, readonly Match[]>> {
  const found = new Map<string, readonly Match[]>()
  for (const asked of momentsInTurn(installs)) {
    const rows = await facts.run('installationMatches', {
      ...ownersOf(asked),
      installation_ids: asked.map(({ installationId }) => installationId),
      at_ms: asked.map(({ receivedAtMs }) => receivedAtMs),
      margin_ms: LIMITS.clockDifferenceMs,
      since_ms: Math.min(...asked.map(({ receivedAtMs }) => receivedAtMs)) - LIMITS.receiptLifetimeMs,
    })
    const byInstallation = Map.groupBy(rows, (row) => recordKey(row, row.installation_id))
    for (const install of asked) found.set(momentKeyOf(install), byInstallation.get(installationKeyOf(install)) ?? [])
  }
  return found
}

/** The earliest moment of each installation, then the second of those that have one, and so on. */
function momentsInTurn(installs: readonly Install[]): readonly (readonly Install[])[] {
  const lists: Install[][] = []
  const moments = new Map(installs.map((install) => [momentKeyOf(install), install]))
  for (const some of Map.groupBy(moments.values(), installationKeyOf).values()) {
    const sorted = some.toSorted((one, other) => one.receivedAtMs - other.receivedAtMs)
    for (const [place, install] of sorted.slice(0, MOMENTS_AT_ONCE).entries()) (lists[place] ??= []).push(install)
  }
  return lists
}

function installationKeyOf(install: Install): string {
  return recordKey(install, install.installationId)
}

function momentKeyOf(install: Install): string {
  return `${install.receivedAtMs}:${installationKeyOf(install)}`
}

/** An activation that seems to be a moment later than the event counts if no candidate was active by then. */
function statesAt(install: Install, histories: ReadonlyMap<string, History>): ReadonlyMap<VisitId, KnownState> {
  const { openCandidates = [], receivedAtMs } = install
  const states = statesBy(receivedAtMs, install, histories)
  const isAnyActive = openCandidates.some(({ visitId, isDecided }) => {
    const state = states.get(visitId)
    return state === 'active' || (isDecided && state !== 'revoked')
  })
  return isAnyActive ? states : statesBy(receivedAtMs + LIMITS.clockDifferenceMs, install, histories)
}

/**
 * Activated by then, and not revoked when the event was received. The predecessor of an active receipt is revoked, even if there
 * is no row for that yet.
 */
function statesBy(
  activeByMs: number,
  install: Install,
  histories: ReadonlyMap<string, History>,
): ReadonlyMap<VisitId, KnownState> {
  const { openCandidates = [], receivedAtMs } = install
  const states = new Map<VisitId, KnownState>()
  const replaced = new Set<VisitId>()
  for (const { visitId } of openCandidates) {
    const history = histories.get(recordKey(install, visitId))
    if (history === undefined) continue
    const isActive = isBy(history.activated_at_ms, activeByMs)
    if (isActive) states.set(visitId, 'active')
    if (isBy(history.revoked_at_ms, receivedAtMs)) states.set(visitId, 'revoked')
    if (isActive) replaced.add(history.previous_visit_id)
  }
  for (const { visitId } of openCandidates) if (replaced.has(visitId)) states.set(visitId, 'revoked')
  return states
}

function isBy(atMs: number | null, byMs: number): boolean {
  return atMs !== null && atMs <= byMs
}

/**
 * The result of the installation's previous event. If there is none, that of the next one within the difference of clocks: it may have been
 * the previous one. An event waits for that only if it has no candidates itself, so that no two events wait for each other.
 */
function installationAt(install: Install, rows: readonly Match[]): KnownInstallation {
  const { receivedAtMs, openCandidates = [] } = install
  const before = rows.find((row) => isBefore(row, install))
  if (before !== undefined) return knownOf(before)
  const after = rows.filter((row) => row.received_at_ms > receivedAtMs).map(knownOf)
  const usable = openCandidates.length === 0 ? after : after.filter(({ kind }) => kind === 'matched')
  return usable[0] ?? { kind: 'none' }
}

function knownOf(row: Match): KnownInstallation {
  if (row.resolution === 'pending' || row.visit_issued_at_ms === null) return { kind: 'undecided' }
  const { visit_id: visitId, visit_issued_at_ms: issuedAtMs, gpc } = row
  return { kind: 'matched', visit: { visitId, issuedAtMs, gpc } }
}

function isBefore(row: Match, { receivedAtMs, eventId }: Install): boolean {
  if (row.received_at_ms !== receivedAtMs) return row.received_at_ms < receivedAtMs
  return row.event_id < eventId
}
