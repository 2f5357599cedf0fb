/** Ranges of visit IDs by time: the tables of visits are ordered by them, so that a range reads nothing else. */

import { VISIT_ID_PREFIXES } from '../../../domain/receipt.ts'

/** Hex digits of a time within a visit ID. */
const TIME_DIGITS = 12

const timeDigits = (parameter: string): string => `leftPad(lower(hex({${parameter}:UInt64})), ${TIME_DIGITS}, '0')`

/**
 * Visits issued from `{from}` on and before `{until}`, which name parameters in Unix ms, as a condition on `visit_id`
 * that uses the order of the table.
 */
export function issuedBetween(from: string, until: string): string {
  const ranges = VISIT_ID_PREFIXES.map(
    (prefix) =>
      `(visit_id >= concat('${prefix}', ${timeDigits(from)}) AND visit_id < concat('${prefix}', ${timeDigits(until)}))`,
  )
  return `(${ranges.join(' OR ')})`
}
