/** The windows that a request of the dashboard is counted in. Keys contain keyed hashes and digests, never an address. */

import { AsyncLocalStorage } from 'node:async_hooks'

import { ERRORS, refuse, type Refusal } from '../../domain/errors.ts'
import { DAY_S } from '../../domain/durations.ts'
import { RATE_RULES, REPLAY_RULES, SIGN_IN_RULES } from '../../domain/limits.ts'
import { unknownPathHit } from '../../domain/collection/rate.ts'
import type { Hit, HitCounter, HitVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Session } from '../sessions/sessions.ts'
import type { HandlerOutcome } from './call.ts'
import type { RouteAccess } from '../api/route.ts'

interface Who {
  readonly session: Session | null
  /** Hash of the key or the token that is shown; null if none is that is in force. */
  readonly passHash: string | null
  readonly addressHash: string
}

export function hitsOf({ rate }: RouteAccess, { session, passHash, addressHash }: Who): readonly Hit[] {
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
    case 'key':
      return passHash === null ? [triesHit(addressHash)] : [dashboardHit('key_reads', passHash, RATE_RULES.key_reads)]
    case 'link':
      return passHash === null
        ? [triesHit(addressHash)]
        : [dashboardHit('share_reads', `${passHash}:${addressHash}`, RATE_RULES.share_reads)]
    case 'signed':
      return []
    case 'callback':
      return [dashboardHit('sign_ins', addressHash, SIGN_IN_RULES.sign_ins)]
  }
}

/** Who tries keys or tokens out uses up what an address may read. */
function triesHit(addressHash: string): Hit {
  return dashboardHit('dashboard_reads', `address:${addressHash}`, RATE_RULES.dashboard_reads)
}

/**
 * Counts in these windows what a request asks for; refuses it if one of them is full. If the request is refused after that, it is given back.
 * Rejects while the hot state is unavailable.
 */
export function refuseByRate(hits: readonly Hit[], hotState: HitCounter): Promise<Refusal | null> {
  return countIn(hits, hotState, false)
}

/** The same for that a request came at all, which is given back only if the service cannot answer it. */
export function refuseRequest(hits: readonly Hit[], hotState: HitCounter): Promise<Refusal | null> {
  return countIn(hits, hotState, true)
}

async function countIn(hits: readonly Hit[], hotState: HitCounter, isOfRequest: boolean): Promise<Refusal | null> {
  if (hits.length === 0) return null
  const outcome = await hotState.countHits(hits)
  if (outcome.kind === 'counted') {
    rememberCounted(hits, isOfRequest)
    return null
  }
  // The narrowest of the full ones.
  const [rule = ''] = (hits[outcome.exceeded[0] ?? 0]?.key ?? '').split(':', 1)
  return { ...refuse('rate_limited', { retryAfter: outcome.retryAfterS }), rule }
}

/** For an address that does not exist. While the hot state is unavailable it is not counted. */
export async function refuseUnknownPath(addressHash: string, hotState: HitCounter): Promise<Refusal> {
  const limited = await refuseRequest([unknownPathHit(addressHash)], hotState).catch(() => null)
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

export function destinationTrialHit(organization: string): Hit {
  return dashboardHit('destination_trials', organization, REPLAY_RULES.destination_trials)
}

export function pageCheckHit(organization: string): Hit {
  return dashboardHit('page_checks', organization, REPLAY_RULES.page_checks)
}

export function replayHit(organization: string): Hit {
  return dashboardHit('decision_replays', organization, REPLAY_RULES.decision_replays)
}

export function spendHit(organization: string): Hit {
  return dashboardHit('spend_imports', organization, REPLAY_RULES.spend_imports)
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

interface CountedInRequest {
  readonly hits: readonly Hit[]
  readonly atMs: number
  /** For that a request came; the others are for what it asked for. */
  readonly isOfRequest: boolean
}

interface Counting {
  readonly nowMs: () => number
  readonly counted: CountedInRequest[]
}

const requests = new AsyncLocalStorage<Counting>()

/** Every handler counts by way of `refuseByRate`, so none has to think of this. The request in which it is called was counted in these windows; outside of one nothing is remembered. */
function rememberCounted(hits: readonly Hit[], isOfRequest: boolean): void {
  const counting = requests.getStore()
  counting?.counted.push({ hits, atMs: counting.nowMs(), isOfRequest })
}

/** Resolves with the outcome of the work, when what it need not cost was given back. Never rejects for that. */
export async function givingBack<Outcome extends HandlerOutcome | null>(
  hotState: HitVerbs,
  nowMs: () => number,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const counted: CountedInRequest[] = []
  const outcome = await requests.run({ nowMs, counted }, work)
  const isFree = outcome?.kind === 'refused' ? freeFor(outcome) : () => false
  for (const each of counted.filter(isFree)) {
    // Nothing can be given back while the store is away, and its windows end by themselves.
    await hotState.returnHits(each.hits, Math.max(0, nowMs() - each.atMs)).catch(() => undefined)
  }
  return outcome
}

/** An outage of ours costs nothing. Any other refusal costs the request, and not what it asked for. */
function freeFor({ code }: Refusal): (each: CountedInRequest) => boolean {
  return ({ isOfRequest }) => ERRORS[code].status === 503 || (code !== 'rate_limited' && !isOfRequest)
}
