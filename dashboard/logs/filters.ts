/** Filters of a list of Logs: from the query of a request to the parameters of SQL. */

import { referenceHash } from '../../domain/logs/references.ts'
import { ATTEMPT_KIND } from '../../domain/model.ts'
import type { LogPageFilters } from '../../ports/facts/pages/logs.ts'
import { columnFilters } from '../reads/column-filters.ts'

const LINE_COLUMNS = { code: 'code', path: 'path', text: 'text' } as const
const REQUEST_COLUMNS = { kind: 'kind', origin: 'origin' } as const

/** Filters of each direction; null: no line of it can fit. */
export interface DirectedFilters {
  readonly requests: LogPageFilters | null
  readonly attempts: LogPageFilters | null
}

/** What a list of Logs is filtered by, beside its websites and its period. */
type LineFilters = Readonly<
  Partial<Record<'direction' | 'status' | 'code' | 'path' | 'kind' | 'origin' | 'reference' | 'text', string>>
>

export function directedFilters(values: LineFilters): DirectedFilters {
  const { direction, kind, origin } = values
  const wantsAttempts = direction !== 'inbound' && (kind === undefined || kind === ATTEMPT_KIND) && origin === undefined
  const wantsRequests = direction !== 'outbound' && kind !== ATTEMPT_KIND
  const references = values.reference?.split(',') ?? null
  const shared = { ...statusBounds(values.status), ...columnFilters<LogPageFilters>(values, LINE_COLUMNS) }
  return {
    requests: wantsRequests
      ? {
          ...shared,
          ...columnFilters<LogPageFilters>(values, REQUEST_COLUMNS),
          ...(references === null ? {} : { refs: references.map(referenceHash) }),
        }
      : null,
    attempts: wantsAttempts ? { ...shared, ...(references === null ? {} : { references }) } : null,
  }
}

function statusBounds(status: string | undefined): { readonly status_from?: number; readonly status_to?: number } {
  if (status === undefined) return {}
  const hundreds = status === 'none' ? 0 : Number(status[0]) * 100
  return { status_from: hundreds, status_to: status === 'none' ? 0 : hundreds + 99 }
}
