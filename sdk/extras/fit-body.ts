/** Keeps the body of a visit within the service's limit, at the cost of what matters least. */

import { BODY_BYTES } from '../core/limits.ts'
import type { VisitBody } from '../core/types.ts'

/**
 * Removes parts until the body fits, in bytes as it is sent: custom adapters, the last first, the addresses of the page
 * before and of the landing page, identities.
 */
export function fitBody(body: VisitBody): void {
  const { identities, source } = body
  const drop = (part: object = {}, keys = Object.keys(part).reverse()) => {
    for (const key of keys) if (new Blob([JSON.stringify(body)]).size > BODY_BYTES) Reflect.deleteProperty(part, key)
  }
  drop(identities?.['custom'])
  drop(body, ['referrer'])
  drop(source, ['page'])
  drop(identities)
}
