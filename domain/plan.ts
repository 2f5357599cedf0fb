/** Decides whether an organisation's plan allows one more of something. */

import { keysOf } from './typed-keys.ts'
import { shapeOf, isOneOf, isNumber } from './guards.ts'
import { refuse, type Refusal } from './errors.ts'
import { OWN_PLAN_LIMITS, PLAN_LIMITS, SECRET_LIMITS, type PlanLimits } from './limits.ts'
import { type Plan, PLANS } from './model.ts'

/** What a plan counts, by the name of its limit, with singular and plural. */
const PLAN_COUNTS = {
  installPaths: ['install path', 'install paths'],
  websites: ['website', 'websites'],
  domainsPerWebsite: [
    'domain per website (the primary one included)',
    'domains per website (the primary one included)',
  ],
  members: ['member', 'members'],
  destinationsPerWebsite: ['destination per website', 'destinations per website'],
  logStreams: ['log stream', 'log streams'],
  shareLinksPerWebsite: ['share link per website', 'share links per website'],
} as const
export type PlanCount = keyof typeof PLAN_COUNTS

/** A count that has reached what its plan allows. */
export interface PlanUse {
  readonly limit: PlanCount
  readonly used: number
  readonly allowed: number
  readonly plan: Plan
}

export const isPlanUse = shapeOf<PlanUse>({
  limit: isOneOf(keysOf(PLAN_COUNTS)),
  used: isNumber,
  allowed: isNumber,
  plan: isOneOf(PLANS),
})

/** The contract's two codes for creation beyond a plan's limit; `message` is what the plan allows. */
interface PlanRefusal {
  readonly code: 'plan_limit' | 'plan_required'
  readonly message: string
  readonly use: PlanUse
}

/** Null if the plan allows `wanted` in total. */
export function refuseByPlan(plan: Plan, count: PlanCount, wanted: number): PlanRefusal | null {
  const allowed = limitsOf(plan)[count]
  if (wanted <= allowed) return null
  const use = { limit: count, used: wanted - 1, allowed, plan }
  return { code: planCode(use), message: planMessage(use), use }
}

type AllLimits = PlanLimits & (typeof OWN_PLAN_LIMITS)[Plan]

function limitsOf(plan: Plan): AllLimits {
  return { ...PLAN_LIMITS[plan], ...OWN_PLAN_LIMITS[plan] }
}

function planCode({ allowed }: PlanUse): PlanRefusal['code'] {
  return allowed === 0 ? 'plan_required' : 'plan_limit'
}

/** What the plan allows, and the plan that would allow one more. */
function planMessage({ limit, used, allowed, plan }: PlanUse): string {
  const [one, many] = PLAN_COUNTS[limit]
  const what = allowed === 0 ? `no ${many}` : `${allowed} ${allowed === 1 ? one : many}`
  return `the plan ${plan} allows ${what}${largerPlan(plan, (limits) => limits[limit] > Math.max(used, allowed))}`
}

/**
 * The end of a sentence about a limit: the smallest larger plan that suffices, and who sets it. A plan is bought only where
 * somebody sells it; on a server of one's own it is a line in a manifest.
 */
export function largerPlan(plan: Plan, suffices: (limits: AllLimits) => boolean): string {
  const larger = PLANS.slice(PLANS.indexOf(plan) + 1).find((each) => suffices(limitsOf(each)))
  if (larger === undefined) return ', and no plan allows more'
  return `; ${setPlan(larger)}`
}

/** Who sets the plan, and where. */
export function setPlan(plan: Plan): string {
  return `whoever runs this service can set \`plan: ${plan}\` in the Organization`
}

/** How many Secrets an organisation with so many destinations, webhooks and log streams may have. */
export function secretsAllowed(objects: number): number {
  return SECRET_LIMITS.perObject * objects + SECRET_LIMITS.besides
}

/** The answer to a Secret more than those. */
export function refuseSecret(
  plan: Plan,
  { used, allowed }: { readonly used: number; readonly allowed: number },
): Refusal {
  return refuse('plan_limit', { limit: 'secrets', used, allowed, plan })
}

/** The answer to a creation beyond what the plan allows. */
export function refuseUse(use: PlanUse): Refusal {
  return refuse(planCode(use), { ...use, message: planMessage(use) })
}
