/** A dashboard with billing, over the stand-in for Stripe. */

import { stripePayments } from '../../../dashboard/billing/stripe.ts'
import type { DashboardBilling } from '../../../dashboard/dashboard.ts'
import { signStripeEvent, startStripeStandIn, type StripeStandIn } from '../../../fixtures/service/stripe.ts'
import type { Stage, Told } from './stage.ts'

export const SECRET_KEY = 'sk_test_only_for_tests'
export const WEBHOOK_SECRET = 'whsec_only_for_tests'
export const STANDARD = 'price_standard'
export const ENTERPRISE = 'price_enterprise'
export const API_VERSION = '2026-10-28.endive'

export function startStripe(nowMs: () => number = Date.now): Promise<StripeStandIn> {
  return startStripeStandIn({ port: 0, secretKey: SECRET_KEY, version: API_VERSION, nowMs })
}

export async function billingOver(url: string): Promise<DashboardBilling> {
  return {
    payments: await stripePayments({ secretKey: SECRET_KEY, url }),
    webhookSecrets: ['whsec_before', WEBHOOK_SECRET],
    plans: new Map([
      [STANDARD, 'Standard'],
      ['price_standard_before', 'Standard'],
      [ENTERPRISE, 'Enterprise'],
    ]),
    offers: new Map([
      ['Standard', STANDARD],
      ['Enterprise', ENTERPRISE],
    ]),
    pageHosts: [new URL(url).host],
  }
}

/** As Stripe would send it: from elsewhere, with a signature of this age. */
export function sendEvent(stage: Stage, event: object, ageMs = 0, secret = WEBHOOK_SECRET): Promise<Told> {
  const body = JSON.stringify(event)
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Sec-Fetch-Site': 'cross-site',
    'Stripe-Signature': signStripeEvent(body, secret, stage.nowMs() - ageMs),
  }
  return stage.ask('POST', '/api/billing/webhook', { body, headers })
}
