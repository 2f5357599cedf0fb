/** The tables of ad spend. In the order in which they are inserted: an import is there only after its rows. */

import { KEPT } from './column-types.ts'

export const SPEND_TABLES = {
  spend_rows: {
    columns: {
      organization: 'text',
      website: 'text',
      day: 'time',
      import_id: 'text',
      line: 'uint32',
      source: 'text',
      campaign: 'text',
      currency: 'text',
      amount: 'uint64',
      ...KEPT,
    },
    partitionedBy: null,
  },
  spend_imports: {
    columns: {
      organization: 'text',
      website: 'text',
      id: 'text',
      imported_at: 'time',
      imported_by: 'text',
      file_name: 'text',
      rows: 'uint32',
      first_day: 'time',
      last_day: 'time',
      /** JSON of `SpendTotal[]`. */
      totals: 'text',
      is_removed: 'flag',
      ...KEPT,
    },
    partitionedBy: null,
  },
} as const
