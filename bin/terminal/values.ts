/** Rows of facts as tools print them with `--json`: what a column holds as the text of a list or an object is one. */

import { readJsonColumn } from '../../common/json-column.ts'

const TEXT_OF_VALUES: ReadonlySet<string> = new Set([
  'verdicts',
  'deliveries',
  'answer',
  'arch',
  'default_browser',
  'timezone',
  'language',
  'identities',
  'client',
])

/** What is no JSON stays the text that it is: of a fact about the machine a single value, of other columns damage. */
export function withValues(row: object): object {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]: [string, unknown]) => [
      name,
      TEXT_OF_VALUES.has(name) && typeof value === 'string' ? (readJsonColumn(value) ?? value) : value,
    ]),
  )
}
