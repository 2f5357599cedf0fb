/** Restores the answer to an install in the hot state, read from the log or from the facts. */

import type { InstallVerbs } from '../../ports/hot-state/hot-state.ts'
import type { KnownAnswer } from '../../ports/hot-state/settled-record.ts'

/** False if the event is already settled, or claimed by a caller that will settle it. */
export async function settleAnswer(known: KnownAnswer, owner: string, hotState: InstallVerbs): Promise<boolean> {
  const { organization, website, eventId, installationId } = known
  const claim = { organization, website, eventId, installationId, owner }
  if ((await hotState.claimInstall(claim)).kind !== 'first') return false
  await hotState.settleInstall({ ...known, owner })
  return true
}
