/** Routes of signing in and out. */

import { LIMITS } from '../../domain/limits.ts'
import { EMAIL_SCHEMA } from '../../domain/resources/member-schema.ts'
import { objectSchema, type JsonSchema } from '../../domain/schema/json-schema.ts'
import type { ClaimRules } from '../../domain/people/oidc-claims.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Randomness } from '../../runtime/random.ts'
import type { Logger } from '../../runtime/logger.ts'
import { answer, type HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import type { Outbox } from '../mail/outbox.ts'
import { endSession } from '../people/me.ts'
import type { Directory } from '../resources/directory.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Discovery } from './discovery.ts'
import type { SameAccountParts } from './same-account.ts'
import { askForMail, confirmMail, NO_ADDRESS } from './mail-link.ts'
import { countingSignIns, type CountSignIn } from './count-sign-ins.ts'
import { finishOidc, startOidc } from './oidc.ts'
import { useSignInLink } from './operator-link.ts'

const token: JsonSchema = { type: 'string', description: 'The token in the link.', minLength: 43, maxLength: 43 }

export const SIGN_IN_ROUTES = {
  waysIn: {
    method: 'GET',
    path: '/api/sign-in',
    needs: null,
    rate: 'read',
    summary: 'Which ways to sign in there are.',
  },
  signInMail: {
    method: 'POST',
    path: '/api/sign-in/mail',
    needs: null,
    rate: 'sign-in',
    refuses: ['mail_not_configured'],
    summary: 'Send a sign-in link by mail; the answer is the same for every address.',
    body: objectSchema({ email: { ...EMAIL_SCHEMA, pattern: '^[\\x21-\\x7e]+$', patternMeaning: NO_ADDRESS } }, [
      'email',
    ]),
  },
  confirmMail: {
    method: 'POST',
    path: '/api/sign-in/mail/confirm',
    needs: null,
    rate: 'sign-in',
    refuses: ['sign_in_refused', 'code_required'],
    summary: 'Sign in with the link of a mail, and with its code if another browser asked for it.',
    body: objectSchema(
      {
        token,
        code: {
          type: 'string',
          description: 'The code of the mail.',
          pattern: '^[0-9]{8}$',
          patternMeaning: 'must be 8 digits',
        },
      },
      ['token'],
    ),
  },
  startOidc: {
    method: 'POST',
    path: '/api/sign-in/oidc',
    needs: null,
    rate: 'sign-in',
    refuses: ['oidc_not_configured'],
    summary: 'Begin to sign in through the identity provider: gives the address to go to.',
    body: objectSchema(
      { returnTo: { type: 'string', description: 'A path of ours.', maxLength: LIMITS.outboundUrlChars } },
      [],
    ),
  },
  finishOidc: {
    method: 'GET',
    path: '/api/sign-in/oidc/callback',
    needs: null,
    rate: 'callback',
    summary: 'Where the identity provider sends the browser back to.',
  },
  useLink: {
    method: 'POST',
    path: '/api/sign-in/link',
    needs: null,
    rate: 'sign-in',
    refuses: ['sign_in_refused'],
    summary: 'Sign in with a link from the operator of the service.',
    body: objectSchema({ token }, ['token']),
  },
  signOut: {
    method: 'POST',
    path: '/api/sign-out',
    needs: 'Person',
    rate: 'write',
    isDenial: true,
    summary: 'End this session, or all sessions of the person.',
    body: objectSchema({ everywhere: { type: 'boolean', description: 'All sessions.' } }, []),
  },
} as const satisfies Record<string, RouteRow>

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
