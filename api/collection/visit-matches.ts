/** Tells the members of a website's organisation that unusually many installations are matched to one visit. */

import type { Website } from '../../domain/catalog.ts'
import type { Install } from '../../domain/model.ts'
import { matchHits } from '../../domain/collection/rate.ts'
import type { Installation } from '../../ports/hot-state/hot-state.ts'
import type { ApiDeps } from '../deps.ts'
import type { Recorder } from './request-logs.ts'

/** An install that was just recorded, and the earlier matches of its installation. */
interface NewMatch {
  readonly install: Install
  readonly website: Website
  readonly before: Installation
}

/**
 * Counts the installation for its visit, and writes one activity entry a day when that passes the website's threshold. Events of
 * an installation that is known to belong to the visit count nothing. Never rejects. Callers do not wait for it, because the
 * answer does not depend on it.
 */
export async function noteMatch(
  { install, website, before }: NewMatch,
  { deps, recorder }: { readonly deps: ApiDeps; readonly recorder: Recorder },
): Promise<void> {
  const { visitId, installationId } = install
  if (visitId === null || (before.kind === 'matched' && before.visit.visitId === visitId)) return
  try {
    const outcome = await deps.hotState.countHits(matchHits({ website: website.id, visitId, installationId }))
    if (outcome.kind !== 'counted') return
    const installations = outcome.counts[1] ?? 0
    const most = website.installationsPerVisitWarning
    if (installations <= most) return
    deps.metrics.matchedOften()
    if (installations > most + 1) return
    recorder.activity({
      organization: website.organization.id,
      website: website.id,
      type: 'visit_matched_often',
      subject: visitId,
      message: `More than ${most} installations were matched to this visit today. Either its install command was passed on, or its receipt was.`,
    })
  } catch (error) {
    deps.logger.warn({ err: error }, 'a match could not be counted')
  }
}
