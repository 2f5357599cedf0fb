/**
 * Answers a repeat of an event that was answered `pending`: with what the facts hold by now.
 *
 * That is its decision; the role `state` copies decisions into the hot state, but a repeat need not wait for it. Or it is
 * the first record's own answer: after a loss of the hot state a repeat may have been answered `pending` although the
 * first record was decided at once, and then no decision will ever come.
 */

import { isInstallAnswer } from '../../domain/collection/stored-install.ts'
import { parsedAs } from '../../domain/guards.ts'
import type { InstallAnswer } from '../../domain/model.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { settledInstallOf } from '../../ports/facts/settled-installs.ts'
import type { Claim } from '../../ports/hot-state/hot-state.ts'
import type { ApiDeps } from '../deps.ts'
import { inTime } from './look-up.ts'

/** @throws Error if it cannot be read: the install must not be decided a second time */
function heldAnswer(text: string): InstallAnswer {
  const answer = parsedAs(isInstallAnswer, text)
  if (answer === null) throw new Error('the answer that the hot state remembers cannot be read')
  return answer
}

/**
 * The answer in the hot state, or the final one that has replaced it. If ClickHouse is unreachable it stays `pending`.
 */
export async function answerByNow(held: string, claim: Claim, deps: ApiDeps): Promise<InstallAnswer> {
  const answer = heldAnswer(held)
  if (answer.resolution !== 'pending') return answer
  const row = await lookUpInstall(claim, deps)
  if (row === undefined || row.resolution === 'pending') return answer
  const decided = parsedAs(isInstallAnswer, row.answer)
  if (decided === null) return answer
  await deps.hotState.decideInstall(settledInstallOf(row))
  return decided
}

async function lookUpInstall(
  { organization, website, eventId }: Claim,
  deps: ApiDeps,
): Promise<QueryRow<'settledInstall'> | undefined> {
  deps.metrics.lookup('decisions')
  const asked = { organization, website, event_id: eventId }
  const rows = await inTime(deps.facts.run('settledInstall', asked)).catch((error: unknown) => {
    deps.logger.warn({ err: error }, 'the decision about an install could not be looked up')
    return []
  })
  return rows[0]
}
