/**
 * Erases everything that is stored about an organisation: before its name is given to another owner, or because it left. Whatever was
 * recorded until then stays erased, even if the log is processed again.
 */

import { LIMITS } from '../../domain/limits.ts'
import { ERASED_WHOLE, type ErasedRows } from '../../ports/facts/erasure/names.ts'
import type { ErasureCounter } from '../../ports/facts/facts.ts'
import { erasureRow, untilWritten, type ErasureDeps, type RememberedErasure } from './erase.ts'

export interface OrganizationErasure {
  readonly organization: string
  /** Before it was erased. */
  readonly rows: ErasedRows
  readonly remembered: readonly RememberedErasure[]
}

/** What would be erased; changes nothing. */
export async function planOrganizationErasure(
  facts: ErasureCounter,
  organization: string,
): Promise<OrganizationErasure> {
  return { organization, rows: await facts.countOrganization(organization), remembered: [] }
}

/** Rejects like `erase`. It may be repeated. */
export async function eraseOrganization(deps: ErasureDeps, organization: string): Promise<OrganizationErasure> {
  const { facts } = deps
  const { rows } = await planOrganizationErasure(facts, organization)
  // Clocks of machines differ: what was answered before this call is older than that.
  const erasedAtMs = deps.nowMs() + LIMITS.clockSkewMs
  const remembered = { ...ERASED_WHOLE, organization, erasedAtMs }
  await facts.insert('erasures', [erasureRow(remembered)])
  await untilWritten(deps)
  await facts.eraseOrganization(organization)
  return { organization, rows, remembered: [remembered] }
}
