/** The end of every way in: a new session for a proven address, in place of whatever the browser held. */

import { LIMITS } from '../../domain/limits.ts'
import type { Answer, Call } from '../http/call.ts'
import type { Sessions, SignedIn } from '../sessions/sessions.ts'

export async function finishSignIn(call: Call, sessions: Sessions, who: SignedIn): Promise<Answer> {
  // Somebody else's session, or an older one, must not stay alive in nobody's hands.
  if (call.session !== null) await sessions.end(call.session)
  const value = await sessions.begin(who)
  return {
    kind: 'answer',
    status: 200,
    body: { ok: true },
    cookies: { session: { value, forMs: LIMITS.dashboardSessionMs }, browser: null },
  }
}
