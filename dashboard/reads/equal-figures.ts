/**
 * Figures that several people look at are counted once. A statement that began in the last second, or that still runs, answers
 * everybody who asks for the same.
 */

import { BoundedMap } from '../../common/bounded-map.ts'
import { unlessAborted, reasonOf } from '../../common/deadline.ts'
import type { Facts, FactsReader } from '../../ports/facts/facts.ts'
import type { QueryName } from '../../ports/facts/queries.ts'

type Run = Facts['run']

/** Statements whose rows are counts. Lists are never shared: whoever changed something sees it. */
const SHARED: ReadonlySet<QueryName> = new Set<QueryName>([
  'firstHour',
  'firstVersions',
  'visitSteps',
  'valueSteps',
  'trackedSteps',
  'rolledSteps',
  'rolledCells',
  'funnelCells',
  'trackedCells',
  'countedByHour',
  'installsByQuarter',
  'installsByValue',
  'installsByAge',
  'installsLeftOut',
  'installsByAgentPage',
  'installsBySourceCampaign',
  'deliveryCells',
])
const SHARED_MS = 1_000
const MOST_STATEMENTS = 50

interface SharedStatement {
  readonly rows: Promise<readonly unknown[]>
  readonly startedAtMs: number
  readonly stop: AbortController
  /** People who wait for it. The last one who leaves ends it. */
  waiting: number
  isRunning: boolean
}

/** The same `run`, with equal statements of figures shared. `elapsedMs` is a clock that never goes back. */
export function shareFigures(facts: FactsReader, elapsedMs: () => number): Run {
  const statements = new BoundedMap<string, SharedStatement>(MOST_STATEMENTS)

  function begin(key: string, ask: (signal: AbortSignal) => Promise<readonly unknown[]>): SharedStatement {
    const stop = new AbortController()
    const rows = ask(stop.signal)
    const statement = { rows, startedAtMs: elapsedMs(), stop, waiting: 0, isRunning: true }
    statements.set(key, statement)
    rows.then(
      () => {
        statement.isRunning = false
        // Rows of figures can be 20,000: they leave the memory as soon as nobody may have them any more.
        setTimeout(() => forget(key, statement), SHARED_MS).unref()
      },
      // A failure is for those who waited for it; the next one asks again.
      () => forget(key, statement),
    )
    return statement
  }

  function forget(key: string, statement: SharedStatement): void {
    statement.isRunning = false
    if (statements.get(key) === statement) statements.delete(key)
  }

  function known(key: string): SharedStatement | undefined {
    const statement = statements.get(key)
    return statement !== undefined && (statement.isRunning || elapsedMs() - statement.startedAtMs < SHARED_MS)
      ? statement
      : undefined
  }

  return async (query, params, { signal, share, kept } = {}) => {
    if (!SHARED.has(query)) return facts.run(query, params, { signal, share, kept })
    signal?.throwIfAborted()
    const key = `${query} ${JSON.stringify([params, kept])}`
    const statement = known(key) ?? begin(key, (stopped) => facts.run(query, params, { signal: stopped, share, kept }))
    statement.waiting += 1
    try {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the key of a statement names its query
      return (await rowsUnlessAborted(statement, signal)) as Awaited<ReturnType<typeof facts.run<typeof query>>>
    } finally {
      statement.waiting -= 1
      if (statement.waiting === 0 && statement.isRunning) {
        forget(key, statement)
        statement.stop.abort()
      }
    }
  }
}

function rowsUnlessAborted({ rows }: SharedStatement, signal?: AbortSignal): Promise<readonly unknown[]> {
  return signal === undefined
    ? rows
    : unlessAborted(
        signal,
        () => rows,
        () => reasonOf(signal),
      )
}
