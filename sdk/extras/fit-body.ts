/** Keeps the body of a visit within the service's limit, at the cost of what matters least. */

import { BODY_BYTES } from '../core/limits.ts'
import type { VisitBody } from '../core/types.ts'

/**
 * Removes parts until the body fits, in bytes as it is sent: custom adapters, the last first, then hints about the
 * browser, then identities.
 */
export function fitBody(body: VisitBody): void {
  const { identities = {}, client } = body
  for (const part of [identities['custom'] ?? {}, client, identities]) {
    for (const key of Object.keys(part).reverse())
      if (new Blob([JSON.stringify(body)]).size > BODY_BYTES) Reflect.deleteProperty(part, key)
  }
}
