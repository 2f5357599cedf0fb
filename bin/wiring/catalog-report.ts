/** Writes an activity entry for each problem of a changed folder, for `whence activity` and the log. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createRandomness, timeOrderedId } from '../../runtime/random.ts'

/** An entry stands under no organisation where nothing tells which one the object belongs to. */
export function reportCatalog(options: {
  readonly catalog: CatalogSource
  readonly eventLog: Pick<EventLog, 'append'>
  readonly nowMs: () => number
}): void {
  const { catalog, eventLog, nowMs } = options
  const randomness = createRandomness()
  let known = new Set<string>()
  const report = (problems: readonly CatalogProblem[]): void => {
    const fresh = problems.filter((problem) => !known.has(identityOf(problem)))
    known = new Set(problems.map(identityOf))
    const entries = fresh.map((problem) => {
      const atMs = nowMs()
      const { organization = '' } = problem
      const logRetentionDays = catalog.current().organizations.get(organization)?.logRetentionDays
      const record: ActivityRecord = {
        v: 1,
        kind: 'activity',
        id: timeOrderedId(randomness, atMs),
        atMs,
        organization,
        website: '',
        type: 'catalog_problem',
        subject: problem.object,
        message: [problem.source, problem.field, problem.message].filter((part) => part !== '').join(': '),
        logRetentionDays: logRetentionDays ?? LIMITS.logRetentionDays.fallback,
      }
      return { key: recordKey('', record.id), value: encodeRecord(record) }
    })
    // If the log refuses the entry, the terminal and /health still show the problem.
    if (entries.length > 0) eventLog.append('activity', entries).catch(() => undefined)
  }
  report(catalog.problems())
  catalog.onChange(({ problems }) => report(problems))
}

function identityOf(problem: CatalogProblem): string {
  return [problem.object, problem.source, problem.field, problem.reason, problem.message].join('\n')
}
