/**
 * The receipts in the LMDB hot state: issued ones for an hour, activated and revoked ones until they expire.
 *
 * Keys begin with the issue time, so that neighbours in time are neighbours on disk: one commit touches few pages, and
 * expiry deletes from the front. `issued/…` is described in issued.ts. `known/…` holds the state: `R`, `R?` or `R-` for revoked
 * (its predecessor known, unknown, or nobody has said whether it was active); `A` for active, followed by the receipt that it revoked,
 * or `?` if that is not known yet.
 */

import { LIMITS } from '../../../domain/limits.ts'
import {
  ACTIVATION_OF,
  RECEIPT_TRANSITIONS,
  type ReceiptNews,
  type ReceiptStanding,
  type ReceiptState,
} from '../../../domain/receipt-states.ts'
import { keysOf } from '../../../domain/typed-keys.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import type { Activation, IssuedReceipt, Predecessor, ReceiptRef } from '../hot-state.ts'
import type { IssuedReceipts } from './issued.ts'
import { timeKey } from './time-key.ts'

/** A receipt's own lifetime decides; the extra day keeps a clock that differs from deleting a state too early. */
const KEEP_STATE_MS = LIMITS.receiptLifetimeMs + 86_400_000

/** How states are stored; that of an active receipt may be followed by the one that it revoked. */
const STORED = {
  active: 'A',
  predecessor_unknown: 'A?',
  revoked: 'R',
  revoked_predecessor_unknown: 'R?',
  revoked_unseen: 'R-',
} as const
type StoredStanding = keyof typeof STORED
const STANDINGS = new Map<string, StoredStanding>(keysOf(STORED).map((standing) => [STORED[standing], standing]))

interface Receipts {
  activate(receipt: ReceiptRef): Activation
  stateOf(receipt: ReceiptRef): ReceiptStanding
  learn(receipt: IssuedReceipt, state: ReceiptState): void
  /** Deletes up to `limit` expired states; returns how many. */
  sweep(limit: number): number
}

/** A known state overrides the entry of an issued receipt, so `put` need not look for it. */
export function openReceipts(table: Table, issued: IssuedReceipts, nowMs: () => number): Receipts {
  const isOver = (receipt: ReceiptRef): boolean => receipt.issuedAtMs + KEEP_STATE_MS <= nowMs()
  const known = (receipt: ReceiptRef): string | undefined =>
    isOver(receipt) ? undefined : table.get(knownKey(receipt))
  const tell = (receipt: ReceiptRef, news: ReceiptNews, previous: Predecessor = null): void => {
    if (isOver(receipt)) return
    const before = standingIn(table.get(knownKey(receipt)))
    const after = RECEIPT_TRANSITIONS[news][before]
    if (after === before || after === 'unknown' || after === 'issued') return
    table.put(knownKey(receipt), after === 'active' ? activeText(previous) : STORED[after])
    issued.forget(receipt)
  }
  const makeActive = (receipt: ReceiptRef, previous: Predecessor): void => {
    if (previous === 'unknown') return tell(receipt, 'active_predecessor_unknown')
    tell(receipt, 'active', previous)
    if (previous !== null) tell(previous, 'replaced')
  }
  return {
    activate(receipt) {
      const stored = known(receipt)
      if (stored === undefined) {
        const found = issued.find(receipt)
        if (found === null) return { kind: 'unknown' }
        makeActive(receipt, found.previous)
        return { kind: 'activated', revoked: found.previous }
      }
      const isActive = ACTIVATION_OF[standingIn(stored)] === 'already_active'
      return isActive ? { kind: 'already_active', revoked: revokedBy(receipt, stored) } : { kind: 'revoked' }
    },
    stateOf(receipt) {
      const stored = known(receipt)
      if (stored !== undefined) return standingIn(stored)
      return issued.find(receipt) === null ? 'unknown' : 'issued'
    },
    learn(receipt, state) {
      if (state === 'issued') issued.put(receipt)
      else if (state === 'active') makeActive(receipt, receipt.previous)
      else tell(receipt, receipt.previous === 'unknown' ? 'replaced' : 'revoked')
    },
    sweep: (limit) => sweepKnown(table, nowMs(), limit),
  }
}

/** `unknown` for one that may have been issued, which makes no difference to news. */
function standingIn(stored: string | undefined): ReceiptStanding {
  return stored === undefined ? 'unknown' : (STANDINGS.get(stored) ?? 'active')
}

function activeText(previous: Predecessor): string {
  if (previous === null || previous === 'unknown') return STORED.active
  return `${STORED.active}${previous.issuedAtMs}/${previous.visitId}`
}

/** A receipt only ever replaces one of its own website and organisation. */
function revokedBy({ organization, website }: ReceiptRef, stored: string): Predecessor {
  if (stored === STORED.predecessor_unknown) return 'unknown'
  const [issuedAtMs, visitId] = stored.slice(STORED.active.length).split('/')
  return visitId === undefined ? null : { organization, website, visitId, issuedAtMs: Number(issuedAtMs) }
}

function sweepKnown(table: Table, nowMs: number, limit: number): number {
  const due = table.range({ start: 'known/', end: `known/${timeKey(nowMs - KEEP_STATE_MS)}`, limit })
  for (const { key } of due) table.remove(key)
  return due.length
}

function knownKey({ organization, website, visitId, issuedAtMs }: ReceiptRef): string {
  return `known/${timeKey(issuedAtMs)}/${visitId}/${organization}/${website}`
}
