/**
 * Decides, with the visit at hand, what becomes of each planned delivery of an install: a job, or the reason why not.
 */

import { findDestination, getsInstallsAlone, type Catalog } from '../../domain/catalog.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import { jobFor, jobIdOf, visitSkip } from '../../domain/delivery/deliveries.ts'
import { DELIVERY_REASONS, type DeliveryReason } from '../../domain/reasons.ts'
import type { Visit } from '../../domain/collection/visit-fields.ts'
import type { DeliveryPlan, Install } from '../../domain/model.ts'
import type { DeliveryRecord, InstallRecord, Job } from '../../domain/records.ts'
import type { VisitRef } from './reads.ts'
import { sha256Hex } from '../../common/digest.ts'

export interface Dispatched {
  readonly records: readonly DeliveryRecord[]
  readonly jobs: readonly Job[]
}

export interface DispatchInput {
  readonly record: InstallRecord
  /** Null if none is needed, or if it never arrived. */
  readonly visit: Visit | null
  readonly catalog: Catalog
  /** Whether this catalog is older than the one that planned the install: what is missing in it may be there. */
  readonly isBehind: boolean
  readonly nowMs: number
  /** What the install is among the events of its installation. */
  readonly kind: string
  /** Destinations that are not told of this event as the install. */
  readonly withoutInstall: ReadonlySet<string>
  /** Providers whose topic cannot be made: what waited for it until its deadline has expired. */
  readonly withoutTopic: ReadonlySet<ProviderId>
  /** Deliveries that a later record of the same event caused, if it was dispatched before this one. */
  readonly superseded: Superseded | null
}

/** Deliveries that were skipped because of a record that was not the event's first. */
export interface Superseded {
  readonly receivedAtMs: number
  readonly skipped: ReadonlySet<string>
}

/** Skips that follow from what the catalog has, or has not. */
const BY_CATALOG: ReadonlySet<string> = new Set<DeliveryReason>(['destination_removed', 'no_client_id'])

/**
 * Whether the install has to wait for a newer catalog: this one is older than the one that planned it, and a delivery would be skipped because
 * of what it has. No delivery waits beyond its own deadline.
 */
export function awaitsCatalog(input: DispatchInput): boolean {
  const { receivedAtMs, deliveries } = input.record.install
  if (!input.isBehind) return false
  return deliveries.some((plan) => {
    if (plan.status !== 'pending' || !BY_CATALOG.has(skipNow(input, plan))) return false
    return PROVIDER_IDS.includes(plan.provider) && input.nowMs < plannedDeadlineMs(plan, receivedAtMs)
  })
}

/** Independent of the time, except that an expired wait for the visit, a newer catalog or a topic records when it ended. */
export function deliveriesOf(input: DispatchInput): Dispatched {
  const { install } = input.record
  const decided = install.deliveries.map((plan) => {
    const reason = plan.status === 'skipped' ? plan.reason : endNow(input, plan)
    return { plan, reason }
  })
  return {
    records: decided.map(({ plan, reason }) => plannedRecord(input, plan, reason)),
    jobs: decided.flatMap(({ plan, reason }) => {
      if (reason !== '' || input.visit === null) return []
      const { retentionDays, request } = input.record
      const { logRetentionDays } = request
      const { number: catalogNumber } = input.catalog
      const made = {
        install,
        visit: input.visit,
        plan,
        kind: kindAt(input, plan),
        catalogNumber,
        retentionDays,
        logRetentionDays,
      }
      const job = jobFor(made, sha256Hex)
      return [{ ...job, ...correction(input, plan) }]
    }),
  }
}

/** The visit that at least one pending delivery needs, or null. */
export function visitNeededBy(install: Install): VisitRef | null {
  const isNeeded = install.deliveries.some((plan) => plan.status === 'pending')
  return isNeeded && install.visitId !== null
    ? { organization: install.organization, website: install.website, visitId: install.visitId }
    : null
}

/** What waits for its topic does so until its deadline. Of what has waited for a newer catalog in vain nobody knows that it was removed: its time is over. */
function endNow(input: DispatchInput, plan: DeliveryPlan): DeliveryReason | '' {
  const reason = skipNow(input, plan)
  if (reason === '' && input.withoutTopic.has(plan.provider)) {
    return input.nowMs >= plannedDeadlineMs(plan, input.record.install.receivedAtMs) ? 'deadline_passed' : ''
  }
  return input.isBehind && BY_CATALOG.has(reason) ? 'deadline_passed' : reason
}

function plannedDeadlineMs({ provider }: DeliveryPlan, receivedAtMs: number): number {
  return receivedAtMs + PROVIDER_DESCRIPTORS[provider].maxAgeMs
}

/** If another event is told as the install, this one adds nothing that could count as one. */
function kindAt({ kind, withoutInstall }: DispatchInput, { destination }: DeliveryPlan): string {
  return kind === 'install' && withoutInstall.has(destination) ? 'none' : kind
}

function skipNow({ record, visit, catalog, withoutInstall }: DispatchInput, plan: DeliveryPlan): DeliveryReason | '' {
  const destination = findDestination(catalog, {
    ...plan,
    website: record.install.website,
    organization: record.install.organization,
  })
  if (destination === null) return 'destination_removed'
  if (!PROVIDER_IDS.includes(plan.provider)) return 'provider_unknown'
  if (withoutInstall.has(plan.destination) && getsInstallsAlone(destination)) return 'not_an_install'
  if (visit === null) return 'visit_missing'
  return visitSkip(record.install, visit, destination) ?? ''
}

/**
 * The first record of a delivery carries the time of the install, not of its writing: if it is written again after a crash, it
 * is the same and never covers later states.
 */
function plannedRecord(input: DispatchInput, plan: DeliveryPlan, reason: DeliveryReason | ''): DeliveryRecord {
  const { install, request, retentionDays } = input.record
  const isOver = reason !== ''
  const { website, organization, eventId, receivedAtMs } = install
  return {
    v: 1,
    kind: 'delivery',
    jobId: jobIdOf({ organization, website, eventId, destination: plan.destination }, sha256Hex),
    website,
    organization,
    eventId,
    destination: plan.destination,
    provider: plan.provider,
    status: isOver ? DELIVERY_REASONS[reason].status : 'pending',
    reason,
    sessionMode: isOver ? 'none' : plan.sessionMode,
    detail: '',
    attempts: 0,
    atMs: toldAtMs(input, plan, reason),
    nextAttemptAtMs: isOver ? null : receivedAtMs,
    deadlineAtMs: isOver ? null : plannedDeadlineMs(plan, receivedAtMs),
    attempt: null,
    installReceivedAtMs: receivedAtMs,
    ...correction(input, plan),
    catalogNumber: input.catalog.number,
    retentionDays,
    logRetentionDays: request.logRetentionDays,
  }
}

function correction({ superseded }: DispatchInput, plan: DeliveryPlan): { readonly corrects?: true } {
  return superseded?.skipped.has(plan.destination) === true ? { corrects: true } : {}
}

function toldAtMs(input: DispatchInput, plan: DeliveryPlan, reason: DeliveryReason | ''): number {
  const { receivedAtMs } = input.record.install
  const { superseded } = input
  if (superseded?.skipped.has(plan.destination) === true) return Math.max(input.nowMs, superseded.receivedAtMs + 1)
  return reason === 'visit_missing' || reason === 'deadline_passed' ? Math.max(input.nowMs, receivedAtMs) : receivedAtMs
}
