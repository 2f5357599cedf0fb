/** What people do that changes no generation of an object, for the activity of their organisations. */

import { rolesOf } from '../../domain/people/standing.ts'
import type { Logger } from '../../runtime/logger.ts'
import { scopeOf, sessionOf, type Call } from '../http/call.ts'
import type { Directory } from '../resources/directory.ts'
import type { SignedIn, Sessions } from '../sessions/sessions.ts'
import type { NoteActivity } from './activity.ts'

/** Records the removal of an object before it happens, since nothing is left of it afterwards. Rejects if the log refuses it. */
export async function noteRemoval(call: Call, object: string, note: NoteActivity): Promise<void> {
  const { organization } = scopeOf(call)
  const { person } = sessionOf(call)
  await note({
    organization: organization.id,
    website: '',
    type: 'object_removal',
    subject: object,
    actor: person,
    message: 'Removal requested in the dashboard.',
    logRetentionDays: organization.logRetentionDays,
  })
}

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
