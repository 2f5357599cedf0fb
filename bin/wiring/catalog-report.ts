/** Writes an activity entry for each problem of an object, for `whencectl activity` and the log. */

import { sha256Hex } from '../../common/digest.ts'
import { LIMITS } from '../../domain/limits.ts'
import { problemIdentity } from '../../domain/published/problems.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createRandomness, timeOrderedId } from '../../runtime/random.ts'

interface ReportOptions {
  readonly catalog: Pick<CatalogSource, 'current' | 'objectProblems' | 'onChange'>
  readonly eventLog: LogWriter
  readonly nowMs: () => number
  /** Time until entries that the log refused are written again; set by tests. */
  readonly retryMs?: number
}

type Problem = ReturnType<CatalogSource['objectProblems']>[number]

const RETRY_MS = 30_000

/**
 * An entry belongs to no organisation if nothing says which one the object belongs to. What the operator published
 * has a time, from which the entry's time and ID follow: the processes that read the same make one entry together.
 */
export function reportCatalog({ catalog, eventLog, nowMs, retryMs = RETRY_MS }: ReportOptions): void {
  const randomness = createRandomness()
  let written: ReadonlySet<string> = new Set()
  const report = (): void => {
    const problems = new Map(catalog.objectProblems().map((problem) => [reportedIdentity(problem), problem]))
    const fresh = [...problems].filter(([identity]) => !written.has(identity))
    written = new Set(problems.keys())
    if (fresh.length === 0) return
    const entries = fresh.map(([identity, problem]) => {
      const { organizations, number: catalogNumber } = catalog.current()
      const retentionDays = organizations.get(problem.organization ?? '')?.logRetentionDays
      const sinceMs = 'sinceMs' in problem ? problem.sinceMs : undefined
      const hex = sinceMs === undefined ? randomness.hex : () => sha256Hex(identity).slice(0, DERIVED_DIGITS)
      const atMs = sinceMs ?? nowMs()
      return activityEntry(problem, { atMs, id: timeOrderedId({ hex }, atMs), retentionDays, catalogNumber })
    })
    eventLog.append('activity', entries).catch(() => {
      // Until then the terminal, the status and the conditions show it.
      const refused = new Set(fresh.map(([identity]) => identity))
      written = new Set([...written].filter((identity) => !refused.has(identity)))
      setTimeout(report, retryMs).unref()
    })
  }
  report()
  catalog.onChange(report)
}

/** As many as the random ones of other IDs. */
const DERIVED_DIGITS = 16

function reportedIdentity(problem: Problem): string {
  return `${problemIdentity(problem)} ${'sinceMs' in problem ? problem.sinceMs : ''}`
}

function activityEntry(
  problem: Problem,
  {
    atMs,
    id,
    retentionDays,
    catalogNumber,
  }: {
    readonly atMs: number
    readonly id: string
    readonly retentionDays: number | undefined
    readonly catalogNumber: number
  },
) {
  const record: ActivityRecord = {
    v: 1,
    kind: 'activity',
    id,
    atMs,
    organization: problem.organization ?? '',
    website: '',
    type: 'catalog_problem',
    subject: problem.object,
    message: [problem.source, problem.field, problem.message].filter((part) => part !== '').join(': '),
    catalogNumber,
    logRetentionDays: retentionDays ?? LIMITS.logRetentionDays.fallback,
  }
  return { key: recordKey(record, id), value: encodeRecord(record) }
}
