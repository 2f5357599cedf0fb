/**
 * What the facts show about pending installs: the states of their receipts and installations when each event was
 * received.
 */

import { LIMITS } from '../../domain/limits.ts'
import type { Install, VisitId } from '../../domain/model.ts'
import { recordKey } from '../../domain/records.ts'
import type { KnownInstallation, KnownState, LaterKnowledge } from '../../domain/collection/resolve.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import type { FactsReader } from './reads.ts'

type History = QueryRow<'receiptHistory'>
type Match = QueryRow<'installationVisits'>

/** In the order of the installs; two queries. */
export async function readKnowledge(
  facts: FactsReader,
  installs: readonly Install[],
): Promise<readonly LaterKnowledge[]> {
  if (installs.length === 0) return []
  const [histories, matches] = await Promise.all([readHistories(facts, installs), readMatches(facts, installs)])
  return installs.map((install) => ({
    states: statesAt(install, histories),
    installation: installationAt(install, matches.get(recordKey(install.website, install.installationId)) ?? []),
    receivedAtMs: install.receivedAtMs,
  }))
}

async function readHistories(facts: FactsReader, installs: readonly Install[]): Promise<ReadonlyMap<string, History>> {
  const asked = installs.flatMap(({ website, openCandidates = [] }) =>
    openCandidates.map(({ visitId }) => ({ website, visitId })),
  )
  if (asked.length === 0) return new Map()
  const rows = await facts.run('receiptHistory', {
    websites: asked.map(({ website }) => website),
    visit_ids: asked.map(({ visitId }) => visitId),
  })
  return new Map(rows.map((row) => [recordKey(row.website, row.visit_id), row]))
}

async function readMatches(
  facts: FactsReader,
  installs: readonly Install[],
): Promise<ReadonlyMap<string, readonly Match[]>> {
  const rows = await facts.run('installationVisits', {
    websites: installs.map(({ website }) => website),
    installation_ids: installs.map(({ installationId }) => installationId),
    since_ms: Math.min(...installs.map(({ receivedAtMs }) => receivedAtMs)) - LIMITS.receiptLifetimeMs,
  })
  return Map.groupBy(rows, (row) => recordKey(row.website, row.installation_id))
}

/** The predecessor of an active receipt is revoked, even if there is no row for that yet. */
function statesAt(install: Install, histories: ReadonlyMap<string, History>): ReadonlyMap<VisitId, KnownState> {
  const states = new Map<VisitId, KnownState>()
  const replaced = new Set<VisitId>()
  for (const { visitId } of install.openCandidates ?? []) {
    const history = histories.get(recordKey(install.website, visitId))
    if (history === undefined) continue
    const isActive = isBy(history.activated_at_ms, install)
    if (isActive) states.set(visitId, 'active')
    if (isBy(history.revoked_at_ms, install)) states.set(visitId, 'revoked')
    if (isActive) replaced.add(history.previous_visit_id)
  }
  for (const { visitId } of install.openCandidates ?? []) if (replaced.has(visitId)) states.set(visitId, 'revoked')
  return states
}

function isBy(atMs: number | null, { receivedAtMs }: Install): boolean {
  return atMs !== null && atMs <= receivedAtMs
}

/** The result of the installation's previous event. Rows come newest first. */
function installationAt(install: Install, rows: readonly Match[]): KnownInstallation {
  const before = rows.find((row) => isBefore(row, install))
  if (before === undefined) return { kind: 'none' }
  if (before.resolution === 'pending' || before.visit_issued_at_ms === null) return { kind: 'undecided' }
  const { visit_id: visitId, visit_issued_at_ms: issuedAtMs, gpc } = before
  return { kind: 'matched', visit: { visitId, issuedAtMs, gpc } }
}

function isBefore(row: Match, { receivedAtMs, eventId }: Install): boolean {
  if (row.received_at_ms !== receivedAtMs) return row.received_at_ms < receivedAtMs
  return row.event_id < eventId
}
