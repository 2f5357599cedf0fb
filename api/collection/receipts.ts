/** Reads receipts and their state: what they prove by themselves, then the hot state, then ClickHouse. */

import type { Catalog, Website } from '../../domain/catalog.ts'
import { websitesByOrganization } from '../../domain/catalog-index.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import type { VisitId, WebsiteId } from '../../domain/model.ts'
import { couldBeReceipt, isFromOrigin, issuedAtOfVisit, readReceipt, type ReceiptClaims } from '../../domain/receipt.ts'
import { RECEIPT_TOPICS } from '../../domain/collection/facts-lag.ts'
import { factCleaner } from '../../domain/privacy/redact.ts'
import { lookupsOf, type KnownState, type ReadReceipt } from '../../domain/collection/resolve.ts'
import type { Predecessor, ReceiptRef, ReceiptState } from '../../ports/hot-state/hot-state.ts'
import type { ReceiptFactsRow } from '../../ports/facts/query-rows.ts'
import type { ApiDeps } from '../deps.ts'
import { areFactsBehind, inTime } from './look-up.ts'
import type { CheckedRequest } from './pipeline.ts'

/** MACs for nothing that a request may cost beside one for each of its receipts: all websites of the largest plan, once. */
const SIBLING_MISSES_MAX = PLAN_LIMITS.Enterprise.websites

/** The receipt of an activation or handoff, proven: genuine and from this origin. */
export function requireReceipt({ body, website, origin }: CheckedRequest, deps: ApiDeps): Refusal | ReceiptClaims {
  const claims = readReceipt(deps.keys, website.id, body['receipt'] as string)
  if (claims === null) return refuse('receipt_not_found')
  return isFromOrigin(deps.keys, website.id, claims, origin) ? claims : refuse('origin_mismatch')
}

export function isRefusal(value: Refusal | ReceiptClaims): value is Refusal {
  return 'kind' in value
}

export function refOf(website: WebsiteId, claims: ReceiptClaims): ReceiptRef {
  return { website, visitId: claims.visitId, issuedAtMs: claims.issuedAtMs }
}

/** Makes texts of a request fit to be facts: without receipts of the organisation's websites. */
export function cleanerOf(
  website: Website,
  { keys, catalog }: Pick<ApiDeps, 'keys' | 'catalog'>,
  nowMs: number,
): (text: string) => string {
  return factCleaner(keys, website.id, nowMs, siblingsOf(website, catalog()))
}

/** IDs of its organisation's websites, its own among them. */
export function siblingsOf({ organization }: Website, catalog: Catalog): readonly WebsiteId[] {
  return websitesByOrganization(catalog).get(organization.id) ?? []
}

/** What the event's receipts are worth before any look-up. */
export function readReceipts(
  texts: readonly string[],
  website: Website,
  deps: Pick<ApiDeps, 'keys' | 'catalog'>,
  nowMs: number,
): readonly ReadReceipt[] {
  const isOfSibling = siblingTest(website, deps, nowMs)
  return texts.map((text) => {
    const claims = readReceipt(deps.keys, website.id, text)
    return { claims, isForeign: claims === null && isOfSibling(text) }
  })
}

/**
 * States of the receipts that could be candidates. What the hot state has forgotten is asked of ClickHouse, in one query, and
 * so is whom one replaced whose predecessor is unknown. `undecided` where ClickHouse is away or behind.
 */
export async function statesOf(
  receipts: readonly ReadReceipt[],
  website: WebsiteId,
  { deps, nowMs }: { readonly deps: ApiDeps; readonly nowMs: number },
): Promise<ReadonlyMap<VisitId, KnownState>> {
  const wanted = lookupsOf(receipts, nowMs).map((claims) => refOf(website, claims))
  if (wanted.length === 0) return new Map()
  const states = await deps.hotState.receiptStates(wanted)
  const known = new Map<VisitId, KnownState>(wanted.map((ref, index) => [ref.visitId, states[index] ?? 'unknown']))
  const open = wanted.filter(({ visitId }) => OPEN_STATES.has(known.get(visitId) ?? 'unknown'))
  if (open.length === 0) return known
  const active = new Set(open.flatMap(({ visitId }) => (known.get(visitId) === 'unknown' ? [] : [visitId])))
  const asked = await askFacts(open, deps)
  const isSure = asked !== null && !asked.isBehind
  const recalled =
    asked === null ? new Map<VisitId, KnownState>() : await apply(asked.rows, open, { deps, active, isSure })
  for (const { visitId } of open) {
    const state = recalled.get(visitId) ?? known.get(visitId) ?? 'unknown'
    known.set(visitId, isSure || state === 'revoked' || active.has(visitId) ? state : 'undecided')
  }
  return withRevocations(known, recalled)
}

/** One that the hot state still called active may be what a forgotten one has replaced. */
function withRevocations(
  known: ReadonlyMap<VisitId, KnownState>,
  recalled: ReadonlyMap<VisitId, KnownState>,
): ReadonlyMap<VisitId, KnownState> {
  return new Map([...known, ...[...recalled].filter(([, state]) => state === 'revoked')])
}

const OPEN_STATES: ReadonlySet<KnownState> = new Set<KnownState>(['unknown', 'predecessor_unknown'])

/** Null where they gave no answer in time. Whether they are behind is asked first: what is there by then is in the rows. */
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
  const asked = { website: refs[0]?.website ?? '', visit_ids: refs.map(({ visitId }) => visitId) }
  return deps.facts.run('receiptFacts', asked)
}

/**
 * Asks ClickHouse for receipts that the hot state does not know and tells the hot state what it said. ClickHouse away means
 * unknown: what asks here goes on without.
 */
export async function recall(refs: readonly ReceiptRef[], deps: ApiDeps): Promise<ReadonlyMap<VisitId, KnownState>> {
  if (refs.length === 0) return new Map()
  const rows = await inTime(receiptFacts(refs, deps)).catch((error: unknown) => {
    deps.logger.warn({ err: error }, 'receipts could not be looked up')
    return []
  })
  return apply(rows, refs, { deps, active: new Set(), isSure: true })
}

interface Recalling {
  readonly deps: ApiDeps
  /** Known to be so already, though ClickHouse may not have their activations yet. */
  readonly active: ReadonlySet<VisitId>
  /** False where a revocation may be on its way to ClickHouse: then the hot state learns only what cannot change. */
  readonly isSure: boolean
}

/** What an active one replaced is revoked, whether it was asked for or not. */
async function apply(
  rows: readonly ReceiptFactsRow[],
  refs: readonly ReceiptRef[],
  { deps, active, isSure }: Recalling,
): Promise<ReadonlyMap<VisitId, KnownState>> {
  const states = new Map<VisitId, KnownState>()
  const replaced: VisitId[] = []
  for (const row of rows) {
    const ref = refs.find(({ visitId }) => visitId === row.visit_id)
    if (ref === undefined) continue
    const { told, previous, standing } = readFacts(row, ref.website, active)
    states.set(ref.visitId, standing)
    if (told.includes('active') && previous !== null && previous !== 'unknown') replaced.push(previous.visitId)
    if (!isSure && standing !== 'revoked' && !active.has(ref.visitId)) continue
    for (const state of told) await deps.hotState.learn({ ...ref, previous }, state)
  }
  for (const visitId of replaced) states.set(visitId, 'revoked')
  return states
}

/** `told` is what the hot state learns: one that was active has revoked what it replaced, though it may be revoked by now. */
function readFacts(
  row: ReceiptFactsRow,
  website: WebsiteId,
  active: ReadonlySet<VisitId>,
): { readonly told: readonly ReceiptState[]; readonly previous: Predecessor; readonly standing: KnownState } {
  const isActive = row.is_active || active.has(row.visit_id)
  const previous = previousOf(website, row)
  if (row.is_revoked) return { told: isActive ? ['active', 'revoked'] : ['revoked'], previous, standing: 'revoked' }
  if (!isActive) return { told: ['issued'], previous, standing: 'issued' }
  return { told: ['active'], previous, standing: previous === 'unknown' ? 'predecessor_unknown' : 'active' }
}

/** The visit says it; an activation may be in ClickHouse before its visit. */
function previousOf(website: WebsiteId, row: ReceiptFactsRow): Predecessor {
  const visitId = row.previous_visit_id
  if (visitId !== '') return { website, visitId, issuedAtMs: issuedAtOfVisit(visitId) }
  return row.is_recorded ? null : 'unknown'
}

/**
 * Asks whether another website of the same organisation signed a receipt, which only `explain` tells apart. All askings
 * together get a bounded number of misses, so that made-up receipts cost the same whatever the catalog's size; once they
 * are used up, the answer is no. The website that signed the last one is tried first.
 */
function siblingTest(
  website: Website,
  { keys, catalog }: Pick<ApiDeps, 'keys' | 'catalog'>,
  nowMs: number,
): (text: string) => boolean {
  const siblings = siblingsOf(website, catalog()).filter((id) => id !== website.id)
  let missesLeft = SIBLING_MISSES_MAX
  return (text) => {
    if (!couldBeReceipt(keys, text, nowMs)) return false
    for (const [index, sibling] of siblings.entries()) {
      if (missesLeft === 0) return false
      if (readReceipt(keys, sibling, text) !== null) {
        siblings.unshift(...siblings.splice(index, 1))
        return true
      }
      missesLeft--
    }
    return false
  }
}
