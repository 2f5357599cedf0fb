/** Rows of figures: what people read of each, and the installs and visits that it counts. */

import { ROW_LABELS, type FigureRow, type InstallDimension, type RowKind } from '../../domain/figures/installs.ts'
import type { ShownInstallFilters } from '../data/installs.ts'
import { valueIs } from '../data/value-filters.ts'
import type { ShownVisitFilters } from '../data/visits.ts'

/** What a row without a value is called, by dimension where there is a better word. */
export function rowLabel(by: InstallDimension, row: Exclude<RowKind, 'value'>): string {
  if (row !== 'none') return ROW_LABELS[row]
  if (by === 'agent') return 'Human'
  return by === 'country' ? 'Unknown' : ROW_LABELS.none
}

/** Installs without a visit are rows of their own, which have none. */
export function isOfInstallsAlone({ row }: FigureRow): boolean {
  return row === 'not_known' || OUTCOMES[row] !== undefined
}

const OUTCOMES: Readonly<Partial<Record<RowKind, string>>> = {
  no_visit: 'unmatched',
  not_looked_up: 'counted',
  pending: 'pending',
}

/** The installs of a row; null if no list can hold just these. */
export function installsOfRow(by: InstallDimension, { row, value }: FigureRow): ShownInstallFilters | null {
  if (row === 'other' || row === 'not_known') return null
  const outcome = OUTCOMES[row]
  return { kind: 'install', ...(outcome === undefined ? valueIs(by, value) : { resolution: outcome }) }
}

/** The visits of a row; null likewise. */
export function visitsOfRow(by: InstallDimension, { row, value }: FigureRow): ShownVisitFilters | null {
  return row === 'other' || isOfInstallsAlone({ row, value }) ? null : valueIs(by, value)
}
