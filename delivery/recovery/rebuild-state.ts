/** Refills a lost hot state from the facts: the states of receipts, the answers to installs, and usage. */

import { LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { monthOf } from '../../domain/collection/rate.ts'
import { recordKey } from '../../domain/records.ts'
import type { ReceiptVerbs, InstallVerbs, UsageVerbs } from '../../ports/hot-state/hot-state.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { settledInstallOf } from '../../ports/facts/settled-installs.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { readPredecessors } from './predecessors.ts'
import { settleAnswer } from './settle-answer.ts'
import { DAY_MS } from '../../domain/durations.ts'

interface RebuildDeps {
  readonly facts: FactsReader
  readonly hotState: ReceiptVerbs & InstallVerbs & UsageVerbs
  readonly nowMs: () => number
  /** Called after each page with the number of rows applied so far. */
  readonly onProgress: (what: 'activations' | 'installs' | 'organizations', rows: number) => void
}

interface RebuildReport {
  readonly activations: number
  readonly installs: number
  /** Number of organisations whose usage of this month is restored. */
  readonly organizations: number
}

const PAGE_ROWS = 5_000
/** Concurrent calls: more would only wait in the store's queue. */
const VERBS_AT_ONCE = 500
/** In an activation's row, as in `activationsAfter`. */
const REVOKED = 2

/**
 * May run while the service works, and may be repeated: states only move forward, and a settled event stays as it is. The role
 * `state` applies from the log what is not in the facts yet; usage is completed when this runs again.
 */
export async function rebuildState(deps: RebuildDeps): Promise<RebuildReport> {
  const activations = await rebuildReceipts(deps)
  const installs = await rebuildAnswers(deps, deps.nowMs() - LIMITS.answerMemoryDays * DAY_MS)
  return { activations, installs, organizations: await rebuildUsage(deps) }
}

/**
 * Only the answers to installs that were received from then on (Unix ms), and usage. Processes' clocks differ, so a little more
 * is read. Activations need no help: the role `state` applies each of them from the log.
 */
export async function rebuildAnswersSince(sinceMs: number, deps: RebuildDeps): Promise<RebuildReport> {
  const installs = await rebuildAnswers(deps, sinceMs - LIMITS.clockSkewMs)
  return { activations: 0, installs, organizations: await rebuildUsage(deps) }
}

async function rebuildReceipts(deps: RebuildDeps): Promise<number> {
  const { facts, nowMs, onProgress } = deps
  const since_ms = nowMs() - LIMITS.receiptLifetimeMs - DAY_MS
  let after = { after_organization: '', after_website: '', after_visit_id: '', after_effect: 0 }
  let applied = 0
  for (;;) {
    const rows = await facts.run('activationsAfter', { since_ms, limit: PAGE_ROWS, ...after })
    const last = rows.at(-1)
    if (last === undefined) return applied
    await learnPage(rows, deps)
    onProgress('activations', (applied += rows.length))
    after = { ...afterOwner(last), after_visit_id: last.visit_id, after_effect: last.effect }
  }
}

/** The visit shows which receipt an activation replaced. If the visit may still arrive, that stays open. */
async function learnPage(
  rows: readonly QueryRow<'activationsAfter'>[],
  { facts, hotState, nowMs }: RebuildDeps,
): Promise<void> {
  const receipts = rows.map(({ organization, website, visit_id: visitId, issued_at_ms: issuedAtMs, effect }) => {
    return { organization, website, visitId, issuedAtMs, isRevoked: effect === REVOKED }
  })
  const predecessors = await readPredecessors(
    facts,
    receipts.filter(({ isRevoked }) => !isRevoked),
  )
  const openSinceMs = nowMs() - LIMITS.eventLogKeepMs
  await inParts(receipts, ({ isRevoked, ...receipt }) => {
    const absent = receipt.issuedAtMs >= openSinceMs ? 'unknown' : null
    const found = predecessors.get(recordKey(receipt, receipt.visitId))
    const previous = found === undefined ? absent : found
    return hotState.learn({ ...receipt, previous }, isRevoked ? 'revoked' : 'active')
  })
}

async function rebuildAnswers({ facts, hotState, onProgress }: RebuildDeps, since_ms: number): Promise<number> {
  let after = { after_organization: '', after_website: '', after_event_id: '' }
  let applied = 0
  for (;;) {
    const rows = await facts.run('installsAfter', { since_ms, limit: PAGE_ROWS, ...after })
    const last = rows.at(-1)
    if (last === undefined) return applied
    await inParts(rows, (row) => restoreAnswer(row, hotState))
    onProgress('installs', (applied += rows.length))
    after = { ...afterOwner(last), after_event_id: last.event_id }
  }
}

/** A final answer also replaces a `pending` one of a repeat: no decision about the repeat will ever come. */
async function restoreAnswer(row: QueryRow<'installsAfter'>, hotState: InstallVerbs): Promise<void> {
  const known = settledInstallOf(row)
  if (row.resolution === 'pending')
    await settleAnswer({ ...known, isPending: true }, `rebuild-${row.event_id}`, hotState)
  else await hotState.decideInstall({ ...known, isStored: true })
}

/**
 * Facts never hold more than happened: a count that is as high or higher stays. Other months do not matter for limits.
 */
async function rebuildUsage({ facts, hotState, nowMs, onProgress }: RebuildDeps): Promise<number> {
  const month = monthOf(nowMs())
  const rows = await facts.run('usageOfAll', { since_ms: Date.parse(`${month}-01T00:00:00Z`) })
  await inParts(rows, ({ organization, events }) => hotState.raiseUsage({ organization, month, atLeast: events }))
  onProgress('organizations', rows.length)
  return rows.length
}

function afterOwner({ organization, website }: OwnedWebsite) {
  return { after_organization: organization, after_website: website }
}

async function inParts<T>(items: readonly T[], apply: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += VERBS_AT_ONCE) {
    await Promise.all(items.slice(from, from + VERBS_AT_ONCE).map(apply))
  }
}
