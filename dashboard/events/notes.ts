/** Notes who signed in, in the activity of their organisations. */

import { rolesOf } from '../../domain/people/standing.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Directory } from '../resources/directory.ts'
import type { SignedIn, Sessions } from '../sessions/sessions.ts'
import type { NoteActivity } from './activity.ts'

interface SignInNotes {
  readonly directory: Directory
  readonly noteActivity: NoteActivity
  readonly personId: (email: string) => string
  readonly logger: Logger
}

/** The same sessions; each new one is recorded in the activity of the person's organisations. */
export function notingSignIns(sessions: Sessions, parts: SignInNotes): Sessions {
  return {
    ...sessions,
    async begin(who) {
      const cookie = await sessions.begin(who)
      noteSignIn(who, parts)
      return cookie
    },
  }
}

/** People can sign in while the log is unavailable; the process log then records it. */
function noteSignIn({ email, groups, method }: SignedIn, parts: SignInNotes): void {
  const { directory, noteActivity, personId, logger } = parts
  const person = personId(email)
  const organizations = directory.organizations()
  for (const id of rolesOf({ email, groups }, directory.members()).keys()) {
    const logRetentionDays = organizations.get(id)?.logRetentionDays
    if (logRetentionDays === undefined) continue
    noteActivity({
      organization: id,
      website: '',
      type: 'sign_in',
      subject: person,
      actor: person,
      logRetentionDays,
      message: `Signed in by ${WAYS[method]}.`,
    }).catch((error: unknown) => logger.error({ err: error }, 'a sign-in was not noted'))
  }
}

const WAYS: Readonly<Record<SignedIn['method'], string>> = {
  oidc: 'the identity provider',
  mail: 'a link in a mail',
  link: 'a link from the operator',
}
