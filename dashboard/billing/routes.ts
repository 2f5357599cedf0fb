/** Routes of billing; absent in an installation without billing. */

import { PLANS } from '../../domain/model.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import { openPortal, readBilling, refreshBilling, startCheckout, type CheckoutParts } from './checkout.ts'
import { takeEvent, type WebhookParts } from './webhook.ts'

const PATH = '/api/organizations/:organization/billing'

export const BILLING_ROUTES = {
  billing: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'The plan, the plans that are sold, and who manages it if that is not the dashboard.',
  },
  refreshBilling: {
    method: 'POST',
    path: `${PATH}/refresh`,
    needs: 'Owner',
    rate: 'write',
    summary: 'Set the plan to what is paid for now, for example after the person returns from checkout.',
  },
  checkout: {
    method: 'POST',
    path: `${PATH}/checkout`,
    needs: 'Owner',
    rate: 'write',
    refuses: ['already_subscribed', 'managed_elsewhere', 'foreign_customer', 'conflict'],
    summary: "The address of the payment provider's page on which to subscribe.",
    body: objectSchema(
      { plan: { type: 'string', description: 'One of `offers`.', enum: PLANS.filter((plan) => plan !== 'Free') } },
      ['plan'],
    ),
  },
  billingPortal: {
    method: 'POST',
    path: `${PATH}/portal`,
    needs: 'Owner',
    rate: 'write',
    refuses: ['not_subscribed', 'managed_elsewhere', 'foreign_customer'],
    summary: "The address of the payment provider's page on which to change or cancel a subscription.",
  },
  billingEvent: {
    method: 'POST',
    path: '/api/billing/webhook',
    needs: null,
    rate: 'signed',
    refuses: ['invalid_signature'],
    summary: 'An event of the payment provider, with its signature in `Stripe-Signature`.',
  },
} as const satisfies Record<string, RouteRow>

export type BillingParts = CheckoutParts & WebhookParts

export function billingHandlers(parts: BillingParts): HandlersOf<typeof BILLING_ROUTES> {
  return {
    billing: readBilling(parts),
    refreshBilling: refreshBilling(parts),
    checkout: startCheckout(parts),
    billingPortal: openPortal(parts),
    billingEvent: takeEvent(parts),
  }
}
