/** The end of every way in: a new session for a proven address, in place of whatever the browser held. */

import { LIMITS } from '../../domain/limits.ts'
import { answer, type Call } from '../http/call.ts'
import type { Sessions, SignedIn } from '../sessions/sessions.ts'

export async function finishSignIn(call: Call, sessions: Sessions, who: SignedIn) {
  // The browser's earlier session, of whichever person, ends: its cookie is about to be replaced.
  if (call.session !== null) await sessions.end(call.session)
  const value = await sessions.begin(who)
  return answer({ ok: true }, { cookies: { session: { value, forMs: LIMITS.dashboardSessionMs } } })
}
