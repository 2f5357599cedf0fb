/** Names the one reason why an install has no visit, so that unmatched installs can be counted by it. */

import type { Install, ReceiptVerdict } from '../model.ts'

/**
 * From the one that came closest to a match to the one that was furthest from it: an install that brought several
 * receipts counts under the first of these that applies to any of them.
 */
const CLOSEST_FIRST = [
  'expired',
  'revoked',
  'never_activated',
  'handoff_only',
  'unrecorded',
  'other_website',
  'forged',
] as const satisfies readonly ReceiptVerdict[]

/** `no_receipt`: it brought neither a receipt nor a token. Whether it found a browser is in the install's `browsers`. */
type UnmatchedReason = (typeof CLOSEST_FIRST)[number] | 'no_receipt'

/** Null for an install that is not `unmatched`. */
export function unmatchedReason({
  resolution,
  verdicts,
}: Pick<Install, 'resolution' | 'verdicts'>): UnmatchedReason | null {
  if (resolution !== 'unmatched') return null
  const found = new Set(verdicts.map(({ verdict }) => verdict))
  return CLOSEST_FIRST.find((verdict) => found.has(verdict)) ?? 'no_receipt'
}
