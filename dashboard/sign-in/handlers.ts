/** Handlers of signing in and out. */

import type { SIGN_IN_ROUTES } from '../api/sign-in.ts'
import { answer, type HandlersOf } from '../http/call.ts'
import { endSession } from '../people/me.ts'
import { askForMail, confirmMail, type MailLinkParts } from './mail-link.ts'
import { countingSignIns, type CountSignIn } from './count-sign-ins.ts'
import { finishOidc, startOidc, type OidcParts } from './oidc.ts'
import { useSignInLink } from './operator-link.ts'

/** By mail, with an identity provider, and with a link of the operator. */
export function signInHandlers(
  mail: MailLinkParts,
  oidc: OidcParts,
  countSignIn: CountSignIn,
): HandlersOf<typeof SIGN_IN_ROUTES> {
  const { hotState, sessions, outbox } = mail
  return {
    waysIn: async () => answer({ mail: outbox !== null, oidc: oidc.provider.discovery !== null }),
    signInMail: askForMail(mail),
    confirmMail: countingSignIns('mail', confirmMail(mail), countSignIn),
    startOidc: startOidc(oidc),
    finishOidc: countingSignIns('oidc', finishOidc(oidc), countSignIn),
    useLink: countingSignIns('link', useSignInLink(hotState, sessions), countSignIn),
    signOut: endSession(sessions),
  }
}
