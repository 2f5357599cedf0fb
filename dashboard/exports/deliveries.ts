/** Deliveries as CSV, each with the answer to its last attempt. */

import type { Refusal } from '../../domain/errors.ts'
import { timeZone } from '../../domain/time-zones.ts'
import { deliveryFilters, deliveryPeriod, readDeliveryPage, type AnsweredDelivery } from '../installs/deliveries.ts'
import type { OrganizationFacts } from '../reads/scope.ts'
import { isoTime, isoTimeOrNull, type AskedOfTable, type ListedTable } from './table.ts'

/** Each statement merges all deliveries of the period, so pages are long. */
const PAGE_ROWS = 5_000

const COLUMNS: ListedTable<AnsweredDelivery>['columns'] = {
  changed_at: ({ delivery }) => isoTime(delivery.changed_at_ms),
  website: ({ delivery }) => delivery.website,
  event_id: ({ delivery }) => delivery.event_id,
  destination: ({ delivery }) => delivery.destination,
  provider: ({ delivery }) => delivery.provider,
  job_id: ({ delivery }) => delivery.job_id,
  status: ({ delivery }) => delivery.status,
  reason: ({ delivery }) => delivery.reason,
  detail: ({ delivery }) => delivery.detail,
  attempts: ({ delivery }) => delivery.attempts,
  next_attempt_at: ({ delivery }) => isoTimeOrNull(delivery.next_attempt_at_ms),
  deadline_at: ({ delivery }) => isoTimeOrNull(delivery.deadline_at_ms),
  last_status: ({ last }) => last?.status ?? null,
  last_code: ({ last }) => last?.code ?? null,
  last_words: ({ last }) => last?.words ?? null,
}

export function deliveryTable(reads: OrganizationFacts, asked: AskedOfTable): ListedTable<AnsweredDelivery> | Refusal {
  const filters = deliveryFilters(asked.query, asked.filters)
  const period = deliveryPeriod(asked, timeZone(reads.organization.timeZone))
  if ('code' in period) return period
  const { since_ms: sinceMs, until_ms: untilMs } = period
  return {
    what: 'deliveries',
    period: { sinceMs, untilMs },
    columns: COLUMNS,
    pageRows: PAGE_ROWS,
    from: { beforeMs: untilMs, beforeId: '' },
    read: (from, limit) => readDeliveryPage(reads, { filters, sinceMs, from, limit }),
  }
}
