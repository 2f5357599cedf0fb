/** The windows that a request of the dashboard is counted in. Keys contain keyed hashes and digests, never an address. */

import { refuse, type Refusal } from '../../domain/errors.ts'
import { DAY_S } from '../../domain/durations.ts'
import { RATE_RULES, REPLAY_RULES, SIGN_IN_RULES } from '../../domain/limits.ts'
import { unknownPathHit } from '../../domain/collection/rate.ts'
import type { Hit, HotState } from '../../ports/hot-state/hot-state.ts'
import type { Session } from '../sessions/sessions.ts'
import type { RouteRow } from './route.ts'

interface Who {
  readonly session: Session | null
  readonly addressHash: string
}

export function hitsOf({ rate }: RouteRow, { session, addressHash }: Who): readonly Hit[] {
  switch (rate) {
    case 'read':
      // A person who is not signed in has no session to count by.
      return [dashboardHit('dashboard_reads', session?.id ?? `address:${addressHash}`, RATE_RULES.dashboard_reads)]
    case 'write':
      return [dashboardHit('dashboard_writes', addressHash, RATE_RULES.dashboard_writes)]
    case 'sign-in':
      return [
        dashboardHit('sign_ins', addressHash, SIGN_IN_RULES.sign_ins),
        dashboardHit('dashboard_writes', addressHash, RATE_RULES.dashboard_writes),
      ]
    case 'signed':
      return []
    case 'callback':
      return [dashboardHit('sign_ins', addressHash, SIGN_IN_RULES.sign_ins)]
  }
}

/** Counts a request in these windows; refuses it if one of them is full. Rejects while the hot state is unavailable. */
export async function refuseByRate(
  hits: readonly Hit[],
  hotState: Pick<HotState, 'countHits'>,
): Promise<Refusal | null> {
  if (hits.length === 0) return null
  const outcome = await hotState.countHits(hits)
  if (outcome.kind === 'counted') return null
  // The narrowest of the full ones.
  const [rule = ''] = (hits[outcome.exceeded[0] ?? 0]?.key ?? '').split(':', 1)
  return { ...refuse('rate_limited', { retryAfter: outcome.retryAfterS }), rule }
}

/** For an address that does not exist. While the hot state is unavailable it is not counted. */
export async function refuseUnknownPath(addressHash: string, hotState: Pick<HotState, 'countHits'>): Promise<Refusal> {
  const limited = await refuseByRate([unknownPathHit(addressHash)], hotState).catch(() => null)
  return limited ?? refuse('not_found')
}

export function invitationHit(organization: string): Hit {
  return dashboardHit('invitations', organization, RATE_RULES.invitations)
}

export function billingHit(organization: string): Hit {
  return dashboardHit('billing_sessions', organization, RATE_RULES.billing_sessions)
}

export function streamTestHit(organization: string): Hit {
  return dashboardHit('log_stream_tests', organization, RATE_RULES.log_stream_tests)
}

export function logExportHit(organization: string): Hit {
  return dashboardHit('log_exports', organization, RATE_RULES.log_exports)
}

/** Of a cluster, in which the dashboard cannot list Secrets: those that nothing refers to are deleted after a day. */
export function secretHit({ organization, allowed }: { readonly organization: string; readonly allowed: number }): Hit {
  return dashboardHit('secrets', organization, { limit: allowed, windowS: DAY_S })
}

export function webhookTestHit(organization: string): Hit {
  return dashboardHit('webhook_tests', organization, REPLAY_RULES.webhook_tests)
}

export function replayHit(organization: string): Hit {
  return dashboardHit('decision_replays', organization, REPLAY_RULES.decision_replays)
}

/** The narrower one first: a person has used up theirs long before the organisation. */
export function supportHits(person: string, organization: string): readonly Hit[] {
  return [
    dashboardHit('support_per_person', person, RATE_RULES.support_per_person),
    dashboardHit('support_per_organization', organization, RATE_RULES.support_per_organization),
  ]
}

/** `known`: of a browser in which the address has signed in; null for any other. */
export function mailHit(mailHash: string, { known, addressHash }: { known: string | null; addressHash: string }): Hit {
  return known === null
    ? dashboardHit('sign_in_mails', `${mailHash}:${addressHash}`, SIGN_IN_RULES.sign_in_mails)
    : dashboardHit('sign_in_mails_known', `${mailHash}:${known}`, SIGN_IN_RULES.sign_in_mails_known)
}

export function mailInAllHit(mailHash: string): Hit {
  return dashboardHit('sign_in_mails_in_all', mailHash, SIGN_IN_RULES.sign_in_mails_in_all)
}

/** Attempts to enter the code of a mail. */
export function codeHit(link: string, tries: number): Hit {
  return { key: `sign_in_code:${link}`, limit: tries, windowS: 86_400 }
}

function dashboardHit(
  rule: string,
  subject: string,
  { limit, windowS }: { readonly limit: number; readonly windowS: number },
): Hit {
  return { key: `${rule}:${subject}`, limit, windowS }
}
