/** Decides the plan that an organisation has paid for, only from what the payment provider reports now. */

import { PLANS, type Plan } from '../model.ts'

interface PaidPeriod {
  /** The payment provider's own word. */
  readonly status: string
  /** The present period. An `unpaid` subscription goes on to others, which nobody pays for. */
  readonly periodBeganAtMs: number
  readonly periodEndsAtMs: number
  /** Whether its latest invoice is not paid. */
  readonly isOwed: boolean
}

interface Dated {
  readonly id: string
  readonly createdAtMs: number
}

export interface Subscription extends PaidPeriod, Dated {
  readonly price: string
}

/** The plan that each of the provider's prices pays for, or once paid for. */
export type PlanOfPrice = ReadonlyMap<string, Plan>

interface PaidPlan {
  readonly plan: Plan
  /** The subscription that pays for it; for an ended plan, the last one. */
  readonly subscription: Subscription
}

const LIVE: readonly string[] = ['active', 'trialing', 'past_due']
/** Whose first invoice is not paid. */
const NEVER_PAID: readonly string[] = ['incomplete', 'incomplete_expired']

/** Whether a second subscription would charge the organisation twice. */
export function isLive({ status }: { readonly status: string }): boolean {
  return LIVE.includes(status)
}

/**
 * Of several subscriptions the highest plan counts, then the newest. Null if nothing was ever paid, or if the price that is
 * paid is none of ours: the plan then stays as it is.
 */
export function paidPlan(subscriptions: readonly Subscription[], plans: PlanOfPrice, nowMs: number): PaidPlan | null {
  if (subscriptions.some((each) => isLive(each) && !plans.has(each.price))) return null
  const counted = subscriptions
    .flatMap((subscription) => {
      const plan = plans.get(subscription.price)
      const isOver = !isLive(subscription) && paidUntilMs(subscription) <= nowMs
      return plan === undefined ? [] : [{ plan: isOver ? 'Free' : plan, subscription } as const]
    })
    .toSorted((a, b) => PLANS.indexOf(b.plan) - PLANS.indexOf(a.plan) || laterFirst(a.subscription, b.subscription))
  return counted[0] ?? null
}

/** The end of the last period that was paid, whatever else the status means: a status that is new to us ends the plan then, too. */
function paidUntilMs({ status, isOwed, periodBeganAtMs, periodEndsAtMs }: PaidPeriod): number {
  if (NEVER_PAID.includes(status)) return 0
  return isOwed || status === 'unpaid' ? periodBeganAtMs : periodEndsAtMs
}

function laterFirst(a: Dated, b: Dated): number {
  return b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1)
}
