/** Port: the payment provider. What it says now is all that counts; nothing of it is kept here. */

import type { Subscription } from '../../domain/people/subscriptions.ts'

interface PaymentCustomer {
  /** ID of the organisation that it was made for; null if it is none of ours. */
  readonly organization: string | null
}

/** A page of the provider on which somebody pays. */
interface Checkout {
  readonly id: string
  /** Null once it is paid or over. */
  readonly url: string | null
  readonly price: string
}

interface NewCheckout {
  readonly customer: string
  readonly organization: string
  readonly price: string
  /** Where the person comes back to. */
  readonly returnUrl: string
}

/** All reject with `PaymentsUnavailable` if the provider is away or busy. Requests with one key are one. */
export interface Payments {
  readonly createCustomer: (organization: string, key: string) => Promise<string>
  /** Null if there is none, or no longer. */
  readonly readCustomer: (customer: string) => Promise<PaymentCustomer | null>
  readonly subscriptions: (customer: string) => Promise<readonly Subscription[]>
  /** The newest first. */
  readonly checkouts: (customer: string) => Promise<readonly Checkout[]>
  readonly createCheckout: (checkout: NewCheckout, key: string) => Promise<{ readonly url: string | null }>
  /** Nobody can pay there any more; one that is paid or over stays as it is. */
  readonly endCheckout: (checkout: string) => Promise<void>
  /** The provider's page on which a customer changes or ends what they pay for. */
  readonly createPortal: (customer: string, returnUrl: string) => Promise<{ readonly url: string }>
}

/** The provider is away or busy: whatever was asked may have happened, and asking again is safe. Carries no text of it. */
export class PaymentsUnavailable extends Error {
  override readonly name = 'PaymentsUnavailable'
}
