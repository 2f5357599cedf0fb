/** The report of `make scale`, as Markdown. */

import { daysOf, type ScaleShape } from '../../fixtures/scale/shape.ts'
import type { CheckReport } from './checks.ts'
import { turnOf, type MeasuredStatement } from './measure.ts'

/** What each statement of a page may take of the engine. */
export const MOST_CPU_MS = 250
const MOST_WRONG_SHOWN = 20
const LONGEST_PARAMS = 160

export interface ScaleReport {
  readonly shape: ScaleShape
  readonly rows: readonly (readonly [table: string, rows: number])[]
  /** Hours of websites that have figures. */
  readonly hours: number
  readonly fillMin: number
  readonly pages: number
  readonly statements: readonly MeasuredStatement[]
  readonly check: CheckReport
  readonly minutes: number
  readonly machine: string
}

export function reportOf(report: ScaleReport): string {
  const { shape, rows, hours, fillMin, pages, statements, check, minutes, machine } = report
  const slow = statements.filter(({ cpuMs }) => cpuMs > MOST_CPU_MS)
  return [
    `${shape.visits.toLocaleString('en')} visits in ${daysOf(shape)} days, on ${machine}: ${minutes.toFixed(0)} minutes, of which ${fillMin.toFixed(0)} to fill the tables and to count ${hours.toLocaleString('en')} hours of websites.`,
    `Rows, with one in 997 inserted twice: ${rows.map(([table, count]) => `${table} ${count.toLocaleString('en')}`).join(', ')}.`,
    '',
    `${pages} pages ran ${statements.length} different statements; ${statements.length - slow.length} of these took at most ${MOST_CPU_MS} ms of the engine's processor time.`,
    `${check.compared.toLocaleString('en')} numbers on pages were compared with a count over all rows; ${check.wrong.length} were wrong.`,
    '',
    '| Statement | Who waits | Measured | Median, ms | Longest, ms | Rows of the longest |',
    '| --- | --- | --- | --- | --- | --- |',
    ...[...Map.groupBy(statements, ({ name }) => name)]
      .map(([name, some]) => ({ name, some: some.toSorted((a, b) => b.cpuMs - a.cpuMs) }))
      .toSorted((a, b) => (b.some[0]?.cpuMs ?? 0) - (a.some[0]?.cpuMs ?? 0))
      .map(({ name, some }) => {
        const middle = some[Math.floor(some.length / 2)]
        const cells = [some.length, middle?.cpuMs.toFixed(0), some[0]?.cpuMs.toFixed(0), some[0]?.rows]
        return `| \`${name}\` | ${turnOf(name)} | ${cells.join(' | ')} |`
      }),
    ...slowest(slow),
    ...check.wrong
      .slice(0, MOST_WRONG_SHOWN)
      .map(({ what, shown, counted }) => `- ${what}: ${shown}, counted ${counted}`),
    '',
  ].join('\n')
}

function slowest(slow: readonly MeasuredStatement[]): readonly string[] {
  if (slow.length === 0) return []
  const lines = slow
    .toSorted((a, b) => b.cpuMs - a.cpuMs)
    .map(
      ({ name, params, cpuMs }) =>
        `- ${cpuMs.toFixed(0)} ms: \`${name}\` ${JSON.stringify(params).slice(0, LONGEST_PARAMS)}`,
    )
  return ['', `Above ${MOST_CPU_MS} ms:`, '', ...lines]
}
