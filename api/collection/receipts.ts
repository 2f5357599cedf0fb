/** Reads receipts and their states: first the receipts themselves, then the hot state, then ClickHouse. */

import { textOf } from '../../domain/strict-json.ts'
import { ownedWebsite, type Website } from '../../domain/catalog.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import type { OwnedWebsite, VisitId } from '../../domain/model.ts'
import { isFromOrigin, issuedAtOfVisit, readReceipt, readToken, type ReceiptClaims } from '../../domain/receipt.ts'
import { RECEIPT_TOPICS } from '../../domain/collection/facts-lag.ts'
import { factCleaner } from '../../domain/privacy/redact.ts'
import { lookupsOf, type KnownState, type ReadReceipt } from '../../domain/collection/resolve.ts'
import type { ReceiptState } from '../../domain/receipt-states.ts'
import type { Predecessor, ReceiptRef } from '../../ports/hot-state/hot-state.ts'
import type { ReceiptFactsRow } from '../../ports/facts/query-rows.ts'
import type { ApiDeps, CatalogInForce, KeysInForce } from '../deps.ts'
import { areFactsBehind, inTime } from './look-up.ts'
import { otherWebsiteTest, siblingsOf } from './other-websites.ts'
import type { CheckedRequest } from './pipeline.ts'

/** The verified receipt of an activation or handoff: genuine and from this origin. */
export function requireReceipt({ body, website, origin }: CheckedRequest, deps: ApiDeps): Refusal | ReceiptClaims {
  const owned = ownedWebsite(website)
  const claims = readReceipt(deps.keys, owned, textOf(body['receipt']))
  if (claims === null) return refuse('receipt_not_found')
  return isFromOrigin(deps.keys, owned, claims, origin) ? claims : refuse('origin_mismatch')
}

export function isRefusal(value: Refusal | ReceiptClaims): value is Refusal {
  return 'kind' in value
}

export function receiptRef({ organization, website }: OwnedWebsite, claims: ReceiptClaims): ReceiptRef {
  return { organization, website, visitId: claims.visitId, issuedAtMs: claims.issuedAtMs }
}

/** Prepares texts of a request to become facts: without receipts of the organisation's websites. */
export function cleanerOf(
  website: Website,
  { keys, catalog }: CatalogInForce & KeysInForce,
  nowMs: number,
): (text: string) => string {
  return factCleaner(keys, ownedWebsite(website), nowMs, siblingsOf(website, catalog()))
}

/** The event's receipts, checked without any look-up. */
export function readReceipts(
  texts: readonly string[],
  website: Website,
  deps: CatalogInForce & KeysInForce,
  nowMs: number,
): readonly ReadReceipt[] {
  const isOfOther = otherWebsiteTest(website, deps, nowMs)
  const owned = ownedWebsite(website)
  return texts.map((text) => {
    const claims = readReceipt(deps.keys, owned, text)
    return { claims, isForeign: claims === null && isOfOther(text, readReceipt) }
  })
}

/** The event's handoff token, likewise. */
export function readEventToken(
  token: string,
  website: Website,
  deps: CatalogInForce & KeysInForce,
  nowMs: number,
): ReadReceipt {
  const claims = readToken(deps.keys, ownedWebsite(website), token)
  return { claims, isForeign: claims === null && otherWebsiteTest(website, deps, nowMs)(token, readToken) }
}

/**
 * States of the receipts that could be candidates. What the hot state has forgotten is looked up in ClickHouse, in one
 * query, as are unknown predecessors. `undecided` if ClickHouse is unreachable or behind.
 */
export async function statesOf(
  receipts: readonly ReadReceipt[],
  website: OwnedWebsite,
  { deps, nowMs }: { readonly deps: ApiDeps; readonly nowMs: number },
): Promise<ReadonlyMap<VisitId, KnownState>> {
  const wanted = lookupsOf(receipts, nowMs).map((claims) => receiptRef(website, claims))
  if (wanted.length === 0) return new Map()
  const states = await deps.hotState.receiptStates(wanted)
  const known = new Map<VisitId, Standing>(wanted.map((ref, index) => [ref.visitId, states[index] ?? 'unknown']))
  const open = wanted.filter(({ visitId }) => OPEN_STATES.has(known.get(visitId)))
  if (open.length === 0) return settleUnknown(known)
  const active = new Set(open.map(({ visitId }) => visitId).filter((visitId) => WAS_ACTIVE.has(known.get(visitId))))
  const asked = await askFacts(open, deps)
  const isSure = asked !== null && !asked.isBehind
  const recalled =
    asked === null ? new Map<VisitId, Standing>() : await applyFacts(asked.rows, open, { deps, active, isSure })
  for (const { visitId } of open) {
    const state = standingBy(known.get(visitId) ?? 'unknown', recalled.get(visitId), isSure)
    known.set(visitId, isSure || REVOKED_STATES.has(state) || active.has(visitId) ? state : 'undecided')
  }
  return settleUnknown(withRevocations(known, recalled))
}

/**
 * `revoked_predecessor_unknown`: said by the hot state, or of an activation that is in ClickHouse before its visit.
 * `revoked_unseen`: said by the hot state, or of a revoked one whose activation may not be in ClickHouse yet.
 */
type Standing = KnownState | 'revoked_predecessor_unknown' | 'revoked_unseen'

/**
 * What was revoked stays revoked, even if ClickHouse has only its activation so far: that says what it had replaced. If nobody
 * knows of an activation and ClickHouse has everything, it was never active, and replaced none. What ClickHouse calls revoked
 * counts in the end (`withRevocations`).
 */
function standingBy(held: Standing, recalled: Standing | undefined, isSure: boolean): Standing {
  if (!REVOKED_STATES.has(held)) return recalled ?? held
  if (recalled === 'active') return 'revoked'
  if (recalled === 'predecessor_unknown') return 'revoked_predecessor_unknown'
  return held === 'revoked_unseen' && isSure ? 'revoked' : held
}

/** A revoked receipt no longer counts, but may have replaced one of the others; the facts will say which. */
function settleUnknown(standings: ReadonlyMap<VisitId, Standing>): ReadonlyMap<VisitId, KnownState> {
  const replacer: KnownState = standings.size > 1 ? 'undecided' : 'revoked'
  const settled = (state: Standing): KnownState =>
    state === 'revoked_predecessor_unknown' || state === 'revoked_unseen' ? replacer : state
  return new Map([...standings].map(([visitId, state]) => [visitId, settled(state)]))
}

/** Revoked stays revoked. So does a receipt that the hot state still called active and a forgotten one has replaced. */
function withRevocations(
  known: ReadonlyMap<VisitId, Standing>,
  recalled: ReadonlyMap<VisitId, Standing>,
): ReadonlyMap<VisitId, Standing> {
  return new Map([...known, ...[...recalled].filter(([, state]) => REVOKED_STATES.has(state))])
}

const REVOKED_STATES: ReadonlySet<Standing | undefined> = new Set<Standing>([
  'revoked',
  'revoked_predecessor_unknown',
  'revoked_unseen',
])
const OPEN_STATES: ReadonlySet<Standing | undefined> = new Set<Standing>([
  'unknown',
  'predecessor_unknown',
  'revoked_predecessor_unknown',
  'revoked_unseen',
])
/** Of the open ones, those that were active for certain, and so have replaced what their visit names. */
const WAS_ACTIVE: ReadonlySet<Standing | undefined> = new Set<Standing>([
  'predecessor_unknown',
  'revoked_predecessor_unknown',
])

/**
 * Null if the facts did not answer in time. Their lag is checked first, so that the rows contain everything up to then.
 */
async function askFacts(
  refs: readonly ReceiptRef[],
  deps: ApiDeps,
): Promise<{ readonly rows: readonly ReceiptFactsRow[]; readonly isBehind: boolean } | null> {
  const ask = async () => {
    const isBehind = await areFactsBehind(RECEIPT_TOPICS, deps.eventLog)
    return { isBehind, rows: await receiptFacts(refs, deps) }
  }
  return inTime(ask()).catch((error: unknown) => {
    deps.logger.warn({ err: error }, 'receipts could not be looked up')
    return null
  })
}

function receiptFacts(refs: readonly ReceiptRef[], deps: ApiDeps): Promise<readonly ReceiptFactsRow[]> {
  deps.metrics.lookup('receipts')
  const { organization = '', website = '' } = refs[0] ?? {}
  const asked = { organization, website, visit_ids: refs.map(({ visitId }) => visitId) }
  return deps.facts.run('receiptFacts', asked)
}

/**
 * Looks up receipts in ClickHouse that the hot state does not know, and passes the result to the hot state. If
 * ClickHouse is unreachable they stay unknown, and the caller continues without them.
 */
export async function recall(refs: readonly ReceiptRef[], deps: ApiDeps): Promise<ReadonlyMap<VisitId, Standing>> {
  if (refs.length === 0) return new Map()
  const rows = await inTime(receiptFacts(refs, deps)).catch((error: unknown) => {
    deps.logger.warn({ err: error }, 'receipts could not be looked up')
    return []
  })
  return applyFacts(rows, refs, { deps, active: new Set(), isSure: true })
}

/** Whether a newer receipt has replaced it: by the hot state, or by ClickHouse if that has forgotten it. */
export async function isRevoked(ref: ReceiptRef, deps: ApiDeps): Promise<boolean> {
  const [state] = await deps.hotState.receiptStates([ref])
  return REVOKED_STATES.has(state === 'unknown' ? (await recall([ref], deps)).get(ref.visitId) : state)
}

interface Certainty {
  /** Known to be active already, though ClickHouse may not have their activations yet. */
  readonly active: ReadonlySet<VisitId>
  /** False if an activation or revocation may not have reached ClickHouse yet: then the hot state only learns what cannot change. */
  readonly isSure: boolean
}

interface Recalling extends Certainty {
  readonly deps: ApiDeps
}

/** The predecessor of an active receipt is revoked, whether it was requested or not. */
async function applyFacts(
  rows: readonly ReceiptFactsRow[],
  refs: readonly ReceiptRef[],
  { deps, ...certainty }: Recalling,
): Promise<ReadonlyMap<VisitId, Standing>> {
  const { active, isSure } = certainty
  const states = new Map<VisitId, Standing>()
  const replaced: VisitId[] = []
  for (const row of rows) {
    const ref = refs.find(({ visitId }) => visitId === row.visit_id)
    if (ref === undefined) continue
    const { told, previous, standing } = readFacts(row, ref, certainty)
    states.set(ref.visitId, standing)
    if (told.includes('active') && previous !== null && previous !== 'unknown') replaced.push(previous.visitId)
    if (!isSure && !row.is_revoked && !active.has(ref.visitId)) continue
    for (const state of told) await deps.hotState.learn({ ...ref, previous }, state)
  }
  const asked = new Set(refs.map(({ visitId }) => visitId))
  for (const visitId of replaced) {
    // One that was not asked for is known for certain.
    const isCertain = isSure || !asked.has(visitId)
    states.set(visitId, replacedStanding(visitId, states, { active, isSure: isCertain }))
  }
  return states
}

/** If no row says what it had itself replaced, that stays unknown. Undecided while even its activation may be missing. */
function replacedStanding(
  visitId: VisitId,
  recalled: ReadonlyMap<VisitId, Standing>,
  { active, isSure }: Certainty,
): Standing {
  const standing = recalled.get(visitId) ?? (active.has(visitId) ? 'predecessor_unknown' : undefined)
  if (OPEN_STATES.has(standing)) return 'revoked_predecessor_unknown'
  return isSure || standing === 'active' ? 'revoked' : 'undecided'
}

/**
 * `told` is what the hot state learns: an active receipt has revoked its predecessor, though it may be revoked itself
 * by now.
 */
function readFacts(
  row: ReceiptFactsRow,
  owned: OwnedWebsite,
  { active, isSure }: Certainty,
): { readonly told: readonly ReceiptState[]; readonly previous: Predecessor; readonly standing: Standing } {
  const isActive = row.is_active || active.has(row.visit_id)
  const previous = predecessorInRow(owned, row)
  const isOpen = isActive && previous === 'unknown'
  if (row.is_revoked && isActive)
    return { told: ['active', 'revoked'], previous, standing: isOpen ? 'revoked_predecessor_unknown' : 'revoked' }
  if (row.is_revoked && (isSure || previous === null)) return { told: ['revoked'], previous, standing: 'revoked' }
  // With its predecessor the hot state would learn that it was never active.
  if (row.is_revoked) return { told: ['revoked'], previous: 'unknown', standing: 'revoked_unseen' }
  if (!isActive) return { told: ['issued'], previous, standing: 'issued' }
  return { told: ['active'], previous, standing: isOpen ? 'predecessor_unknown' : 'active' }
}

/** The visit contains it; an activation may reach ClickHouse before its visit. */
function predecessorInRow({ organization, website }: OwnedWebsite, row: ReceiptFactsRow): Predecessor {
  const visitId = row.previous_visit_id
  if (visitId !== '') return { organization, website, visitId, issuedAtMs: issuedAtOfVisit(visitId) }
  return row.is_recorded ? null : 'unknown'
}
