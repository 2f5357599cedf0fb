/**
 * Sets the plan of an organisation to the payment provider's present state. It is not told what changed, so the order,
 * repetition and loss of the provider's events make no difference.
 */

import { shapeOf, isText, orAbsent } from '../../domain/guards.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import { type Plan, PLANS } from '../../domain/model.ts'
import { paidPlan, type PlanOfPrice } from '../../domain/people/subscriptions.ts'
import { BILLING_MANAGER, isSame } from '../../domain/resources/field-owners.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { DirectoryOrganization } from '../resources/directory.ts'
import type { BillingFields, ResourceAddress, ResourceWriter, StoredObject, WriteOutcome } from '../resources/writer.ts'
import type { Payments } from './payments.ts'

interface PresentParts {
  readonly payments: Payments
  readonly plans: PlanOfPrice
  readonly writer: ResourceWriter
  readonly nowMs: () => number
  readonly logger: Logger
}

/**
 * `same`: the plan is the one paid for, or nothing was ever paid. `foreign`, `unknown`: the customer is not the organisation's.
 * `read-only`: another manager owns the plan. `busy`: other writers kept getting in first.
 */
type Applied = 'same' | 'written' | 'foreign' | 'unknown' | 'read-only' | 'busy'

const TURNS = 5

/** Brings one organisation up to date. Rejects with `PaymentsUnavailable`. */
export type ApplyPresent = (organization: DirectoryOrganization) => Promise<Applied>

export function createPresent(parts: PresentParts): ApplyPresent {
  return (organization) => applyPresent(organization, parts)
}

async function applyPresent(organization: DirectoryOrganization, parts: PresentParts): Promise<Applied> {
  let last: Applied = 'same'
  for (let turn = 0; turn < TURNS; turn += 1) {
    const outcome = await applyOnce(organization, parts)
    // The provider's answer may be older than a write by another process, so each write is followed by another check.
    if (outcome !== 'written' && outcome !== 'busy') return last === 'written' && outcome === 'same' ? last : outcome
    last = outcome
  }
  return last
}

async function applyOnce(organization: DirectoryOrganization, parts: PresentParts): Promise<Applied> {
  // Read the version first: a write after this point is newer than the provider's answer.
  const stored = await parts.writer.read(addressOf(organization))
  const customer = billingOf(stored)?.customer
  if (stored === null || customer === undefined) return 'same'
  const standing = await standingOf(customer, organization, parts.payments)
  if (standing === 'foreign' || standing === 'unknown') {
    parts.logger.warn({ organization: organization.id }, NOT_OWN[standing])
    return standing
  }
  const fields =
    standing === 'deleted'
      ? fieldsWithoutCustomer(stored)
      : fieldsFor(stored, customer, paidPlan(await parts.payments.subscriptions(customer), parts.plans, parts.nowMs()))
  return fields === null ? 'same' : appliedBy(await parts.writer.writeBilling(stored, fields))
}

const NOT_OWN = {
  foreign: 'the customer in spec.billing belongs to another organisation',
  unknown: 'the payment provider does not know the customer in spec.billing',
} as const

/**
 * `deleted`: at the provider, for good. `unknown`: the provider knows deleted customers too, so the key may be another account's,
 * and no plan may end by that.
 */
type CustomerStanding = 'own' | 'foreign' | 'deleted' | 'unknown'

/** What a customer is to the organisation that names it. Rejects with `PaymentsUnavailable`. */
export async function standingOf(
  customer: string,
  organization: { readonly id: string },
  payments: Payments,
): Promise<CustomerStanding> {
  const found = await payments.readCustomer(customer)
  if (found === null) return 'unknown'
  if (found.isDeleted) return 'deleted'
  return found.organization === organization.id ? 'own' : 'foreign'
}

/** Without a customer there is no subscription. A plan that people set by hand stays. */
export function fieldsWithoutCustomer(stored: StoredObject): BillingFields {
  const plan = billingOf(stored)?.subscription === undefined ? planOf(stored) : 'Free'
  return { plan, billing: undefined, ...retentionFor(plan, stored) }
}

/** The change to write; null if there is none. */
function fieldsFor(stored: StoredObject, customer: string, paid: ReturnType<typeof paidPlan>): BillingFields | null {
  if (paid === null) return null
  const isEnded = paid.plan === 'Free'
  // After a subscription has ended, people set the plan by hand.
  if (isEnded && billingOf(stored)?.subscription === undefined) return null
  const { id: subscription, price } = paid.subscription
  const billing = isEnded ? { customer } : { customer, subscription, price }
  const fields = { plan: paid.plan, billing, ...retentionFor(paid.plan, stored) }
  const present = Object.fromEntries(Object.keys(fields).map((name) => [name, stored.spec[name]]))
  return isSame(present, fields) ? null : fields
}

function appliedBy({ kind }: WriteOutcome): Applied {
  if (kind === 'written') return 'written'
  if (kind === 'managed_elsewhere') return 'read-only'
  if (kind === 'conflict') return 'busy'
  throw new Error(`the plan of an organisation was not written: ${kind}`)
}

/** Shortens the retention of Logs to the plan's: with a longer one the whole organisation would be refused. */
function retentionFor(plan: Plan, { spec }: StoredObject): { readonly logRetentionDays?: number } {
  const most = PLAN_LIMITS[plan].logRetentionDays
  return Number(spec['logRetentionDays'] ?? 0) > most ? { logRetentionDays: most } : {}
}

export function addressOf({ namespace, objectName: name }: DirectoryOrganization): ResourceAddress {
  return { kind: 'Organization', namespace, name }
}

const isBilling = shapeOf<NonNullable<BillingFields['billing']>>({
  customer: isText,
  subscription: orAbsent(isText),
  price: orAbsent(isText),
})

export function billingOf(stored: StoredObject | null): BillingFields['billing'] | undefined {
  const billing = stored?.spec['billing']
  return isBilling(billing) ? billing : undefined
}

export function planOf({ spec }: StoredObject): Plan {
  const plan = PLANS.find((each) => each === spec['plan'])
  if (plan === undefined) throw new Error('a stored organisation has no plan')
  return plan
}

/** The manager of plan and billing, if it is neither the dashboard nor a person with kubectl. */
export function managerOfPlan({ readOnly }: StoredObject): string | null {
  const owned = readOnly.find(
    ({ field, manager }) =>
      manager !== BILLING_MANAGER && (field === '/spec' || /^\/spec\/(plan|billing)(\/|$)/.test(field)),
  )
  return owned?.manager ?? null
}
