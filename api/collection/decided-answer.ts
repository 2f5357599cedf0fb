/**
 * Answers a repeat of an event that was answered `pending`: with its decision, as soon as ClickHouse has it.
 *
 * The role `state` copies decisions into the hot state; if it is down or behind, a repeat need not wait for it.
 */

import { readJsonColumn } from '../../common/json-column.ts'
import { matchedVisit } from '../../domain/collection/install.ts'
import type { InstallAnswer } from '../../domain/model.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import type { Claim, DecidedAnswer } from '../../ports/hot-state/hot-state.ts'
import type { ApiDeps } from '../deps.ts'
import { inTime } from './look-up.ts'

/**
 * The answer in the hot state, or the decision that has replaced it. If ClickHouse is unreachable it stays `pending`.
 */
export async function answerByNow(
  held: string,
  claim: Pick<Claim, 'website' | 'eventId'>,
  deps: ApiDeps,
): Promise<InstallAnswer> {
  const answer = JSON.parse(held) as InstallAnswer
  if (answer.resolution !== 'pending') return answer
  const row = await lookUpDecision(claim, deps)
  const decided = row === undefined ? null : readJsonColumn<InstallAnswer>(row.answer)
  if (row === undefined || decided === null) return answer
  await deps.hotState.decideInstall(decisionOf(row))
  return decided
}

async function lookUpDecision(
  { website, eventId }: Pick<Claim, 'website' | 'eventId'>,
  deps: ApiDeps,
): Promise<QueryRow<'decisionsByEvents'> | undefined> {
  deps.metrics.lookup('decisions')
  const asked = { websites: [website], event_ids: [eventId] }
  const rows = await inTime(deps.facts.run('decisionsByEvents', asked)).catch((error: unknown) => {
    deps.logger.warn({ err: error }, 'a decision could not be looked up')
    return []
  })
  return rows[0]
}

function decisionOf(row: QueryRow<'decisionsByEvents'>): DecidedAnswer {
  const { website, visit_id: visitId, visit_issued_at_ms: visitIssuedAtMs, gpc } = row
  return {
    website,
    eventId: row.event_id,
    installationId: row.installation_id,
    answer: row.answer,
    receivedAtMs: row.received_at_ms,
    matched: matchedVisit({ website, visitId: visitId === '' ? null : visitId, visitIssuedAtMs, gpc }),
  }
}
