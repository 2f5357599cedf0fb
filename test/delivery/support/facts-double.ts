/** Answers dispatch's queries from memory, so that a test decides when something becomes visible. */

import type { Visit } from '../../../domain/collection/visit-fields.ts'
import type { FactsReader } from '../../../delivery/dispatch/reads.ts'
import type { QueryName, QueryParams, QueryRow } from '../../../ports/facts/queries.ts'
import type {
  DecisionRow,
  DispatchedJobRow,
  FirstInstallRow,
  InstallationVisitRow,
  ReceiptHistoryRow,
  VisitRow,
} from '../../../ports/facts/query-rows.ts'
import { visitColumns } from '../../../ports/facts/visits.ts'

export class FactsDouble implements FactsReader {
  readonly visits = new Map<string, Visit>()
  readonly deliveries: DispatchedJobRow[] = []
  readonly firsts: FirstInstallRow[] = []
  readonly decisions: DecisionRow[] = []
  readonly histories: ReceiptHistoryRow[] = []
  /** Newest first. */
  readonly matches: InstallationVisitRow[] = []
  /** Names of the queries run, in order. */
  readonly asked: QueryName[] = []
  isAway = false
  /** Visits whose row says what is no JSON. */
  readonly damaged = new Set<string>()

  async run<Q extends QueryName>(query: Q, params: QueryParams<Q>): Promise<readonly QueryRow<Q>[]> {
    this.asked.push(query)
    if (this.isAway) throw new Error('facts are away')
    return this.#rows(query, params as unknown as Record<string, readonly string[]>) as QueryRow<Q>[]
  }

  show(visit: Visit): void {
    this.visits.set(visit.visitId, visit)
  }

  #rows(query: QueryName, params: Record<string, readonly string[]>): readonly unknown[] {
    if (query === 'visitsByIds') {
      return (params['visit_ids'] ?? []).flatMap((visitId, index) => {
        const visit = this.visits.get(visitId)
        return visit === undefined || visit.website !== params['websites']?.[index]
          ? []
          : [{ ...visitRow(visit), ...(this.damaged.has(visitId) ? { identities: '{' } : {}) }]
      })
    }
    const byEvent = <R extends { website: string; event_id: string }>(rows: readonly R[]): readonly R[] =>
      rows.filter((row) => isAsked(row.website, row.event_id, params['event_ids']))
    const isAsked = (website: string, id: string, ids: readonly string[] = []): boolean =>
      ids.some((asked, index) => asked === id && params['websites']?.[index] === website)
    if (query === 'dispatchedJobs') return byEvent(this.deliveries)
    if (query === 'firstInstalls') return byEvent(this.firsts)
    if (query === 'decisionsByEvents') return byEvent(this.decisions)
    if (query === 'receiptHistory') {
      return this.histories.filter((row) => isAsked(row.website, row.visit_id, params['visit_ids']))
    }
    if (query === 'installationVisits') {
      return this.matches.filter((row) => isAsked(row.website, row.installation_id, params['installation_ids']))
    }
    throw new Error(`the double does not know ${query}`)
  }
}

/** The row as a query returns it: what is inserted, with times under their other names. */
function visitRow(visit: Visit): VisitRow {
  const { issued_at, landed_at, ...row } = visitColumns(visit)
  return { ...row, issued_at_ms: issued_at, landed_at_ms: landed_at }
}
