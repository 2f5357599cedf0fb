/**
 * Makes up what became of deliveries. They are records of the past alone: no job was made of them, nobody works on them, and there is no dead letter, so
 * that nothing made up reaches a provider, not even by a replay. Hence each has ended.
 */

import { sha256Hex } from '../../common/digest.ts'
import { jobIdOf } from '../../domain/delivery/deliveries.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA } from '../../domain/figures/example-data.ts'
import { decidingEvent } from '../../domain/figures/visit-of-install.ts'
import { LIMITS } from '../../domain/limits.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import type { DeliveryReason, SkipReason } from '../../domain/reasons.ts'
import type { Attempt, DeliveryRecord } from '../../domain/records.ts'
import { wholeBetween, MADE_UP, pickWeighted, type Pen, type Weighted } from './day.ts'
import type { MadeUpEvent } from './installs.ts'

interface MadeUpDestination {
  readonly id: string
  readonly provider: 'ga4' | 'google_ads'
}

/** The one of `examples/quickstart`, and one that it does not have. */
const ANALYTICS: MadeUpDestination = { id: 'acme-ga4', provider: 'ga4' }
const ADS: MadeUpDestination = { id: 'made-up-google-ads', provider: 'google_ads' }

/** How long after a visit its session can be continued. */
const SESSION_MS = 72 * HOUR_MS
const PAUSED_EVERY_DAYS = 60
const PAUSED_DAYS = 2

/** A pause of the destination ends on this day. */
export function isResumedOn(dayMs: number): boolean {
  return (dayMs / DAY_MS) % PAUSED_EVERY_DAYS === PAUSED_DAYS
}

function isPausedAt(atMs: number): boolean {
  return Math.floor(atMs / DAY_MS) % PAUSED_EVERY_DAYS < PAUSED_DAYS
}

/** Of all events of one installation. */
export function madeUpDeliveries(pen: Pen, events: readonly MadeUpEvent[]): readonly DeliveryRecord[] {
  const told = toldAsInstall(events)
  return events.flatMap((event) => [
    ...deliveriesTo(pen, event, { destination: ANALYTICS, skipped: skipOfAnalytics(event) }),
    ...deliveriesTo(pen, event, { destination: ADS, skipped: skipOfAds(event, event === told) }),
  ])
}

/** The one event that an advertising provider gets: the install, or the first later one that had the visit that it lacked. */
function toldAsInstall(events: readonly MadeUpEvent[]): MadeUpEvent | undefined {
  const judged = events.map(({ record, kind, visit }) => ({ ...record.install, kind, visitId: visit?.visitId ?? '' }))
  const install = judged.find(({ kind }) => kind === 'install')
  return install === undefined ? undefined : events[judged.indexOf(decidingEvent(install, judged))]
}

/** In the order in which the service decides. */
function skipOfAnalytics({ record: { install }, visit }: MadeUpEvent): SkipReason | null {
  if (install.isTest) return 'test'
  if (isPausedAt(install.receivedAtMs)) return 'destination_paused'
  if (visit === null) return install.resolution === 'counted' ? 'counted' : 'unmatched'
  return visit.identities.ga4 === undefined ? 'no_client_id' : null
}

function skipOfAds({ record: { install }, visit }: MadeUpEvent, isTold: boolean): SkipReason | null {
  if (install.isTest) return 'test'
  if (install.eventType === 'install_started') return 'event_type_not_selected'
  if (install.isCi || install.isContainer) return 'ci'
  if (visit === null) return install.resolution === 'counted' ? 'counted' : 'unmatched'
  if (!isTold) return 'not_an_install'
  if (visit.gpc) return 'gpc'
  return visit.identities.google_ads === undefined ? 'no_identifier' : null
}

interface Made {
  readonly destination: MadeUpDestination
  readonly skipped: SkipReason | null
}

type Ending = 'delivered' | 'retried' | 'failed' | 'expired'

/** Google Analytics accepts anything, so that it refuses nothing. */
const ENDINGS: Readonly<Record<MadeUpDestination['provider'], Weighted<Ending>>> = {
  ga4: [
    [90, 'delivered'],
    [7, 'retried'],
    [3, 'expired'],
  ],
  google_ads: [
    [76, 'delivered'],
    [8, 'retried'],
    [16, 'failed'],
  ],
}

function deliveriesTo(pen: Pen, event: MadeUpEvent, { destination, skipped }: Made): readonly DeliveryRecord[] {
  if (skipped !== null) {
    const { receivedAtMs } = event.record.install
    return [
      madeUpDelivery(event, destination, { status: 'skipped', reason: skipped, atMs: receivedAtMs, attempt: null }),
    ]
  }
  const ending = pickWeighted(ENDINGS[destination.provider], pen.random)
  const deadlineMs = event.record.install.receivedAtMs + PROVIDER_DESCRIPTORS[destination.provider].maxAgeMs
  // Its time would not be over before the made-up traffic ends.
  const isTooYoung = ending === 'expired' && deadlineMs >= pen.day.untilMs
  return endedAs(pen, event, { destination, ending: isTooYoung ? 'retried' : ending, deadlineMs })
}

interface Ended {
  readonly destination: MadeUpDestination
  readonly ending: Ending
  readonly deadlineMs: number
}

const AWAY = { status: 503, body: 'Service Unavailable (made up)' }
const REFUSED = {
  status: 400,
  body: '{"error":{"code":400,"message":"The conversion action is not enabled (made up).","status":"INVALID_ARGUMENT"}}',
}

function endedAs(pen: Pen, event: MadeUpEvent, { destination, ending, deadlineMs }: Ended): readonly DeliveryRecord[] {
  const firstMs = event.record.install.receivedAtMs + wholeBetween(1, 4, pen.random) * SECOND_MS
  const tried = (number: number, startedAtMs: number, outcome: Attempt['outcome']): Attempt =>
    madeUpAttempt({ event, destination, number, startedAtMs, outcome })
  const delivered = (number: number, atMs: number): DeliveryRecord =>
    madeUpDelivery(event, destination, {
      status: 'delivered',
      reason: '',
      atMs,
      attempt: tried(number, atMs, 'delivered'),
    })
  const retrying = madeUpDelivery(event, destination, {
    status: 'retrying',
    reason: 'attempt_failed',
    atMs: firstMs,
    attempt: tried(1, firstMs, 'retry'),
  })
  switch (ending) {
    case 'delivered':
      return [delivered(1, firstMs)]
    case 'retried':
      return [retrying, delivered(2, firstMs + 30 * SECOND_MS)]
    case 'expired':
      return [
        retrying,
        madeUpDelivery(event, destination, {
          status: 'expired',
          reason: 'deadline_passed',
          atMs: deadlineMs,
          attempt: tried(2, deadlineMs - HOUR_MS, 'retry'),
        }),
      ]
    case 'failed':
      return [
        madeUpDelivery(event, destination, {
          status: 'failed',
          reason: 'refused',
          atMs: firstMs,
          attempt: tried(1, firstMs, 'refused'),
        }),
      ]
  }
}

interface ToldDelivery {
  readonly status: DeliveryRecord['status']
  readonly reason: DeliveryReason | ''
  readonly atMs: number
  readonly attempt: Attempt | null
}

function madeUpDelivery(
  { record: { install }, visit }: MadeUpEvent,
  { id: destination, provider }: MadeUpDestination,
  { status, reason, atMs, attempt }: ToldDelivery,
): DeliveryRecord {
  const { website, organization, eventId, receivedAtMs } = install
  const isSkipped = status === 'skipped'
  const isInSession = receivedAtMs - (visit?.issuedAtMs ?? 0) <= SESSION_MS
  return {
    ...MADE_UP,
    kind: 'delivery',
    jobId: jobIdOf({ organization, website, eventId, destination }, sha256Hex),
    website,
    organization,
    eventId,
    destination,
    provider,
    status,
    reason,
    sessionMode: isSkipped ? 'none' : isInSession ? 'original_session_window' : 'client_only',
    detail: isSkipped ? '' : 'made up',
    attempts: attempt?.number ?? 0,
    atMs,
    nextAttemptAtMs: status === 'retrying' ? atMs + 30 * SECOND_MS : null,
    deadlineAtMs: isSkipped ? null : receivedAtMs + PROVIDER_DESCRIPTORS[provider].maxAgeMs,
    attempt,
    installReceivedAtMs: receivedAtMs,
    catalogNumber: 0,
    logRetentionDays: LIMITS.logRetentionDays.fallback,
  }
}

interface TriedDelivery {
  readonly event: MadeUpEvent
  readonly destination: MadeUpDestination
  readonly number: number
  readonly startedAtMs: number
  readonly outcome: Attempt['outcome']
}

const ANSWERS = { delivered: { status: 204, body: '' }, retry: AWAY, refused: REFUSED } as const
const CODES = { delivered: 'accepted', retry: 'http_503', refused: 'INVALID_ARGUMENT' } as const
const NEXT_STEPS = { delivered: 'done', retry: 'again at a later time', refused: 'failed: refused' } as const

/** Its address is that of the made-up website, so that nobody takes it for a request to a provider. */
function madeUpAttempt({ event, destination, number, startedAtMs, outcome }: TriedDelivery): Attempt {
  const { eventId } = event.record.install
  const known = outcome === 'delivered' || outcome === 'refused' ? outcome : 'retry'
  return {
    attemptId: sha256Hex(`${eventId} ${destination.id} ${number}`).slice(0, 32),
    number,
    startedAtMs,
    durationMs: 120,
    requestUrl: `${EXAMPLE_DATA.origin}/${destination.provider}`,
    requestBody: JSON.stringify({ install_id: eventId, note: 'made up' }),
    responseStatus: ANSWERS[known].status,
    responseBody: ANSWERS[known].body,
    outcome: known,
    code: CODES[known],
    nextStep: NEXT_STEPS[known],
  }
}
