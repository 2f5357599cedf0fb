/** Billing: the plans on sale, and the addresses of the payment provider's pages. */

import { queryOptions } from '@tanstack/react-query'

import type { JsonFrom } from '../../dashboard/api/routes.ts'
import type { Plan } from '../../domain/model.ts'
import { ask, path } from './ask.ts'

const PATH = '/api/organizations/:organization/billing'

/** Call it only if this service has billing. */
export function billingQuery(organization: string) {
  return queryOptions({
    queryKey: ['billing', organization],
    queryFn: ({ signal }) => ask<JsonFrom<'billing'>>(path(PATH, { organization }), { signal }),
  })
}

/** The address of the provider's page. */
export function openCheckout(organization: string, plan: Plan): Promise<JsonFrom<'checkout'>> {
  return ask(`${path(PATH, { organization })}/checkout`, { method: 'POST', body: { plan } })
}

/** The address of the provider's page. */
export function openBillingPortal(organization: string): Promise<JsonFrom<'checkout'>> {
  return ask(`${path(PATH, { organization })}/portal`, { method: 'POST', body: {} })
}

/** Makes the service ask the provider, whose event may be late. */
export function bringPlanUpToDate(organization: string): Promise<JsonFrom<'refreshBilling'>> {
  return ask(`${path(PATH, { organization })}/refresh`, { method: 'POST', body: {} })
}
