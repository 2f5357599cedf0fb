/** Decides what becomes of an install at each destination of its website, and makes its delivery jobs. */

import type { Sha256Hex } from '../origin.ts'
import type { Destination } from '../catalog.ts'
import { LIMITS } from '../limits.ts'
import type { Visit } from '../collection/visit-fields.ts'
import type { DeliveryPlan, EventType, Install, OwnedWebsite, Resolution, SessionMode } from '../model.ts'
import { PROVIDER_DESCRIPTORS, type ProviderId } from '../providers/index.ts'
import type { Job } from '../records.ts'
import type { SkipReason } from '../reasons.ts'
import { HOUR_MS } from '../durations.ts'

export interface PlanInput {
  /** Of the website, in the catalog's order. */
  readonly destinations: readonly Destination[]
  readonly eventType: EventType
  readonly resolution: Resolution
  /** Null if no visit was matched. */
  readonly visitIssuedAtMs: number | null
  readonly receivedAtMs: number
  readonly isCi: boolean
  readonly isContainer: boolean
  readonly nowMs: number
  readonly isTest: boolean
}

/** One plan per destination, in their order: what the answer reports, as far as the request knows. */
export function planDeliveries(input: PlanInput): DeliveryPlan[] {
  return input.destinations.map((destination) => {
    const reason = plannedSkip(destination, input)
    return {
      destination: destination.id,
      provider: destination.provider,
      status: reason === null ? 'pending' : 'skipped',
      sessionMode: reason === null && input.resolution === 'matched' ? sessionModeFor(destination, input) : 'none',
      reason: reason ?? '',
    }
  })
}

/**
 * The plans of a pending install that is now decided. What was skipped when it was reported stays skipped. Whether a
 * destination was paused or removed since is checked when the delivery is made.
 */
export function planDecided(plans: readonly DeliveryPlan[], input: PlanInput): DeliveryPlan[] {
  return plans.map((plan) => {
    if (plan.status === 'skipped') return plan
    if (input.resolution === 'unmatched')
      return { ...plan, status: 'skipped', sessionMode: 'none', reason: 'unmatched' }
    const destination = input.destinations.find(({ id }) => id === plan.destination)
    return { ...plan, sessionMode: destination === undefined ? 'client_only' : sessionModeFor(destination, input) }
  })
}

/** Why nothing of this visit may or can be sent, or null. */
export function visitSkip(
  install: { readonly gpc: boolean },
  visit: Visit,
  destination: Destination,
): SkipReason | null {
  const { provider } = destination
  if (visit.isTest) return 'test'
  if (PROVIDER_DESCRIPTORS[provider].isAdvertising && (install.gpc || visit.gpc)) return 'gpc'
  if (provider !== 'ga4') return visit.identities[provider] === undefined ? 'no_identifier' : null
  const measurementId = destination.settings['measurementId']
  const identity = typeof measurementId === 'string' ? visit.identities.ga4?.[measurementId] : undefined
  return isGa4ClientId(identity?.client_id) ? null : 'no_client_id'
}

/**
 * Two positive integers joined by a dot, as Google's tag makes them for the `_ga` cookie, or an ID that the website has
 * given its tag: a UUID, an AMP ID or any other text without spaces that is long enough to be unique. A whole cookie is
 * no ID. (Measurement Protocol reference, `client_id`: it "uniquely identifies a user instance of a web client".)
 */
export function isGa4ClientId(value: string | undefined): value is string {
  if (value === undefined) return false
  const isMadeByGoogle = /^[1-9][0-9]{0,19}\.[1-9][0-9]{0,19}$/.test(value)
  return isMadeByGoogle || /^(?!GA\d\.)[\w.:+/=~-]{16,256}$/.test(value)
}

/** 32 hex digits that are the same for every attempt, repeat and replay of one delivery: its key at the provider. */
export function jobIdOf(
  delivery: OwnedWebsite & { readonly eventId: string; readonly destination: string },
  sha256Hex: Sha256Hex,
): string {
  const { organization, website, eventId, destination } = delivery
  // None of the four can contain a NUL, so no two deliveries share the joined text.
  const text = [organization, website, eventId, destination].join('\u0000')
  return sha256Hex(text).slice(0, 32)
}

interface JobInput {
  readonly install: Install
  readonly visit: Visit
  readonly plan: DeliveryPlan
  /** What the install is among the events of its installation. */
  readonly kind: string
  /** Of the catalog in which its destination was found. */
  readonly catalogNumber: number
  readonly retentionDays: number
  readonly logRetentionDays: number
}

/**
 * The job of one pending delivery. Made twice with one catalog it has the same ID and the same times; its `kind` depends on what is known of
 * the installation by then.
 */
export function jobFor(input: JobInput, sha256Hex: Sha256Hex): Job {
  const { install, plan, visit, kind } = input
  const { organization, website } = install
  const { eventId, eventType, receivedAtMs, installPath, platform, arch, gpc, selectionPolicy } = install
  return {
    v: 1,
    jobId: jobIdOf({ organization, website, eventId, destination: plan.destination }, sha256Hex),
    website,
    organization,
    destination: plan.destination,
    provider: plan.provider,
    install: { eventId, eventType, receivedAtMs, installPath, platform, arch, gpc, selectionPolicy, kind },
    visit: { ...visit, identities: identitiesFor(visit, plan.provider) },
    sessionMode: plan.sessionMode,
    createdAtMs: receivedAtMs,
    deadlineAtMs: receivedAtMs + PROVIDER_DESCRIPTORS[plan.provider].maxAgeMs,
    attempts: 0,
    dueAtMs: receivedAtMs,
    unclearSinceMs: null,
    catalogNumber: input.catalogNumber,
    retentionDays: input.retentionDays,
    logRetentionDays: input.logRetentionDays,
  }
}

/** First match wins, in the order in which the decisions list the reasons. */
function plannedSkip(destination: Destination, input: PlanInput): SkipReason | null {
  if (input.isTest) return 'test'
  if (destination.mode === 'Paused') return 'destination_paused'
  if (!destination.eventTypes.includes(input.eventType)) return 'event_type_not_selected'
  if ((input.isCi || input.isContainer) && destination.ci === 'Exclude') return 'ci'
  if (input.resolution === 'unmatched' || input.resolution === 'counted') return input.resolution
  const ageMs = input.nowMs - input.receivedAtMs
  return ageMs >= PROVIDER_DESCRIPTORS[destination.provider].maxAgeMs ? 'too_old' : null
}

function sessionModeFor(destination: Destination, input: PlanInput): SessionMode {
  const windowMs = destination.reconstructionWindowHours * HOUR_MS
  const sinceVisitMs = input.receivedAtMs - (input.visitIssuedAtMs ?? input.receivedAtMs - LIMITS.receiptLifetimeMs)
  return sinceVisitMs <= windowMs ? 'original_session_window' : 'client_only'
}

/** A job for one provider carries no identifier of another: only that provider's worker reads its topic. */
function identitiesFor(visit: Visit, provider: ProviderId): Visit['identities'] {
  const identity = visit.identities[provider]
  return identity === undefined ? {} : { [provider]: identity }
}
