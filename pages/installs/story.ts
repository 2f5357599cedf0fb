/** What happened around one install: the visits that were considered, the deliveries, and every moment in order. */

import { areVerdicts, areDeliveryPlans } from '../../domain/collection/stored-install.ts'
import { parsedAs } from '../../domain/guards.ts'
import { expiresAtMs } from '../../domain/receipt.ts'
import type { AttemptFacts, DeliveryFacts, InstallDetail, VisitFacts } from '../data/installs.ts'

/** When each happened; null if it never did, or is not known. */
export interface VisitTimes {
  readonly issuedAtMs: number | null
  readonly activatedAtMs: number | null
  readonly copiedAtMs: number | null
  readonly revokedAtMs: number | null
  /** When its receipt stopped counting: it was replaced, it expired, or the install was received. */
  readonly endsAtMs: number | null
}

export interface VisitLane {
  readonly key: string
  readonly verdict: string
  readonly isChosen: boolean
  /** Null if it is unreadable. */
  readonly visitId: string | null
  readonly times: VisitTimes
  /** Null if it is no longer kept, or never existed. */
  readonly visit: VisitFacts | null
}

export interface DeliveryLane {
  readonly destination: string
  readonly provider: string
  readonly status: string
  readonly reason: string
  /** Null if it was skipped at once. */
  readonly delivery: DeliveryFacts | null
  readonly attempts: readonly AttemptFacts[]
}

export interface Story {
  readonly installedAtMs: number
  /** Oldest first; those without a time come last. */
  readonly visits: readonly VisitLane[]
  readonly deliveries: readonly DeliveryLane[]
}

export function storyOf(detail: InstallDetail): Story {
  return { installedAtMs: detail.install.received_at_ms, visits: visitLanes(detail), deliveries: deliveryLanes(detail) }
}

function visitLanes(detail: InstallDetail): readonly VisitLane[] {
  const { visit_id: chosen, visit_issued_at_ms: issuedAtMs, verdicts } = detail.install
  const told = parsedAs(areVerdicts, verdicts) ?? []
  const isTold = told.some(({ visitId }) => visitId === chosen)
  // A later event of an installation follows the visit of an earlier one, and brings nothing along.
  const followed = chosen === '' || isTold ? [] : [{ visitId: chosen, issuedAtMs, verdict: 'followed' }]
  return [...told, ...followed]
    .map((each, place) => visitLane(detail, each, place))
    .sort((a, b) => (a.times.issuedAtMs ?? Infinity) - (b.times.issuedAtMs ?? Infinity))
}

interface StoryEvent {
  readonly visitId: string | null
  readonly issuedAtMs: number | null
  readonly verdict: string
}

function visitLane(detail: InstallDetail, { visitId, issuedAtMs, verdict }: StoryEvent, place: number): VisitLane {
  const { install, visits, receipts, handoffs } = detail
  const receipt = receipts.find(({ visit_id: id }) => id === visitId)
  const copies = handoffs.filter((each) => each.is_copied && each.visit_id === visitId).map(({ asked_at_ms: at }) => at)
  const revokedAtMs = receipt?.revoked_at_ms ?? null
  const ends = [install.received_at_ms, ...(revokedAtMs === null ? [] : [revokedAtMs])]
  return {
    key: `${place}`,
    verdict,
    visitId,
    isChosen: visitId !== null && visitId === install.visit_id,
    times: {
      issuedAtMs,
      activatedAtMs: receipt?.activated_at_ms ?? null,
      copiedAtMs: copies.length === 0 ? null : Math.min(...copies),
      revokedAtMs,
      endsAtMs: issuedAtMs === null ? null : Math.min(...ends, expiresAtMs(issuedAtMs)),
    },
    visit: visits.find(({ visit_id: id }) => id === visitId) ?? null,
  }
}

function deliveryLanes({ install, deliveries, attempts }: InstallDetail): readonly DeliveryLane[] {
  const plans = parsedAs(areDeliveryPlans, install.deliveries) ?? []
  const planned = plans.map(({ destination, provider, status, reason }) => ({ destination, provider, status, reason }))
  const unplanned = deliveries.filter(({ destination }) => !plans.some((plan) => plan.destination === destination))
  return [...planned, ...unplanned].map((plan) => {
    const delivery = deliveries.find(({ destination }) => destination === plan.destination) ?? null
    const { destination, provider, status, reason } = delivery ?? plan
    const made = attempts.filter((attempt) => attempt.destination === destination)
    return { destination, provider, status, reason, delivery, attempts: made }
  })
}

/** Whether it is still open. */
export function isStillOpen({ status }: DeliveryLane): boolean {
  return status === 'pending' || status === 'retrying'
}

/** Unix ms; null once it no longer matters: delivered, or never sent. */
export function deadlineOf({ delivery, status }: DeliveryLane): number | null {
  return status === 'skipped' || status === 'delivered' ? null : (delivery?.deadline_at_ms ?? null)
}
