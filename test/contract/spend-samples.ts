/** Records of imports of ad spend, as the dashboard and the command write them. */

import type { LogRecord } from '../../domain/records.ts'
import { SpendEntries } from '../../domain/spend/spend-import.ts'

/** Day, source, campaign, amount in the smallest unit, currency. */
export type SampleSpend = readonly [day: string, source: string, campaign: string, amount: number, currency?: string]

export interface SampleImport {
  readonly website: string
  readonly organization: string
  /** Unix ms; decides which of several imports counts. */
  readonly atMs: number
  readonly rows: readonly SampleSpend[]
}

export function spendRecords({ website, organization, atMs, rows }: SampleImport): readonly LogRecord[] {
  const entries = new SpendEntries({
    id: spendId(atMs),
    organization,
    website,
    importedAtMs: atMs,
    importedBy: '',
    fileName: 'spend.csv',
    retentionDays: 395,
  })
  for (const [index, [day, source, campaign, amount, currency = 'EUR']] of rows.entries())
    entries.add({ line: index + 2, dayMs: Date.parse(day), source, campaign, currency, amount })
  return entries.finish().entries.map(({ value }) => JSON.parse(value) as LogRecord)
}

/** The ID of an import at that time. */
export function spendId(atMs: number): string {
  return atMs.toString(16).padStart(12, '0') + '0'.repeat(16)
}

/** The record of its removal. */
export function spendRemoval(sample: SampleImport): LogRecord {
  const found = spendRecords(sample).at(-1)
  if (found?.kind !== 'spend' || found.holds !== 'import') throw new Error('an import is the last record')
  return { ...found, isRemoved: true }
}
