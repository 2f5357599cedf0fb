/** Lists imports of ad spend, and removes one. */

import { listOf, isNumber, isText, parsedAs, shapeOf } from '../../domain/guards.ts'
import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { encodeRecord, recordKey } from '../../domain/records.ts'
import { placesOf } from '../../domain/spend/currencies.ts'
import type { SpendImportRecord, SpendTotal } from '../../domain/spend/spend-records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { SpendImportRow } from '../../ports/facts/pages/spend.ts'
import type { NoteActivity } from '../events/activity.ts'
import { answer, DONE, type CallTo } from '../http/call.ts'
import type { ReadScope } from '../reads/scope.ts'

export function listSpendImports({ scope }: { readonly scope: ReadScope }) {
  return scope(async ({ run }) => {
    const rows = await run('spendImports', { limit: LIMITS.spendImportsListed })
    return answer({ imports: rows.map((row) => shownImport(importOfRow(row))) })
  })
}

export interface RemovalParts {
  readonly scope: ReadScope
  readonly eventLog: LogWriter
  readonly noteActivity: NoteActivity
}

/** Rejects like `EventLog.append`. An import that is removed already is not found. */
export function removeSpend({ scope, eventLog, noteActivity }: RemovalParts) {
  return scope(async ({ organization, run }, call: CallTo<'removeSpend'>) => {
    const [row] = await run('spendImportById', { id: call.params.import })
    if (row === undefined || row.is_removed) return refuse('not_found')
    const found = importOfRow(row)
    await appendRemoval(eventLog, found)
    await noteActivity({
      ...spendActivity(found, 'spend_removed'),
      actor: call.session.person,
      logRetentionDays: organization.logRetentionDays,
    })
    return DONE
  })
}

/** Resolves once the removal cannot be lost. */
export async function appendRemoval(eventLog: LogWriter, found: SpendImportRecord): Promise<void> {
  const value = encodeRecord({ ...found, isRemoved: true })
  await eventLog.append('spend', [{ key: recordKey(found, found.id), value }])
}

const ACTIVITY = {
  spend_imported: (rows: number) => `Ad spend of ${rows} rows was imported.`,
  spend_removed: (rows: number) => `An import of ad spend of ${rows} rows was removed.`,
}

export type SpendActivity = keyof typeof ACTIVITY

/** What the activity says of an import, whoever imported or removed it. */
export function spendActivity({ organization, website, id, rows }: SpendImportRecord, type: SpendActivity) {
  return { organization, website, type, subject: id, message: ACTIVITY[type](rows) }
}

const areTotals = listOf(shapeOf<SpendTotal>({ currency: isText, amount: isNumber }))

export function importOfRow(row: SpendImportRow): SpendImportRecord {
  const { id, organization, website, rows } = row
  return {
    v: 1,
    kind: 'spend',
    holds: 'import',
    id,
    organization,
    website,
    importedAtMs: row.imported_at_ms,
    importedBy: row.imported_by,
    fileName: row.file_name,
    rows,
    firstDayMs: row.first_day_ms,
    lastDayMs: row.last_day_ms,
    totals: parsedAs(areTotals, row.totals) ?? [],
    isRemoved: row.is_removed,
    retentionDays: row.retention_days,
  }
}

export function shownImport({ id, website, fileName, rows, totals, ...record }: SpendImportRecord) {
  return {
    id,
    website,
    importedAt: record.importedAtMs,
    importedBy: record.importedBy,
    fileName,
    rows,
    firstDay: dayText(record.firstDayMs),
    lastDay: dayText(record.lastDayMs),
    totals: totals.map(({ currency, amount }) => ({ currency, places: placesOf(currency), amount })),
  }
}

/** A day of an advertising account, such as `2026-11-30`. */
export function dayText(dayMs: number): string {
  return new Date(dayMs).toISOString().slice(0, 10)
}
