/** Billing: the plans on sale, and the addresses of the payment provider's pages. */

import { queryOptions } from '@tanstack/react-query'

import type { Plan } from '../../domain/model.ts'
import { ask, path } from './ask.ts'

interface Billing {
  readonly plan: Plan
  readonly offers: readonly Plan[]
  /** Whether the organisation is a customer, so that there is something to manage. */
  readonly isCustomer: boolean
  /** The other manager of the plan; null if it can be paid for here. */
  readonly managedBy: string | null
  readonly message: string
}

const PATH = '/api/organizations/:organization/billing'

/** Call it only if this service has billing. */
export function billingQuery(organization: string) {
  return queryOptions({
    queryKey: ['billing', organization],
    queryFn: ({ signal }) => ask<Billing>(path(PATH, { organization }), { signal }),
  })
}

/** The address of the provider's page. */
export function openCheckout(organization: string, plan: Plan): Promise<{ readonly url: string }> {
  return ask(`${path(PATH, { organization })}/checkout`, { method: 'POST', body: { plan } })
}

/** The address of the provider's page. */
export function openBillingPortal(organization: string): Promise<{ readonly url: string }> {
  return ask(`${path(PATH, { organization })}/portal`, { method: 'POST', body: {} })
}

/** Makes the service ask the provider, whose event may be late. */
export function bringPlanUpToDate(organization: string): Promise<Billing> {
  return ask(`${path(PATH, { organization })}/refresh`, { method: 'POST', body: {} })
}
