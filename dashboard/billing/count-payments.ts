/** Counts what the payment provider was asked, and whether it answered. */

import type { DashboardMetrics } from '../http/metrics.ts'
import { PaymentsUnavailable, type Payments } from './payments.ts'

/** The same payments. */
export function countingPayments(payments: Payments, count: DashboardMetrics['paymentsAsked']): Payments {
  const counted =
    <A extends unknown[], R>(what: string, ask: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        const answered = await ask(...args)
        count(what, 'ok')
        return answered
      } catch (error) {
        count(what, error instanceof PaymentsUnavailable ? 'unavailable' : 'failed')
        throw error
      }
    }
  return {
    createCustomer: counted('create_customer', payments.createCustomer),
    readCustomer: counted('read_customer', payments.readCustomer),
    subscriptions: counted('list_subscriptions', payments.subscriptions),
    checkouts: counted('list_checkouts', payments.checkouts),
    createCheckout: counted('create_checkout', payments.createCheckout),
    endCheckout: counted('end_checkout', payments.endCheckout),
    createPortal: counted('create_portal', payments.createPortal),
  }
}
