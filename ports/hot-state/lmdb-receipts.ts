/**
 * What the LMDB hot state knows of receipts: issued ones for an hour, activated and revoked ones until they expire.
 *
 * Keys begin with the issue time, so that neighbours in time are neighbours on disk: one commit touches few pages, and
 * expiry deletes from the front. `issued/…` holds when it was put and what it replaces; `known/…` holds the state: `R`
 * for revoked, `A` for active, and behind the `A` the receipt that was revoked thereby.
 */

import { LIMITS } from '../../domain/limits.ts'
import type { Table } from '../lmdb/table.ts'

import type { Activation, IssuedReceipt, ReceiptRef, ReceiptState } from './hot-state.ts'

const TIME_DIGITS = 15
/** A receipt's own lifetime decides; the extra day keeps clocks that differ from losing a state early. */
const KEEP_STATE_MS = LIMITS.receiptLifetimeMs + 86_400_000

interface Issued {
  readonly putAtMs: number
  readonly previous: ReceiptRef | null
}

export interface Receipts {
  put(receipt: IssuedReceipt): void
  activate(receipt: ReceiptRef): Activation
  stateOf(receipt: ReceiptRef): ReceiptState | 'unknown'
  learn(receipt: IssuedReceipt, state: ReceiptState): void
  /** Deletes up to `limit` expired entries of each kind; returns how many. */
  sweep(limit: number): number
}

export function openReceipts(table: Table, nowMs: () => number): Receipts {
  const issuedOf = (receipt: ReceiptRef): Issued | null => {
    const stored = table.get(issuedKey(receipt))
    if (stored === undefined) return null
    const issued = JSON.parse(stored) as Issued
    return issued.putAtMs + LIMITS.issuedMemoryMs > nowMs() ? issued : null
  }
  const isOver = (receipt: ReceiptRef): boolean => receipt.issuedAtMs + KEEP_STATE_MS <= nowMs()
  const known = (receipt: ReceiptRef): string | null =>
    isOver(receipt) ? null : (table.get(knownKey(receipt)) ?? null)
  const knownState = (receipt: ReceiptRef): 'active' | 'revoked' | null => {
    const stored = known(receipt)
    return stored === null ? null : stored === 'R' ? 'revoked' : 'active'
  }
  const raise = (receipt: ReceiptRef, stored: string): void => {
    table.put(knownKey(receipt), stored)
    if (table.get(issuedKey(receipt)) !== undefined) table.remove(issuedKey(receipt))
  }
  const revoke = (receipt: ReceiptRef): void => {
    if (!isOver(receipt) && knownState(receipt) !== 'revoked') raise(receipt, 'R')
  }
  const makeActive = (receipt: ReceiptRef, previous: ReceiptRef | null): void => {
    if (!isOver(receipt) && knownState(receipt) === null) raise(receipt, activeText(previous))
    if (previous !== null) revoke(previous)
  }
  /** Where its state is known already that one counts: no look is needed, which every visit would pay for. */
  const put = (receipt: IssuedReceipt): void => {
    const issued: Issued = { putAtMs: nowMs(), previous: receipt.previous }
    table.put(issuedKey(receipt), JSON.stringify(issued))
  }
  const activate = (receipt: ReceiptRef): Activation => {
    const stored = known(receipt)
    if (stored === 'R') return { kind: 'revoked' }
    if (stored !== null) return { kind: 'already_active', revoked: revokedBy(receipt, stored) }
    const issued = issuedOf(receipt)
    if (issued === null) return { kind: 'unknown' }
    makeActive(receipt, issued.previous)
    return { kind: 'activated', revoked: issued.previous }
  }
  return {
    put,
    activate,
    stateOf: (receipt) => knownState(receipt) ?? (issuedOf(receipt) === null ? 'unknown' : 'issued'),
    learn(receipt, state) {
      if (state === 'issued') return put(receipt)
      if (state === 'revoked') return revoke(receipt)
      makeActive(receipt, receipt.previous)
    },
    sweep: (limit) => sweepIssued(table, nowMs(), limit) + sweepKnown(table, nowMs(), limit),
  }
}

function activeText(previous: ReceiptRef | null): string {
  return previous === null ? 'A' : `A${previous.issuedAtMs}/${previous.visitId}`
}

/** A receipt only ever replaces one of its own website. */
function revokedBy(receipt: ReceiptRef, stored: string): ReceiptRef | null {
  const [issuedAtMs, visitId] = stored.slice(1).split('/')
  return visitId === undefined ? null : { website: receipt.website, visitId, issuedAtMs: Number(issuedAtMs) }
}

/** Those learned late lie before the bound and are not due yet: they are stepped over. */
function sweepIssued(table: Table, nowMs: number, limit: number): number {
  const dueBeforeMs = nowMs - LIMITS.issuedMemoryMs
  let removed = 0
  for (const { key, value } of table.range({ start: 'issued/', end: `issued/${timeOf(dueBeforeMs + 1)}`, limit })) {
    if ((JSON.parse(value) as Issued).putAtMs > dueBeforeMs) continue
    table.remove(key)
    removed++
  }
  return removed
}

function sweepKnown(table: Table, nowMs: number, limit: number): number {
  const due = table.range({ start: 'known/', end: `known/${timeOf(nowMs - KEEP_STATE_MS)}`, limit })
  for (const { key } of due) table.remove(key)
  return due.length
}

function issuedKey(receipt: ReceiptRef): string {
  return `issued/${timeOf(receipt.issuedAtMs)}/${receipt.visitId}/${receipt.website}`
}

function knownKey(receipt: ReceiptRef): string {
  return `known/${timeOf(receipt.issuedAtMs)}/${receipt.visitId}/${receipt.website}`
}

function timeOf(ms: number): string {
  return String(Math.max(0, Math.trunc(ms))).padStart(TIME_DIGITS, '0')
}
