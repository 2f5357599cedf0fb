/** Events as they were counted and stored, in the form in which they are judged. */

import { byReceipt, type InstallationHistory, type JudgedEvent } from '../../domain/figures/install-kinds.ts'
import { EVENT_TYPES } from '../../domain/model.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { StoredCountRow } from '../../ports/facts/counting.ts'

export type CountedInstallRow = RowOf<'counted_installs'>

/** An event to be judged, with its row. */
export interface RowEvent extends JudgedEvent {
  readonly row: CountedInstallRow
  /** Empty if it has none. */
  readonly visitId: string
}

export function rowOfCount(stored: StoredCountRow): CountedInstallRow {
  const {
    received_at_ms: received_at,
    visit_issued_at_ms: visit_issued_at,
    installed_before_ms: installed_before,
    ...columns
  } = stored
  return { ...columns, received_at, visit_issued_at, installed_before }
}

export function judgedEventOf(row: CountedInstallRow): RowEvent {
  return {
    row,
    eventId: row.event_id,
    // One that a later release knows begins nothing that this one counts.
    eventType: EVENT_TYPES.find((type) => type === row.event_type) ?? 'install_started',
    receivedAtMs: row.received_at,
    productVersion: row.product_version,
    visitId: row.visit_id,
  }
}

interface KnownBefore {
  readonly receivedAtMs: number
  readonly before: InstallationHistory
}

/** The first of these events of an installation, with what was known before it; undefined if there is none. */
export function firstStored(events: readonly RowEvent[]): KnownBefore | undefined {
  const [first] = events.toSorted(byReceipt)
  if (first === undefined) return undefined
  const { installed_before: installedAtMs, is_begun_by_run: isBegunByRun, version_before: version } = first.row
  return { receivedAtMs: first.receivedAtMs, before: { installedAtMs, isBegunByRun, version } }
}
