/** Handlers of billing; absent in an installation without billing. */

import type { BILLING_ROUTES } from '../api/billing.ts'
import type { HandlersOf } from '../http/call.ts'
import { openPortal, readBilling, refreshBilling, startCheckout, type CheckoutParts } from './checkout.ts'
import { takeEvent, type WebhookParts } from './webhook.ts'

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
