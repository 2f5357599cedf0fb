/** Which rows `whencectl logs` and `whencectl installs` are asked for: from flags to the filters that the dashboard's lists take too. */

import { INSTALL_LIST_QUERY } from '../../../dashboard/api/installs.ts'
import { LOG_LIST_QUERY } from '../../../dashboard/api/logs.ts'
import { installFilters } from '../../../dashboard/installs/list.ts'
import { directedFilters, type DirectedFilters } from '../../../dashboard/logs/filters.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import type { FigureFilter } from '../../../domain/figures/filters.ts'
import { RECEIPT_OR_TOKEN } from '../../../domain/receipt.ts'
import { checkSchema } from '../../../domain/schema/check-schema.ts'
import { keysOf } from '../../../domain/typed-keys.ts'
import type { JsonSchema } from '../../../domain/schema/json-schema.ts'
import type { InstallFilters } from '../../../ports/facts/pages/installs.ts'
import type { CommandArguments } from '../../../runtime/settings/settings.ts'
import { complain } from '../../terminal/output.ts'
import { momentOf } from '../flags.ts'

/** Further ahead than any clock. */
export const FAR_MS = DAY_MS

/** Flags by the name that the API has for the same filter. */
const LOG_FLAGS = {
  direction: '--direction',
  status: '--status',
  code: '--code',
  path: '--path',
  kind: '--kind',
  origin: '--origin',
  reference: '--reference',
  text: '--text',
} as const
const INSTALL_FLAGS = {
  resolution: '--resolution',
  reason: '--reason',
  policy: '--policy',
  visit: '--visit',
  eventType: '--event-type',
} as const
/** Each is the exact value of a dimension. */
const VALUE_FLAGS = {
  path: '--path',
  platform: '--platform',
  agent: '--agent',
  source: '--source',
  medium: '--medium',
  campaign: '--campaign',
  referrer: '--referrer',
  page: '--page',
} as const

/** Null, with a message on standard error, if a flag is invalid. */
export function logFlags(run: CommandArguments): DirectedFilters | null {
  const values = valuesOf(run, LOG_FLAGS, LOG_LIST_QUERY)
  if (values?.['reference']?.split(',').some((text) => RECEIPT_OR_TOKEN.test(text)) === true) {
    complain('Receipts and tokens are stored as hashes, so none is found; search for the ID of the visit.\n')
  }
  if (values === null) return null
  const filters = directedFilters(values)
  if (filters.requests === null && filters.attempts === null)
    complain('No line fits all flags: attempts are outbound, of the kind delivery, and have no origin.\n')
  return filters
}

/** Null, with a message on standard error, if a flag is invalid. */
export function installFlags(run: CommandArguments): InstallFilters | null {
  const values = valuesOf(run, INSTALL_FLAGS, INSTALL_LIST_QUERY)
  if (values === null) return null
  const filters = keysOf(VALUE_FLAGS).flatMap((dimension): FigureFilter[] => {
    const value = run.flags.get(VALUE_FLAGS[dimension])
    return value === undefined ? [] : [{ dimension, op: 'is', values: [value] }]
  })
  return installFilters(values, filters)
}

/** The period of `--since` and `--until`; null, with a message on standard error, if one is invalid. */
export function listPeriodOf(
  run: CommandArguments,
  nowMs: number,
): { readonly since_ms: number; readonly until_ms: number } | null {
  const since = momentOf(run, '--since', nowMs)
  const until = momentOf(run, '--until', nowMs)
  if (since === null || until === null) return null
  const period = { since_ms: since ?? 0, until_ms: until ?? nowMs + FAR_MS }
  if (period.since_ms < period.until_ms) return period
  complain('--since must be before --until\n')
  return null
}

function valuesOf(
  run: CommandArguments,
  flags: Readonly<Record<string, string>>,
  schemas: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, string>> | null {
  const values: Record<string, string> = {}
  for (const [name, flag] of Object.entries(flags)) {
    const value = run.flags.get(flag)
    if (value === undefined) continue
    const schema = schemas[name]
    const [finding] = schema === undefined ? [] : checkSchema(schema, value)
    if (finding !== undefined) {
      const allowed = schema?.enum
      complain(`${flag} ${allowed === undefined ? finding.message : `must be one of ${allowed.join(', ')}`}\n`)
      return null
    }
    values[name] = value
  }
  return values
}
