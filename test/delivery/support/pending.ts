/** A pending install and what the facts may say of it later. */

import type { Install, OpenCandidate } from '../../../domain/model.ts'
import type { DecisionRow, InstallationVisitRow, ReceiptHistoryRow } from '../../../ports/facts/query-rows.ts'
import { HOUR_MS, installOf, NOON_MS, visitOf, WEBSITE } from '../../../fixtures/delivery/builders.ts'

/** With one receipt that could not be judged, that of the builders' visit. */
export function pendingInstall(overrides: Partial<Install> = {}): Install {
  const { visitId, issuedAtMs } = visitOf()
  const openCandidates = [{ visitId, issuedAtMs, gpc: false, isDecided: false }]
  return installOf({
    overrides: {
      resolution: 'pending',
      openCandidates,
      verdicts: verdictsOf(overrides.openCandidates ?? openCandidates),
      ...overrides,
    },
  })
}

function verdictsOf(candidates: readonly OpenCandidate[]): Install['verdicts'] {
  return candidates.map(({ visitId, issuedAtMs, isDecided }) => ({
    visitId,
    issuedAtMs,
    verdict: isDecided ? 'active' : 'undecided',
  }))
}

/** Activated an hour before the install. */
export function activeHistory(overrides: Partial<ReceiptHistoryRow> = {}): ReceiptHistoryRow {
  return {
    organization: 'acme',
    website: WEBSITE,
    visit_id: visitOf().visitId,
    activated_at_ms: NOON_MS - HOUR_MS,
    revoked_at_ms: null,
    previous_visit_id: '',
    ...overrides,
  }
}

export function decisionRow(
  install: Install,
  visit: { readonly visitId: string; readonly visitIssuedAtMs: number },
): DecisionRow {
  return {
    organization: 'acme',
    website: install.website,
    event_id: install.eventId,
    installation_id: install.installationId,
    received_at_ms: install.receivedAtMs,
    resolution: 'matched',
    selection_policy: 'latest_visit',
    candidate_count: 1,
    visit_id: visit.visitId,
    visit_issued_at_ms: visit.visitIssuedAtMs,
    gpc: false,
    verdicts: '[]',
    reason: '',
    deliveries: JSON.stringify(install.deliveries),
    answer: JSON.stringify({ ...install.answer, resolution: 'matched' }),
  }
}

/** An earlier event of the same installation, matched to the builders' visit. */
export function matchRow(install: Install, overrides: Partial<InstallationVisitRow> = {}): InstallationVisitRow {
  const { visitId, issuedAtMs } = visitOf()
  return {
    organization: 'acme',
    website: install.website,
    installation_id: install.installationId,
    event_id: 'event-before',
    received_at_ms: install.receivedAtMs - HOUR_MS,
    resolution: 'matched',
    visit_id: visitId,
    visit_issued_at_ms: issuedAtMs,
    gpc: false,
    ...overrides,
  }
}
