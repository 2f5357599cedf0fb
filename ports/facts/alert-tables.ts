/** The table of alerts: one row when it was opened, and one when it was closed. */

import { KEPT } from './column-types.ts'

export const ALERT_TABLES = {
  alerts: {
    columns: {
      organization: 'text',
      website: 'text',
      id: 'text',
      state: 'text',
      rule: 'text',
      arrival: 'text',
      period: 'text',
      at: 'time',
      value: 'float',
      expected: 'float',
      threshold: 'float',
      end: 'text',
      catalog_number: 'uint64',
      ...KEPT,
    },
    partitionedBy: null,
  },
} as const
