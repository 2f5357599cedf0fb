/** Decides the plan that an organisation has paid for, from what the payment provider says now and nothing else. */

import { PLANS, type Plan } from '../model.ts'

export interface Subscription {
  readonly id: string
  /** In the provider's words. */
  readonly status: string
  readonly price: string
  readonly createdAtMs: number
  readonly periodEndsAtMs: number
}

/** What the provider calls each price that a plan has or had. */
export type PlanOfPrice = ReadonlyMap<string, Plan>

interface PaidPlan {
  readonly plan: Plan
  /** What it follows from: of an ended one, the last. */
  readonly subscription: Subscription
}

const LIVE: readonly string[] = ['active', 'trialing', 'past_due']
/** They were paid for once, up to the end of the period. */
const ENDED: readonly string[] = ['unpaid', 'canceled']

/** Whether another subscription beside this one would be paid twice. */
export function isLive({ status }: Pick<Subscription, 'status'>): boolean {
  return LIVE.includes(status)
}

/**
 * Of several the highest plan counts, then the newest. Null if nothing was ever paid, or if what is paid for is none of our prices:
 * then the plan stays as it is.
 */
export function paidPlan(subscriptions: readonly Subscription[], plans: PlanOfPrice, nowMs: number): PaidPlan | null {
  if (subscriptions.some((each) => isLive(each) && !plans.has(each.price))) return null
  const counted = subscriptions
    .filter((each) => isLive(each) || ENDED.includes(each.status))
    .flatMap((subscription) => {
      const plan = plans.get(subscription.price)
      const isOver = !isLive(subscription) && subscription.periodEndsAtMs <= nowMs
      return plan === undefined ? [] : [{ plan: isOver ? 'Free' : plan, subscription } as const]
    })
    .toSorted((a, b) => PLANS.indexOf(b.plan) - PLANS.indexOf(a.plan) || laterFirst(a.subscription, b.subscription))
  return counted[0] ?? null
}

function laterFirst(a: Subscription, b: Subscription): number {
  return b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1)
}
