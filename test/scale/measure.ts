/** Notes which statements pages run, and measures each of them alone. */

import { FactsUnavailable, type Facts, type FactsReader } from '../../ports/facts/facts.ts'
import { QUERIES, type QueryName } from '../../ports/facts/queries.ts'
import { PAGE_QUERIES } from '../../ports/facts/pages/pages.ts'
import { median } from '../../bench/support/rounds.ts'

/** A statement that takes so long is measured twice more: then its figure is the median of three rounds. */
const AGAIN_MS = 50
const ROUNDS = 3
const MOST_TRIES = 5

export interface Statement {
  readonly name: QueryName
  readonly params: object
}

export interface MeasuredStatement extends Statement {
  /** Processor time of the engine's threads. */
  readonly cpuMs: number
  readonly rows: number
}

/** Facts that note each different statement that is read through them. */
export function noting(facts: Facts): {
  readonly facts: FactsReader
  readonly statements: () => readonly Statement[]
} {
  const noted = new Map<string, Statement>()
  const run: Facts['run'] = (name, params, options) => {
    noted.set(`${name} ${JSON.stringify(params)}`, { name, params })
    return facts.run(name, params, options)
  }
  return { facts: { run }, statements: () => [...noted.values()] }
}

/** Statements of pages that no page has run. */
export function unseenStatements(statements: readonly Statement[]): readonly string[] {
  const seen = new Set<string>(statements.map(({ name }) => name))
  return Object.keys(PAGE_QUERIES).filter((name) => !seen.has(name))
}

/** Nothing else may run in this process meanwhile, and merges must be stopped. */
export async function measureStatement(facts: Facts, { name, params }: Statement): Promise<MeasuredStatement> {
  const rounds: number[] = []
  let rows = 0
  for (let round = 0; round < ROUNDS; round++) {
    const all = process.cpuUsage()
    const main = process.threadCpuUsage()
    rows = await rowsOf(facts, { name, params })
    const usedInAll = process.cpuUsage(all)
    const usedInMain = process.threadCpuUsage(main)
    rounds.push((usedInAll.user + usedInAll.system - usedInMain.user - usedInMain.system) / 1_000)
    if ((rounds[0] ?? 0) < AGAIN_MS) break
  }
  return { name, params, rows, cpuMs: median(rounds) }
}

/** What the clock cut off, because other programs had the processor, is run again; its processor time then counts twice. */
async function rowsOf(facts: Facts, { name, params }: Statement, tries = MOST_TRIES): Promise<number> {
  try {
    return (await facts.run(name, params as never)).length
  } catch (error) {
    if (!(error instanceof FactsUnavailable) || tries === 1) throw error
    return rowsOf(facts, { name, params }, tries - 1)
  }
}

/** A page may also run look-ups, which requests wait for. */
export const turnOf = (name: QueryName): string => QUERIES[name].turn
