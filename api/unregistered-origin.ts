/** Tells a website's people of pages that tried to count for it from an origin that it has not registered. */

import type { Website } from '../domain/catalog.ts'
import { normaliseOrigin } from '../domain/origin.ts'
import { unregisteredOriginHits } from '../domain/rate.ts'
import type { ApiDeps } from './deps.ts'
import type { Recorder } from './request-logs.ts'

/** What was sent and cannot be a page's origin, `null` among it, is nobody's mistake worth a word. */
export function isUnregistered(website: Website, sent: string | null): boolean {
  if (sent === null || website.origins.has(sent)) return false
  const origin = normaliseOrigin(sent)
  return origin !== null && !website.origins.has(origin)
}

/**
 * Writes an activity entry, at most one an hour and origin and a bounded number an hour and website. Never rejects, and nobody waits for it:
 * the answer is the same with and without.
 */
export async function noteUnregisteredOrigin(
  website: Website,
  sent: string,
  { deps, recorder }: { readonly deps: ApiDeps; readonly recorder: Recorder },
): Promise<void> {
  const origin = normaliseOrigin(sent)
  if (origin === null) return
  try {
    const outcome = await deps.hotState.countHits(unregisteredOriginHits(website.id, origin))
    if (outcome.kind !== 'counted') return
    recorder.activity({
      organization: website.organization.id,
      website: website.id,
      type: 'origin_not_registered',
      subject: origin,
      message: `A page of ${origin} tried to count for this website. If it is yours, add it to additionalDomains.`,
    })
  } catch (error) {
    deps.logger.warn({ err: error }, 'an unregistered origin could not be noted')
  }
}
