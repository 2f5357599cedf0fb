/** Notifies a website's owners of pages on unregistered origins that tried to count for it. */

import type { Website } from '../../domain/catalog.ts'
import { normaliseOrigin } from '../../domain/origin.ts'
import { unregisteredOriginHits } from '../../domain/collection/rate.ts'
import type { ApiDeps } from '../deps.ts'
import type { Recorder } from './request-logs.ts'

/**
 * Writes an activity entry if the origin can be a page's and the website has not registered it: at most one per hour
 * and origin, and a bounded number per hour and website. Never rejects. Callers need not wait, because the answer does
 * not depend on it.
 */
export async function noteUnregisteredOrigin(
  website: Website,
  sent: string,
  { deps, recorder }: { readonly deps: ApiDeps; readonly recorder: Recorder },
): Promise<void> {
  const origin = normaliseOrigin(sent)
  if (origin === null || website.origins.has(origin)) return
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
