/** Handlers of signing in and out. */

import type { ClaimRules } from '../../domain/people/oidc-claims.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Randomness } from '../../runtime/random.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { SIGN_IN_ROUTES } from '../api/sign-in.ts'
import { answer, type HandlersOf } from '../http/call.ts'
import type { Outbox } from '../mail/outbox.ts'
import { endSession } from '../people/me.ts'
import type { Directory } from '../resources/directory.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Discovery } from './discovery.ts'
import type { SameAccountParts } from './same-account.ts'
import { askForMail, confirmMail } from './mail-link.ts'
import { countingSignIns, type CountSignIn } from './count-sign-ins.ts'
import { finishOidc, startOidc } from './oidc.ts'
import { useSignInLink } from './operator-link.ts'

export interface SignInParts extends Pick<SameAccountParts, 'pins' | 'eventLog' | 'personId' | 'nowMs'> {
  readonly baseUrl: string
  readonly hotState: HotState
  readonly sessions: Sessions
  readonly directory: Directory
  /** Null: no mail is sent. */
  readonly outbox: Outbox | null
  /** Null: there is no identity provider. */
  readonly discovery: Discovery | null
  readonly rules: ClaimRules
  /** Keyed hash of an address or a code. */
  readonly hash: (text: string) => string
  readonly randomness: Randomness
  readonly logger: Logger
  readonly countSignIn: CountSignIn
  /** A person signed in, and the provider did not name the groups that are wanted. */
  readonly countGroupsMissing: () => void
}

export function signInHandlers(parts: SignInParts): HandlersOf<typeof SIGN_IN_ROUTES> {
  return {
    waysIn: async () => answer({ mail: parts.outbox !== null, oidc: parts.discovery !== null }),
    signInMail: askForMail(parts),
    confirmMail: countingSignIns('mail', confirmMail(parts), parts.countSignIn),
    startOidc: startOidc(parts),
    finishOidc: countingSignIns('oidc', finishOidc(parts), parts.countSignIn),
    useLink: countingSignIns('link', useSignInLink(parts.hotState, parts.sessions), parts.countSignIn),
    signOut: endSession(parts.sessions),
  }
}
