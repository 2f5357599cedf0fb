/** Payments through Stripe's own client: one pinned version of its API, no telemetry, and a time limit on every call. */

import { Agent } from 'node:https'

import type Stripe from 'stripe'

import { memberOf, textOf } from '../../domain/strict-json.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import { proxyFor, type OutboundProxy } from '../../domain/outbound/proxy.ts'
import type { Subscription } from '../../domain/people/subscriptions.ts'
import { PaymentsUnavailable, type Payments } from './payments.ts'

interface StripeOptions {
  readonly secretKey: string
  /** Origin of the API. */
  readonly url: string
  /** Through which it is called; absent or null: directly. */
  readonly proxy?: OutboundProxy | null
}

/** The version that the client's types describe. Review the client's release before changing it. */
const API_VERSION = '2026-10-28.endive'
const TIMEOUT_MS = 10 * SECOND_MS
const RETRIES = 2
const PAGE = 100
/** Metadata of a customer and its subscription: the organisation it belongs to. */
const ORGANIZATION = 'whence_organization'

/** Loads the client on demand: it takes 36 MB, which a service without billing saves. */
export async function stripePayments(options: StripeOptions): Promise<Payments> {
  const { default: StripeClient } = await import('stripe')
  const api = new URL(options.url)
  const { protocol, hostname, port } = api
  const proxyUrl = proxyFor(options.proxy ?? null, api)
  const stripe = new StripeClient(options.secretKey, {
    apiVersion: API_VERSION,
    telemetry: false,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port || (protocol === 'http:' ? 80 : 443),
    ...(proxyUrl === null ? {} : { httpAgent: new Agent({ keepAlive: true, proxyEnv: { HTTPS_PROXY: proxyUrl } }) }),
  })
  return {
    createCustomer: (organization, key) =>
      asked(async () => {
        const params = { metadata: { [ORGANIZATION]: organization } }
        return (await stripe.customers.create(params, { idempotencyKey: key })).id
      }),
    readCustomer: (customer) => asked(() => readCustomer(stripe, customer)),
    subscriptions: (customer) =>
      asked(async () => {
        const expand = ['data.latest_invoice']
        return (await stripe.subscriptions.list({ customer, status: 'all', limit: PAGE, expand })).data.map(ofStripe)
      }),
    checkouts: (customer) =>
      asked(async () => {
        const { data } = await stripe.checkout.sessions.list({ customer, limit: PAGE })
        return data.map(({ id, url, status, metadata }) => ({
          id,
          url: status === 'open' ? url : null,
          price: metadata?.['whence_price'] ?? '',
        }))
      }),
    createCheckout: (checkout, key) =>
      asked(() => stripe.checkout.sessions.create(checkoutOf(checkout), { idempotencyKey: key })),
    endCheckout: (checkout) => asked(() => endCheckout(stripe, checkout)),
    createPortal: (customer, returnUrl) =>
      asked(() => stripe.billingPortal.sessions.create({ customer, return_url: returnUrl })),
  }
}

async function readCustomer(stripe: Stripe, id: string): ReturnType<Payments['readCustomer']> {
  try {
    const customer = await stripe.customers.retrieve(id)
    if (customer.deleted === true) return { organization: null, isDeleted: true }
    return { organization: customer.metadata[ORGANIZATION] ?? null, isDeleted: false }
  } catch (error) {
    if (codeOf(error) === 'resource_missing') return null
    throw error
  }
}

/** In current versions of the API the period belongs to the item. */
function ofStripe({ id, status, created, items, latest_invoice: invoice }: Stripe.Subscription): Subscription {
  const [item] = items.data
  return {
    id,
    status,
    price: item?.price.id ?? '',
    createdAtMs: created * SECOND_MS,
    periodBeganAtMs: Math.max(0, ...items.data.map((each) => each.current_period_start)) * SECOND_MS,
    periodEndsAtMs: Math.max(0, ...items.data.map((each) => each.current_period_end)) * SECOND_MS,
    isOwed: typeof invoice === 'object' && invoice !== null && invoice.status !== 'paid',
  }
}

function checkoutOf({
  customer,
  organization,
  price,
  returnUrl,
}: Parameters<Payments['createCheckout']>[0]): Stripe.Checkout.SessionCreateParams {
  return {
    mode: 'subscription',
    customer,
    client_reference_id: organization,
    line_items: [{ price, quantity: 1 }],
    metadata: { [ORGANIZATION]: organization, whence_price: price },
    subscription_data: { metadata: { [ORGANIZATION]: organization } },
    success_url: `${returnUrl}?paid=1`,
    cancel_url: returnUrl,
  }
}

/** The session may have been paid or expired a moment ago. */
async function endCheckout(stripe: Stripe, id: string): Promise<void> {
  try {
    await stripe.checkout.sessions.expire(id)
  } catch (error) {
    if (memberOf(error, 'statusCode') !== 400) throw error
  }
}

/** The provider's error messages quote the request, so only type and code are passed on. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const sent = memberOf(error, 'statusCode')
    const statusCode = typeof sent === 'number' ? sent : 0
    const type = textOf(memberOf(error, 'type')) || 'unknown'
    const text = `the payment provider did not do it: ${type} ${codeOf(error)} ${statusCode || ''}`.trim()
    // Also if another process of ours has just sent a request with the same key.
    const isPassing = statusCode === 0 || statusCode === 409 || statusCode === 429 || statusCode >= 500
    throw isPassing ? new PaymentsUnavailable(text) : new Error(text)
  }
}

function codeOf(error: unknown): string {
  return textOf(memberOf(error, 'code'))
}
