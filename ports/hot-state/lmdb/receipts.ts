/**
 * The receipts in the LMDB hot state: issued ones for an hour, activated and revoked ones until they expire.
 *
 * Keys begin with the issue time, so that neighbours in time are neighbours on disk: one commit touches few pages, and
 * expiry deletes from the front. `issued/…` is described in issued.ts. `known/…` holds the state: `R` for revoked; `A` for
 * active, followed by the receipt that it revoked, or `?` if that is not known yet. If such a receipt is revoked, `known/…/open`
 * marks it. `known/…/unseen` marks a revoked receipt if it is not known yet whether it was active and what it replaced.
 */

import { LIMITS } from '../../../domain/limits.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import type { Activation, IssuedReceipt, Predecessor, ReceiptRef, ReceiptStanding, ReceiptState } from '../hot-state.ts'
import type { IssuedReceipts } from './issued.ts'
import { timeKey } from './time-key.ts'

const PREDECESSOR_UNKNOWN = 'A?'
/** A receipt's own lifetime decides; the extra day keeps a clock that differs from deleting a state too early. */
const KEEP_STATE_MS = LIMITS.receiptLifetimeMs + 86_400_000

interface Receipts {
  activate(receipt: ReceiptRef): Activation
  stateOf(receipt: ReceiptRef): ReceiptStanding
  /** Whether it is revoked, and nobody has said here whether it was active and what it replaced. */
  isUnseen(receipt: ReceiptRef): boolean
  learn(receipt: IssuedReceipt, state: ReceiptState): void
  /** Deletes up to `limit` expired states; returns how many. */
  sweep(limit: number): number
}

/** A known state overrides the entry of an issued receipt, so `put` need not look for it. */
export function openReceipts(table: Table, issued: IssuedReceipts, nowMs: () => number): Receipts {
  const isOver = (receipt: ReceiptRef): boolean => receipt.issuedAtMs + KEEP_STATE_MS <= nowMs()
  const known = (receipt: ReceiptRef): string | null =>
    isOver(receipt) ? null : (table.get(knownKey(receipt)) ?? null)
  const knownState = (receipt: ReceiptRef): 'active' | 'predecessor_unknown' | 'revoked' | null => {
    const stored = known(receipt)
    if (stored === null || stored === 'R') return stored === null ? null : 'revoked'
    return stored === PREDECESSOR_UNKNOWN ? 'predecessor_unknown' : 'active'
  }
  const isOpen = (receipt: ReceiptRef): boolean => table.get(openKey(receipt)) !== undefined
  const raise = (receipt: ReceiptRef, stored: string): void => {
    table.put(knownKey(receipt), stored)
    issued.forget(receipt)
  }
  const revoke = (receipt: ReceiptRef): void => {
    const state = knownState(receipt)
    if (isOver(receipt) || state === 'revoked') return
    raise(receipt, 'R')
    if (state === 'predecessor_unknown') table.put(openKey(receipt), '?')
    if (state === null) table.put(unseenKey(receipt), '?')
  }
  const activeOnce = (receipt: ReceiptRef, previous: Predecessor): void => {
    const wasUnseen = removed(table, unseenKey(receipt))
    if (previous !== 'unknown') removed(table, openKey(receipt))
    else if (wasUnseen) table.put(openKey(receipt), '?')
  }
  const makeActive = (receipt: ReceiptRef, previous: Predecessor): void => {
    const state = knownState(receipt)
    const isNews = state === null || (state === 'predecessor_unknown' && previous !== 'unknown')
    if (!isOver(receipt) && isNews) raise(receipt, activeText(previous))
    if (state === 'revoked') activeOnce(receipt, previous)
    if (previous !== null && previous !== 'unknown') revoke(previous)
  }
  const activate = (receipt: ReceiptRef): Activation => {
    const stored = known(receipt)
    if (stored === 'R') return { kind: 'revoked' }
    if (stored !== null) return { kind: 'already_active', revoked: revokedBy(receipt, stored) }
    const found = issued.find(receipt)
    if (found === null) return { kind: 'unknown' }
    makeActive(receipt, found.previous)
    return { kind: 'activated', revoked: found.previous }
  }
  return {
    activate,
    stateOf(receipt) {
      const state = knownState(receipt)
      if (state === 'revoked' && isOpen(receipt)) return 'revoked_predecessor_unknown'
      return state ?? (issued.find(receipt) === null ? 'unknown' : 'issued')
    },
    isUnseen: (receipt) => table.get(unseenKey(receipt)) !== undefined,
    learn(receipt, state) {
      if (state === 'issued') return issued.put(receipt)
      if (state === 'active') return makeActive(receipt, receipt.previous)
      revoke(receipt)
      if (receipt.previous !== 'unknown') removed(table, unseenKey(receipt))
    },
    sweep: (limit) => sweepKnown(table, nowMs(), limit),
  }
}

/** Whether it was there. */
function removed(table: Table, key: string): boolean {
  const isThere = table.get(key) !== undefined
  if (isThere) table.remove(key)
  return isThere
}

function activeText(previous: Predecessor): string {
  if (previous === 'unknown') return PREDECESSOR_UNKNOWN
  return previous === null ? 'A' : `A${previous.issuedAtMs}/${previous.visitId}`
}

/** A receipt only ever replaces one of its own website and organisation. */
function revokedBy({ organization, website }: ReceiptRef, stored: string): Predecessor {
  if (stored === PREDECESSOR_UNKNOWN) return 'unknown'
  const [issuedAtMs, visitId] = stored.slice(1).split('/')
  return visitId === undefined ? null : { organization, website, visitId, issuedAtMs: Number(issuedAtMs) }
}

function sweepKnown(table: Table, nowMs: number, limit: number): number {
  const due = table.range({ start: 'known/', end: `known/${timeKey(nowMs - KEEP_STATE_MS)}`, limit })
  for (const { key } of due) table.remove(key)
  return due.length
}

function openKey(receipt: ReceiptRef): string {
  return `${knownKey(receipt)}/open`
}

function unseenKey(receipt: ReceiptRef): string {
  return `${knownKey(receipt)}/unseen`
}

function knownKey({ organization, website, visitId, issuedAtMs }: ReceiptRef): string {
  return `known/${timeKey(issuedAtMs)}/${visitId}/${organization}/${website}`
}
