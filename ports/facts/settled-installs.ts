/** The part of an install that the hot state remembers, from its row. */

import { matchedVisit } from '../../domain/collection/install.ts'
import type { DecidedAnswer } from '../hot-state/hot-state.ts'
import type { SettledInstallRow } from './query-rows.ts'

export function settledInstallOf(row: SettledInstallRow): DecidedAnswer {
  const { organization, website, visit_id: visitId, visit_issued_at_ms: visitIssuedAtMs, gpc } = row
  return {
    organization,
    website,
    eventId: row.event_id,
    installationId: row.installation_id,
    receivedAtMs: row.received_at_ms,
    answer: row.answer,
    matched: matchedVisit({
      organization,
      website,
      visitId: visitId === '' ? null : visitId,
      visitIssuedAtMs,
      gpc,
    }),
  }
}
