/**
 * Whether an installation was matched before: from the hot state, or from ClickHouse if the hot state may have
 * forgotten.
 */

import { LIMITS } from '../../domain/limits.ts'
import type { KnownInstallation } from '../../domain/collection/resolve.ts'
import type { Claim, Installation } from '../../ports/hot-state/hot-state.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import type { ApiDeps } from '../deps.ts'
import { areFactsBehind, inTime } from './look-up.ts'

/** Before any look-up: what the hot state knows for certain. */
export function knownInstallation(installation: Installation): KnownInstallation {
  if (installation.kind === 'matched' || installation.kind === 'none') return installation
  return { kind: 'undecided' }
}

/** `undecided` if ClickHouse is unreachable or behind, or if its last event is pending. */
export async function lookUpInstallation(
  { organization, website, installationId }: Claim,
  deps: ApiDeps,
  nowMs: number,
): Promise<KnownInstallation> {
  deps.metrics.lookup('installations')
  const sinceMs = nowMs - LIMITS.receiptLifetimeMs
  const asked = {
    organizations: [organization],
    websites: [website],
    installation_ids: [installationId],
    since_ms: sinceMs,
  }
  const ask = async (): Promise<KnownInstallation> => {
    if (await areFactsBehind(['installs'], deps.eventLog)) return { kind: 'undecided' }
    const [latest] = await deps.facts.run('installationVisits', asked)
    return latest === undefined ? { kind: 'none' } : matchOf(latest)
  }
  return inTime(ask()).catch((error: unknown): KnownInstallation => {
    deps.logger.warn({ err: error }, 'an installation could not be looked up')
    return { kind: 'undecided' }
  })
}

function matchOf({
  visit_id: visitId,
  visit_issued_at_ms: issuedAtMs,
  gpc,
}: QueryRow<'installationVisits'>): KnownInstallation {
  return issuedAtMs === null ? { kind: 'undecided' } : { kind: 'matched', visit: { visitId, issuedAtMs, gpc } }
}
