/** A refusal as HTTP has it, whoever answers. */

import type { ErrorCode, Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'

/** If the refusal itself does not say it. */
const RETRY_AFTER_S: Partial<Readonly<Record<ErrorCode, number>>> = {
  rate_limited: 1,
  unavailable: LIMITS.unavailableRetryS,
}

/** The contract's error form: `error` and further members that help the caller. */
export function refusalJson({ code, extra }: Refusal): string {
  return JSON.stringify({ error: code, ...extra })
}

/** Set for what passes by itself. */
export function retryHeader({ code, extra }: Pick<Refusal, 'code' | 'extra'>): { readonly 'Retry-After'?: string } {
  const otherwiseS = RETRY_AFTER_S[code]
  return otherwiseS === undefined ? {} : { 'Retry-After': String(Number(extra?.['retryAfter'] ?? otherwiseS)) }
}
