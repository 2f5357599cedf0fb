/**
 * What can be known of a receipt, and what becomes of that with each piece of news. Every adapter of the hot state is tested against
 * this table: states only move forward, whatever comes first, and however often.
 */

export type ReceiptState = 'issued' | 'active' | 'revoked'

/**
 * What the store knows about a receipt. `predecessor_unknown`: it is active, but it is not known yet which receipt it
 * replaced, so one that seems active beside it may be revoked.
 * `revoked_predecessor_unknown`: the same for one that has been replaced itself. `revoked_unseen`: it has been replaced, and nobody has
 * said here whether it was active before, and so had replaced another one. `unknown`: nothing is known (any more).
 */
export type ReceiptStanding =
  ReceiptState | 'predecessor_unknown' | 'revoked_predecessor_unknown' | 'revoked_unseen' | 'unknown'

/**
 * `active`: it is known what it replaced, if anything. `replaced`: another receipt was activated in its place. `revoked`: so it was, and
 * it is known whether it had been active.
 */
export type ReceiptNews = 'issued' | 'active' | 'active_predecessor_unknown' | 'replaced' | 'revoked'

type Transitions = { readonly [S in ReceiptStanding]: ReceiptStanding }

const UNCHANGED: Transitions = {
  unknown: 'unknown',
  issued: 'issued',
  predecessor_unknown: 'predecessor_unknown',
  active: 'active',
  revoked_unseen: 'revoked_unseen',
  revoked_predecessor_unknown: 'revoked_predecessor_unknown',
  revoked: 'revoked',
}

export const RECEIPT_TRANSITIONS: { readonly [N in ReceiptNews]: Transitions } = {
  issued: { ...UNCHANGED, unknown: 'issued' },
  active: {
    unknown: 'active',
    issued: 'active',
    predecessor_unknown: 'active',
    active: 'active',
    revoked_unseen: 'revoked',
    revoked_predecessor_unknown: 'revoked',
    revoked: 'revoked',
  },
  active_predecessor_unknown: {
    ...UNCHANGED,
    unknown: 'predecessor_unknown',
    issued: 'predecessor_unknown',
    revoked_unseen: 'revoked_predecessor_unknown',
  },
  replaced: {
    ...UNCHANGED,
    unknown: 'revoked_unseen',
    issued: 'revoked_unseen',
    predecessor_unknown: 'revoked_predecessor_unknown',
    active: 'revoked',
  },
  revoked: {
    unknown: 'revoked',
    issued: 'revoked',
    predecessor_unknown: 'revoked_predecessor_unknown',
    active: 'revoked',
    revoked_unseen: 'revoked',
    revoked_predecessor_unknown: 'revoked_predecessor_unknown',
    revoked: 'revoked',
  },
}

/** What whoever activates a receipt is told. Only of one that is issued does it change anything. */
export const ACTIVATION_OF = {
  unknown: 'unknown',
  issued: 'activated',
  predecessor_unknown: 'already_active',
  active: 'already_active',
  revoked_unseen: 'revoked',
  revoked_predecessor_unknown: 'revoked',
  revoked: 'revoked',
} as const satisfies { readonly [S in ReceiptStanding]: string }
