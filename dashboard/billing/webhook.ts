/** Takes the payment provider's events. All that is believed of an event is that something about a customer changed. */

import { refuse } from '../../domain/errors.ts'
import { memberOf } from '../../domain/strict-json.ts'
import { DONE, type Call } from '../http/call.ts'
import type { Directory, DirectoryOrganization } from '../resources/directory.ts'
import type { InventoryFinder } from '../resources/inventory.ts'
import type { Payments } from './payments.ts'
import { addressOf, type ApplyPresent } from './present.ts'
import { isSigned } from './signature.ts'

export interface WebhookParts {
  readonly payments: Payments
  readonly applyPresent: ApplyPresent
  readonly directory: Directory
  readonly inventory: InventoryFinder
  /** Several during a rotation. */
  readonly webhookSecrets: readonly string[]
}

/** Answers once the plan matches what is paid for: if that fails, the provider sends the event again. */
export function takeEvent(parts: WebhookParts) {
  return async ({ raw, nowMs }: Call) => {
    if (raw === null) return refuse('invalid_signature')
    const { body, signature: header } = raw
    if (!parts.webhookSecrets.some((secret) => isSigned({ body, header }, secret, nowMs))) {
      return refuse('invalid_signature')
    }
    const customer = customerIn(body)
    // The provider account may serve other products too.
    const organization = customer === null ? undefined : await organizationOfCustomer(customer, parts)
    if (organization === undefined) return DONE
    return (await parts.applyPresent(organization)) === 'busy' ? refuse('unavailable') : DONE
  }
}

/** The provider does not say whose a deleted customer was, but the organisation still names it. */
async function organizationOfCustomer(
  customer: string,
  { payments, directory, inventory }: WebhookParts,
): Promise<DirectoryOrganization | undefined> {
  const found = await payments.readCustomer(customer)
  const organizations = directory.organizations()
  if (found?.isDeleted !== true) return organizations.get(found?.organization ?? '')
  return [...organizations.values()].find(
    (each) => memberOf(inventory.find(addressOf(each))?.spec['billing'], 'customer') === customer,
  )
}

/** The customer's ID, wherever the event has it. */
function customerIn(body: Buffer): string | null {
  const object = memberOf(memberOf(parsedEvent(body), 'data'), 'object')
  const customer = memberOf(object, 'object') === 'customer' ? memberOf(object, 'id') : memberOf(object, 'customer')
  const id = typeof customer === 'string' ? customer : memberOf(customer, 'id')
  return typeof id === 'string' && /^cus_\w{1,250}$/.test(id) ? id : null
}

/** The sender is authenticated, and its events are wider and deeper than what strangers may send. */
function parsedEvent(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return null
  }
}
