/** Gathers an install's facts: its candidates, its visits, and each delivery with its attempts. */

import { areVerdicts, areDeliveryPlans } from '../../../domain/collection/stored-install.ts'
import { parsedAs } from '../../../domain/guards.ts'
import type { CandidateVerdict, DeliveryPlan } from '../../../domain/model.ts'
import type { AttemptRow, DeliveryRow, InstallRow, VisitRow } from '../../../ports/facts/query-rows.ts'
import { ownersOf } from '../../../ports/facts/query-parts.ts'
import type { ToolStores } from '../live.ts'

export interface Explanation {
  readonly install: InstallRow
  /** Damaged columns of the install; their content is left out. */
  readonly unread: readonly string[]
  readonly verdicts: readonly CandidateVerdict[]
  readonly plans: readonly DeliveryPlan[]
  /** The visits of the receipts, as far as they are known. */
  readonly visits: readonly VisitRow[]
  /** How many installations are matched to the same visit, this one included; 0 if the install has no visit. */
  readonly installationsOfVisit: number
  readonly deliveries: readonly DeliveryRow[]
  readonly attempts: readonly AttemptRow[]
}

export async function explainInstall(backend: ToolStores, install: InstallRow): Promise<Explanation> {
  const told = parsedAs(areVerdicts, install.verdicts)
  const plans = parsedAs(areDeliveryPlans, install.deliveries)
  const verdicts = told ?? []
  const ids = new Set(verdicts.flatMap(({ visitId }) => (visitId === null ? [] : [visitId])))
  if (install.visit_id !== '') ids.add(install.visit_id)
  const owned = { organization: install.organization, website: install.website }
  const key = { ...owned, event_id: install.event_id }
  const keys = { ...ownersOf([...ids].map(() => owned)), visit_ids: [...ids] }
  const [visits, installations, deliveries, attempts] = await Promise.all([
    ids.size === 0 ? [] : backend.run('visitsByIds', keys),
    installationsOfVisit(backend, install),
    backend.run('deliveriesOfInstall', key),
    backend.run('attemptsOfInstall', key),
  ])
  return {
    install,
    verdicts,
    unread: [...(told === null ? ['verdicts'] : []), ...(plans === null ? ['deliveries'] : [])],
    plans: plans ?? [],
    visits,
    installationsOfVisit: installations,
    deliveries,
    attempts,
  }
}

async function installationsOfVisit(backend: ToolStores, install: InstallRow): Promise<number> {
  const { organization, website, visit_id, visit_issued_at_ms: sinceMs } = install
  if (visit_id === '') return 0
  const asked = { organization, website, visit_id, since_ms: sinceMs ?? 0 }
  const [row] = await backend.run('installationsOfVisit', asked)
  return row?.installations ?? 0
}
