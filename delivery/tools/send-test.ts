/** Tests one destination: sends a marked test event like a delivery, and reports the provider's verdict. */

import { plainVisit } from '../../domain/collection/visit-fields.ts'
import { hasCredentials } from '../../domain/providers/credentials.ts'
import { randomBytes } from 'node:crypto'

import type { Destination } from '../../domain/catalog.ts'
import type { Job } from '../../domain/records.ts'
import { openProvider, type Exchanged, type ProviderAccess, type ProviderLine } from '../exchange/exchange.ts'
import { hide, hideInBody } from '../exchange/hide.ts'
import type { DestinationContext, Outcome, ProviderRequest } from '../providers/provider.ts'
import { requestTarget } from '../exchange/send.ts'
import { MINUTE_MS } from '../../domain/durations.ts'

interface SendTestGoal {
  readonly destination: Destination
  readonly secrets: Readonly<Record<string, string>>
  /** Sends a real event, whatever the destination's mode is; otherwise the provider's test facility is used. */
  readonly isLive: boolean
  /** Origin of the website: the page that the made-up visitor was on. */
  readonly origin: string
}

/**
 * `passed`: the provider accepts it, as far as that was checked. `refused`: something must be fixed first. `unclear`: it gave
 * no clear answer, and may give one later.
 */
export type SendTestVerdict = 'passed' | 'refused' | 'unclear'

/** Without secrets and identifiers, like everything stored about an exchange. */
export interface SendTestReport {
  readonly website: string
  readonly destination: string
  readonly provider: string
  readonly mode: string
  readonly verdict: SendTestVerdict
  /** The outcome a delivery would have had, or `credentials_missing` or `skipped`. */
  readonly outcome: string
  readonly code: string
  /** How it was tested, in words. */
  readonly facility: string
  /** What to do now, in words. */
  readonly nextStep: string
  /** Names the event at the provider; begins with `whence-test-`. */
  readonly eventId: string
  /** Empty if nothing was sent. */
  readonly requestUrl: string
  readonly requestBody: string
  /** 0 if no answer came. */
  readonly responseStatus: number
  readonly responseBody: string
  readonly durationMs: number
}

/** Never rejects. Nothing is written to the log, and it causes no delivery. */
export async function sendTest(
  access: ProviderAccess,
  goal: SendTestGoal,
  nowMs: () => number,
): Promise<SendTestReport> {
  const { provider } = access
  const { destination, secrets, isLive } = goal
  const job = testJob(access, goal, nowMs())
  const report = { ...NOTHING_SENT, ...shownDestination(destination), eventId: job.jobId }
  if (!hasCredentials(provider.id, secrets)) {
    return {
      ...report,
      outcome: 'credentials_missing',
      nextStep: 'Complete the Secret that the destination refers to.',
    }
  }
  const { settings, reconstructionWindowHours } = destination
  const context = { settings, secrets, isValidateOnly: !isLive, reconstructionWindowHours }
  const request = provider.request(job, context, nowMs())
  if ('kind' in request) {
    const nextStep = "This is a fault of the service: its own test event does not suit the destination's settings."
    return { ...report, outcome: 'skipped', code: request.reason, nextStep }
  }
  return { ...report, ...(await tried(openProvider(access, nowMs), { goal, context, request })) }
}

const NOTHING_SENT = {
  verdict: 'refused',
  code: '',
  facility: 'nothing was sent',
  requestUrl: '',
  requestBody: '',
  responseStatus: 0,
  responseBody: '',
  durationMs: 0,
} as const satisfies Partial<SendTestReport>

interface SendTestContext {
  readonly goal: SendTestGoal
  readonly context: DestinationContext
  readonly request: ProviderRequest
}

type Tried = Omit<SendTestReport, 'website' | 'destination' | 'provider' | 'mode' | 'eventId'>

async function tried(line: ProviderLine, { goal, context, request: built }: SendTestContext): Promise<Tried> {
  const startedAtMs = performance.now()
  try {
    const judge = (reply: Exchanged<Outcome>['reply']): Outcome => line.provider.outcome(reply, context)
    const done = await line.exchange(built, goal.secrets, judge)
    return { ...told(done, goal, line.baseUrl), durationMs: Math.round(performance.now() - startedAtMs) }
  } finally {
    line.close()
  }
}

function told(
  { request, reply, outcome }: Exchanged<Outcome>,
  goal: SendTestGoal,
  baseUrl: string,
): Omit<Tried, 'durationMs'> {
  const isSent = request.checkedHere === undefined
  const hidden = request.secrets
  return {
    verdict: VERDICTS[outcome.kind],
    outcome: outcome.kind,
    code: hide(outcome.code, hidden),
    facility: facilityOf(request, goal),
    nextStep: nextStepOf(outcome, request, goal),
    requestUrl: isSent ? hide(new URL(requestTarget(request), baseUrl).href, hidden) : '',
    requestBody: hideInBody(request.body, hidden, { isCut: false }),
    responseStatus: reply.status,
    responseBody: hideInBody(reply.body, hidden, { isCut: reply.failure !== '' }),
  }
}

const VERDICTS: { readonly [K in Outcome['kind']]: SendTestVerdict } = {
  delivered: 'passed',
  accepted: 'passed',
  retry: 'unclear',
  throttled: 'unclear',
  credentials: 'refused',
  refused: 'refused',
}

function facilityOf(request: ProviderRequest, { isLive }: SendTestGoal): string {
  if (isLive) return 'sent as a real event, so that it counts'
  if (request.checkedHere !== undefined) return 'only checked here, nothing was sent: the provider has no test facility'
  return request.validation ?? "sent to the provider's validation, nothing is reported"
}

function nextStepOf(outcome: Outcome, request: ProviderRequest, goal: SendTestGoal): string {
  const { mode } = goal.destination
  switch (outcome.kind) {
    case 'delivered':
      if (request.checkedHere !== undefined)
        return 'This does not test the credentials. --live sends a real event; it then counts.'
      return mode === 'Live' ? 'Nothing is left to do.' : 'Set the mode to Live when deliveries are to count.'
    case 'accepted':
      return 'The provider accepted it and judges it later; its own reports show the verdict.'
    case 'credentials':
      return 'Correct the credentials or their permissions: the provider refuses them.'
    case 'refused':
      return "Correct the settings that the provider's answer names, then try again."
    case 'throttled':
      return `Try again ${outcome.retryAfter === null ? 'later' : `after ${outcome.retryAfter}`}: the provider accepts no more requests right now.`
    case 'retry':
      return 'No clear answer came: check whether the address can be reached from here, and try again.'
  }
}

function shownDestination({ website, id, provider, mode }: Destination) {
  return { website, destination: id, provider, mode }
}

/** Old enough for Google to know it if it were real. */
const CLICK_AGE_MS = 7 * 60 * MINUTE_MS

/** An install of this moment after a visit a few hours ago, with identifiers that belong to no person. */
function testJob({ provider }: ProviderAccess, { destination, origin }: SendTestGoal, atMs: number): Job {
  const visitAtMs = atMs - CLICK_AGE_MS
  const jobId = `whence-test-${randomBytes(10).toString('hex')}`
  const { website, organization } = destination
  return {
    v: 1,
    jobId,
    website,
    organization,
    destination: destination.id,
    provider: provider.id,
    install: {
      eventId: jobId,
      eventType: 'install_completed',
      receivedAtMs: atMs,
      installPath: null,
      platform: '',
      arch: '',
      gpc: false,
      selectionPolicy: 'latest_visit',
      kind: 'install',
    },
    visit: plainVisit({
      website,
      visitId: '0'.repeat(32),
      organization,
      issuedAtMs: visitAtMs,
      origin,
      pageUrl: `${origin}/`,
      landedAtMs: visitAtMs,
      identities: provider.testIdentities(destination.settings, visitAtMs),
    }),
    sessionMode: 'original_session_window',
    createdAtMs: atMs,
    deadlineAtMs: atMs + 60 * MINUTE_MS,
    attempts: 0,
    dueAtMs: atMs,
    unclearSinceMs: null,
    catalogNumber: 0,
    retentionDays: 30,
    logRetentionDays: 7,
  }
}
