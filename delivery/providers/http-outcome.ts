/** The outcome of a failed exchange as far as HTTP shows it; a provider uses this after its own rules. */

import type { Outcome, ProviderReply } from './provider.ts'

/** Statuses that may pass by themselves besides those from 500 on (RFC 9110; 425: RFC 8470). */
const PASSING: ReadonlySet<number> = new Set([408, 425])

/** A redirect is refused like any other wrong address: a secret must not follow it to another host. */
export function httpOutcome(reply: ProviderReply): Outcome {
  const { status } = reply
  // Only credentials go into a request unchecked: a value that a header does not allow is a wrong credential.
  if (reply.failure === 'unsendable') return { kind: 'credentials', code: reply.failure }
  if (status === 0) return { kind: 'retry', code: reply.failure }
  const code = `http_${status}`
  const retryAfter = reply.headers['retry-after'] ?? null
  const isThrottled = status === 429 || (status === 503 && retryAfter !== null)
  if (isThrottled) return { kind: 'throttled', code, retryAfter }
  if (status === 401 || status === 403) return { kind: 'credentials', code }
  return status >= 500 || PASSING.has(status) ? { kind: 'retry', code } : { kind: 'refused', code }
}
