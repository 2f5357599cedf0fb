/** Signing in with a link from the operator of the service: for the first owner, or as a last resort. */

import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { Randomness } from '../../runtime/random.ts'
import type { CallTo } from '../http/call.ts'
import { sha256Hex } from '../../common/digest.ts'
import { secretText, type Sessions } from '../sessions/sessions.ts'
import { finishSignIn } from './finish.ts'

interface LinkWish {
  readonly email: string
  readonly baseUrl: string
}

/** The address of a link that signs this person in once, within 15 minutes. It gives no rights: members do. */
export async function makeSignInLink(
  hotState: OnceVerbs,
  randomness: Randomness,
  { email, baseUrl }: LinkWish,
): Promise<string> {
  const token = secretText(randomness)
  await hotState.putOnce(`operator-link/${sha256Hex(token)}`, email, LIMITS.signInMs)
  return `${baseUrl}/sign-in#link=${token}`
}

export function useSignInLink(hotState: OnceVerbs, sessions: Sessions) {
  return async (call: CallTo<'useLink'>) => {
    const email = await hotState.takeOnce(`operator-link/${sha256Hex(call.body.token)}`)
    return email === null
      ? refuse('sign_in_refused')
      : finishSignIn(call, sessions, { email, method: 'link', groups: [] })
  }
}
