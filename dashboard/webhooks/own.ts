/** The webhook that a path names. */

import { refuse, type Refusal } from '../../domain/errors.ts'
import type { OrganizationCall, QueryValues } from '../http/call.ts'
import type { Inventory, ListedObject } from '../resources/inventory.ts'

type CallOfWebhook = OrganizationCall<{ readonly namespace: string; readonly name: string }, QueryValues>

/** What belongs to others, or to no organisation, is answered as missing. */
export function ownWebhook(call: CallOfWebhook, inventory: Inventory): ListedObject | Refusal {
  const { namespace, name } = call.params
  const ref = { kind: 'Webhook', namespace, name }
  const isOwn = inventory.organizationOf(ref) === call.scope.organization.id
  return (isOwn ? inventory.find(ref) : null) ?? refuse('not_found')
}

/** As jobs and attempts call it. */
export function webhookId({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

/** As entries of the activity call it. */
export function webhookSubject(webhook: { readonly namespace: string; readonly name: string }): string {
  return `Webhook/${webhookId(webhook)}`
}

/** How the ID of a message of this moment begins. */
export function messagesSince(atMs: number): string {
  return Math.max(0, atMs).toString(16).padStart(12, '0')
}
