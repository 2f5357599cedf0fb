/** Handlers of billing; absent in an installation without billing. */

import type { BILLING_ROUTES } from '../api/billing.ts'
import type { HandlersOf } from '../http/call.ts'
import { openPortal, readBilling, refreshBilling, startCheckout, type CheckoutParts } from './checkout.ts'
import { takeEvent, type WebhookParts } from './webhook.ts'

export function billingHandlers(checkout: CheckoutParts, events: WebhookParts): HandlersOf<typeof BILLING_ROUTES> {
  return {
    billing: readBilling(checkout),
    refreshBilling: refreshBilling(checkout),
    checkout: startCheckout(checkout),
    billingPortal: openPortal(checkout),
    billingEvent: takeEvent(events),
  }
}
