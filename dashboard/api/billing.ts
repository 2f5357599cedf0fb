/** Routes of billing; absent in an installation without billing. */

import { Type } from 'typebox'

import { PLANS } from '../../domain/model.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import { maybe, TEXT } from './shapes.ts'

const PATH = '/api/organizations/:organization/billing'

const PLAN = oneOf(PLANS)
const BILLING = Type.Object(
  {
    plan: PLAN,
    offers: Type.Array(PLAN, { description: 'The plans that are sold.' }),
    isCustomer: Type.Boolean({
      description: 'Whether the organisation is a customer, so that there is something to manage.',
    }),
    managedBy: maybe(TEXT, 'The other manager of the plan; null if it can be paid for here.'),
    message: TEXT,
  },
  { $id: 'Billing' },
)
const PAGE = Type.Object({ url: TEXT })

export const BILLING_ROUTES = {
  billing: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'The plan, the plans that are sold, and who manages it if that is not the dashboard.',
    answers: { 200: BILLING },
  },
  refreshBilling: {
    method: 'POST',
    path: `${PATH}/refresh`,
    needs: 'Owner',
    rate: 'write',
    summary: 'Set the plan to what is paid for now, for example after the person returns from checkout.',
    answers: { 200: BILLING },
  },
  checkout: {
    method: 'POST',
    path: `${PATH}/checkout`,
    needs: 'Owner',
    rate: 'write',
    refuses: ['already_subscribed', 'managed_elsewhere', 'foreign_customer', 'conflict'],
    summary: "The address of the payment provider's page on which to subscribe.",
    body: Type.Object({
      plan: oneOf(
        PLANS.filter((plan) => plan !== 'Free'),
        'One of `offers`.',
      ),
    }),
    answers: { 200: PAGE },
  },
  billingPortal: {
    method: 'POST',
    path: `${PATH}/portal`,
    needs: 'Owner',
    rate: 'write',
    refuses: ['not_subscribed', 'managed_elsewhere', 'foreign_customer'],
    summary: "The address of the payment provider's page on which to change or cancel a subscription.",
    answers: { 200: PAGE },
  },
  billingEvent: {
    method: 'POST',
    path: '/api/billing/webhook',
    needs: null,
    rate: 'signed',
    refuses: ['invalid_signature'],
    summary: 'An event of the payment provider, with its signature in `Stripe-Signature`.',
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>
