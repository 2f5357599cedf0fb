/** Turns the filters that a query names into those of SQL. */

import type { QueryValues } from '../http/call.ts'

/** `columns` says which filter of SQL each parameter is; one that the query does not name is left out. */
export function columnFilters<Filters extends object>(
  values: QueryValues,
  columns: Readonly<Record<string, keyof Filters>>,
): Partial<Filters> {
  const named = Object.entries(columns).filter(([name]) => values[name] !== undefined)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the table says which column each value is for
  return Object.fromEntries(named.map(([name, column]) => [column, values[name]])) as Partial<Filters>
}
