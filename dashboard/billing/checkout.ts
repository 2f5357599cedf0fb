/**
 * Sends an Owner to the provider's pages. The process may end after any step: a repeated request continues with the same
 * customer and the same page, so that nobody pays twice.
 */

import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import { sha256Hex } from '../../common/digest.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import type { Plan } from '../../domain/model.ts'
import { isLive } from '../../domain/people/subscriptions.ts'
import { answer, type OrganizationCall, type CallTo } from '../http/call.ts'
import { billingHit, refuseByRate } from '../http/limits.ts'
import type { DirectoryOrganization } from '../resources/directory.ts'
import type { InventoryFinder } from '../resources/inventory.ts'
import type { ResourceWriter, StoredObject } from '../resources/writer.ts'
import type { Payments } from './payments.ts'
import {
  addressOf,
  billingOf,
  fieldsWithoutCustomer,
  managerOfPlan,
  planOf,
  standingOf,
  type ApplyPresent,
} from './present.ts'

export interface CheckoutParts {
  readonly payments: Payments
  readonly applyPresent: ApplyPresent
  readonly writer: ResourceWriter
  readonly inventory: InventoryFinder
  readonly hotState: HitCounter
  readonly shop: Shop
}

/** What is sold, and on whose pages. */
interface Shop {
  /** Ours, to which people return. */
  readonly baseUrl: string
  /** The current price of each plan on sale. */
  readonly offers: ReadonlyMap<Plan, string>
  /** Hosts that an Owner may be sent to. */
  readonly pageHosts: readonly string[]
}

/** Answers from what is stored, without asking the provider. */
export function readBilling({ writer, shop: { offers } }: CheckoutParts) {
  return async (call: OrganizationCall) => {
    const stored = await writer.read(addressOf(call.scope.organization))
    return stored === null ? refuse('not_found') : answer(shownBilling(stored, offers))
  }
}

/** For a person who returns from checkout: the provider's event may be late or lost. */
export function refreshBilling(parts: CheckoutParts) {
  return async (call: OrganizationCall) => {
    const { organization } = call.scope
    const outcome = await parts.applyPresent(organization)
    if (outcome === 'busy') return refuse('unavailable')
    const stored = await parts.writer.read(addressOf(organization))
    return stored === null ? refuse('not_found') : answer(shownBilling(stored, parts.shop.offers))
  }
}

const SENTENCE = 'This organisation is managed elsewhere, so its plan is changed there and not by paying here.'

function shownBilling(stored: StoredObject, offers: Shop['offers']) {
  const managedBy = managerOfPlan(stored)
  return {
    plan: planOf(stored),
    offers: [...offers.keys()],
    isCustomer: billingOf(stored) !== undefined,
    managedBy,
    message: managedBy === null ? '' : SENTENCE,
  }
}

export function startCheckout(parts: CheckoutParts) {
  return async (call: CallTo<'checkout'>) => {
    const { organization } = call.scope
    const price = parts.shop.offers.get(call.body.plan)
    if (price === undefined) return refuse('invalid_field', { field: '/plan', message: 'is not sold here' })
    const stored = await payable(call, parts)
    if ('code' in stored) return stored
    const customer = await customerOf(organization, stored, parts)
    if (typeof customer !== 'string') return customer
    const { payments } = parts
    if ((await payments.subscriptions(customer)).some(isLive)) return refuse('already_subscribed')
    const known = await payments.checkouts(customer)
    const open = known.filter(({ url }) => url !== null)
    const same = open.find((each) => each.price === price)
    // One open checkout page at a time: two could both be paid.
    for (const other of open) if (other !== same) await payments.endCheckout(other.id)
    const key = idempotencyKey('checkout', customer, price, known[0]?.id ?? '')
    const checkout =
      same ??
      (await payments.createCheckout(
        { customer, organization: organization.id, price, returnUrl: returnPage(call, parts.shop) },
        key,
      ))
    return answerWithPage(checkout.url, parts.shop)
  }
}

export function openPortal(parts: CheckoutParts) {
  return async (call: OrganizationCall) => {
    const { organization } = call.scope
    const stored = await payable(call, parts)
    if ('code' in stored) return stored
    const customer = billingOf(stored)?.customer
    if (customer === undefined) return refuse('not_subscribed')
    const standing = await standingOf(customer, organization, parts.payments)
    if (standing !== 'own') return refuse(standing === 'foreign' ? 'foreign_customer' : 'not_subscribed')
    return answerWithPage((await parts.payments.createPortal(customer, returnPage(call, parts.shop))).url, parts.shop)
  }
}

/** The stored Organization, if payments may change it. */
async function payable(call: OrganizationCall, { writer, hotState }: CheckoutParts): Promise<StoredObject | Refusal> {
  const { organization } = call.scope
  const limited = await refuseByRate([billingHit(organization.id)], hotState)
  if (limited !== null) return limited
  const stored = await writer.read(addressOf(organization))
  if (stored === null) return refuse('not_found')
  const manager = managerOfPlan(stored)
  return manager === null ? stored : refuse('managed_elsewhere', { manager, field: '/spec/plan', message: SENTENCE })
}

/** Written before anyone can pay, so that every payment belongs to an organisation that names its customer. */
async function customerOf(
  organization: DirectoryOrganization,
  stored: StoredObject,
  parts: CheckoutParts,
): Promise<string | Refusal> {
  const known = billingOf(stored)?.customer
  const standing = known === undefined ? 'unknown' : await standingOf(known, organization, parts.payments)
  if (known !== undefined && standing === 'own') return known
  if (standing === 'foreign') return refuse('foreign_customer')
  const customer = await newCustomer(organization, parts)
  if (customer === null) return refuse('unavailable')
  const fields = { ...fieldsWithoutCustomer(stored), billing: { customer } }
  const outcome = await parts.writer.writeBilling(stored, fields)
  if (outcome.kind === 'written') return customer
  if (outcome.kind === 'managed_elsewhere') {
    return refuse('managed_elsewhere', { manager: outcome.manager, field: outcome.field, message: SENTENCE })
  }
  return refuse('conflict')
}

/** How many customers of one organisation may be deleted before it must wait. */
const CUSTOMERS_A_DAY = 5

/**
 * Whatever is repeated finds the same customer: the provider keeps the answer to a key for a day. If that customer was deleted
 * meanwhile, the next one is created. Null if too many were.
 */
async function newCustomer(
  organization: DirectoryOrganization,
  { payments, inventory }: CheckoutParts,
): Promise<string | null> {
  // A customer of an earlier organisation with the same name is not this one's.
  let before = inventory.find(addressOf(organization))?.createdAt ?? ''
  for (let made = 0; made < CUSTOMERS_A_DAY; made += 1) {
    const key = idempotencyKey('customer', organization.id, before)
    const customer = await payments.createCustomer(organization.id, key)
    if ((await standingOf(customer, organization, payments)) === 'own') return customer
    before = customer
  }
  return null
}

function idempotencyKey(...parts: readonly string[]): string {
  return `whence-${sha256Hex(parts.join('\n')).slice(0, 40)}`
}

function returnPage(call: OrganizationCall, { baseUrl }: Shop): string {
  return `${baseUrl}/app/${encodeURIComponent(call.scope.organization.id)}/usage`
}

/** @throws Error if the provider names another host than its own */
function answerWithPage(url: string | null, { pageHosts }: Shop) {
  if (url === null || !pageHosts.includes(new URL(url).host))
    throw new Error('the payment provider gave no page of its own')
  return answer({ url })
}
