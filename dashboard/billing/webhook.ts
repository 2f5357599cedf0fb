/** The payment provider's events. Nothing in them is believed but that something of a customer changed. */

import { refuse } from '../../domain/errors.ts'
import { memberOf } from '../../domain/strict-json.ts'
import { DONE, type Handler } from '../http/call.ts'
import type { Directory } from '../resources/directory.ts'
import { applyPresent, type PresentParts } from './present.ts'
import { isSigned } from './signature.ts'

export interface WebhookParts extends PresentParts {
  readonly directory: Directory
  /** Several while the provider changes them. */
  readonly webhookSecrets: readonly string[]
}

/** Answered once the plan is as paid for: whatever fails before that, the provider sends again. */
export function takeEvent(parts: WebhookParts): Handler {
  return async ({ raw, nowMs }) => {
    if (raw === null) return refuse('invalid_signature')
    const { body, signature: header } = raw
    if (!parts.webhookSecrets.some((secret) => isSigned({ body, header }, secret, nowMs))) {
      return refuse('invalid_signature')
    }
    const customer = customerIn(body)
    // The account of the provider may serve other products too.
    const found = customer === null ? null : await parts.payments.readCustomer(customer)
    const organization = parts.directory.organizations().get(found?.organization ?? '')
    if (organization === undefined) return DONE
    return (await applyPresent(organization, parts)) === 'busy' ? refuse('unavailable') : DONE
  }
}

/** The customer's ID, wherever in an event it stands. */
function customerIn(body: Buffer): string | null {
  const object = memberOf(memberOf(parsedEvent(body), 'data'), 'object')
  const customer = memberOf(object, 'object') === 'customer' ? memberOf(object, 'id') : memberOf(object, 'customer')
  const id = typeof customer === 'string' ? customer : memberOf(customer, 'id')
  return typeof id === 'string' && /^cus_\w{1,250}$/.test(id) ? id : null
}

/** The sender is proven, and its events are wider and deeper than what strangers may send. */
function parsedEvent(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown
  } catch {
    return null
  }
}
