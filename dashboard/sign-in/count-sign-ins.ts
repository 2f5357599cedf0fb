/** Counts how tries to sign in end, for metrics: by way and outcome, and never by person. */

import type { Call, HandlerOutcome } from '../http/call.ts'
import type { DashboardMetrics } from '../http/metrics.ts'
import { REPLACED } from './oidc.ts'

export type CountSignIn = DashboardMetrics['signIn']

/** The same handler. A rejection counts too: it is answered as an unavailable store, or as a fault of ours. */
export function countingSignIns<Asked extends Call, Outcome extends HandlerOutcome>(
  way: Parameters<CountSignIn>[0],
  handle: (call: Asked) => Promise<Outcome>,
  count: CountSignIn,
) {
  return async (call: Asked): Promise<Outcome> => {
    let outcome = 'failed'
    try {
      const answered = await handle(call)
      outcome = signInOutcome(answered)
      return answered
    } finally {
      count(way, outcome)
    }
  }
}

/** `signed_in`, `account_replaced`, or the code of the refusal. */
function signInOutcome(outcome: HandlerOutcome): string {
  if (outcome.kind === 'refused') return outcome.code
  if (outcome.kind === 'stream') return 'failed'
  if (outcome.cookies?.session !== undefined && outcome.cookies.session !== null) return 'signed_in'
  return outcome.location?.endsWith(REPLACED) === true ? 'account_replaced' : 'sign_in_refused'
}
