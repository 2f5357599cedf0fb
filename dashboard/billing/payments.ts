/** Port: the payment provider. Its present state is all that counts, and none of it is stored here. */

import { Outage } from '../../common/outage.ts'
import type { Subscription } from '../../domain/people/subscriptions.ts'

interface PaymentCustomer {
  /** ID of the organisation that the customer was created for; null if the customer is not one of ours, or was deleted. */
  readonly organization: string | null
  /** It has no subscription any more, and can have no other. */
  readonly isDeleted: boolean
}

/** A checkout page of the provider. */
interface Checkout {
  readonly id: string
  /** Null once it is paid or expired. */
  readonly url: string | null
  readonly price: string
}

interface NewCheckout {
  readonly customer: string
  readonly organization: string
  readonly price: string
  /** Where the provider sends the person back to. */
  readonly returnUrl: string
}

/** All reject with `PaymentsUnavailable` if the provider is unreachable or busy. Requests with the same key count as one. */
export interface Payments {
  readonly createCustomer: (organization: string, key: string) => Promise<string>
  /** Null if the provider knows no such customer, as with the key of another account. */
  readonly readCustomer: (customer: string) => Promise<PaymentCustomer | null>
  readonly subscriptions: (customer: string) => Promise<readonly Subscription[]>
  /** Newest first. */
  readonly checkouts: (customer: string) => Promise<readonly Checkout[]>
  readonly createCheckout: (checkout: NewCheckout, key: string) => Promise<{ readonly url: string | null }>
  /** Expires the page; a page that is paid or expired stays as it is. */
  readonly endCheckout: (checkout: string) => Promise<void>
  /** The provider's page on which a customer changes or cancels a subscription. */
  readonly createPortal: (customer: string, returnUrl: string) => Promise<{ readonly url: string }>
}

/** The provider is unreachable or busy: the request may have taken effect, and repeating it is safe. Carries none of the provider's text. */
export class PaymentsUnavailable extends Outage {
  override readonly name = 'PaymentsUnavailable'
}
