/** Gives the hot state back the answer to an install that it does not know, be it read from the log or from the facts. */

import type { HotState, MatchedVisit, Settlement } from '../../ports/hot-state/hot-state.ts'

/** What was answered, without the claim's owner. */
export type KnownAnswer = Omit<Settlement, 'owner'>

/** False where the event is settled already, or claimed by somebody who will settle it. */
export async function settleAnswer(
  known: KnownAnswer,
  owner: string,
  hotState: Pick<HotState, 'claimInstall' | 'settleInstall'>,
): Promise<boolean> {
  const { website, eventId, installationId } = known
  if ((await hotState.claimInstall({ website, eventId, installationId, owner })).kind !== 'first') return false
  await hotState.settleInstall({ ...known, owner })
  return true
}

/** Null where the install was matched to none. */
export function matchedVisit(install: {
  readonly website: string
  readonly visitId: string | null
  readonly visitIssuedAtMs: number | null
  readonly gpc: boolean
}): MatchedVisit | null {
  const { website, visitId, visitIssuedAtMs, gpc } = install
  return visitId === null || visitIssuedAtMs === null ? null : { website, visitId, issuedAtMs: visitIssuedAtMs, gpc }
}
