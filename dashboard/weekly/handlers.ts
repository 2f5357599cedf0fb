/** Whether a person gets the weekly mail of an organisation, as they see and choose it themselves. */

import { refuse, type Refusal } from '../../domain/errors.ts'
import { membersNamed } from '../../domain/people/standing.ts'
import type { Member } from '../../domain/people/member.ts'
import type { WEEKLY_ROUTES } from '../api/people.ts'
import type { Trail } from '../events/trail.ts'
import { answer, DONE, type CallTo, type HandlersOf, type OrganizationCall } from '../http/call.ts'
import { readJudged, refusedWrite } from '../people/members.ts'
import type { Roster } from '../people/out-of-force.ts'
import { memberAddress } from '../people/stored-member.ts'
import { copiedPatch } from '../resources/patch.ts'
import { membersOf } from '../resources/directory.ts'
import type { MailChoices } from './choices.ts'

interface WeeklyMailParts {
  readonly roster: Roster
  readonly trail: Trail
  readonly choices: MailChoices
  /** Whether this service sends mail. */
  readonly hasMail: boolean
}

export function weeklyMailHandlers(parts: WeeklyMailParts): HandlersOf<typeof WEEKLY_ROUTES> {
  return { weeklyMail: showWeeklyMail(parts), chooseWeeklyMail: chooseWeeklyMail(parts) }
}

function showWeeklyMail({ roster, choices, hasMail }: WeeklyMailParts) {
  return async (call: OrganizationCall) => {
    if (!hasMail) return answer({ state: 'no_mail' as const })
    const member = ownMember(call, roster)
    if (member === null) return answer({ state: 'group' as const })
    if (!member.wantsWeeklyMail) return answer({ state: 'off' as const })
    const isEnded = await choices.isEnded(member.organization, call.session.email)
    return answer({ state: isEnded ? ('ended' as const) : ('on' as const) })
  }
}

/** Off is a choice of the person, which no manifest can take back. On is both: the member wants it, and the person did not end it. */
function chooseWeeklyMail(parts: WeeklyMailParts) {
  const { roster, choices, hasMail } = parts
  return async (call: CallTo<'chooseWeeklyMail'>): Promise<typeof DONE | Refusal> => {
    if (!hasMail) return refuse('mail_not_configured')
    const member = ownMember(call, roster)
    if (member === null) return refuse('not_found')
    const { isOn } = call.body
    if (isOn && !member.wantsWeeklyMail) {
      const refused = await writeWanted(call, member, parts)
      if (refused !== null) return refused
    }
    const { id: organization, logRetentionDays } = call.scope.organization
    const { email } = call.session
    const isEnded = await choices.isEnded(organization, email)
    if (isEnded === isOn) await choices.choose({ organization, logRetentionDays, email, isEnded: !isOn })
    return DONE
  }
}

async function writeWanted(
  call: OrganizationCall,
  member: Member,
  { roster, trail }: WeeklyMailParts,
): Promise<Refusal | null> {
  const stored = await readJudged(member, roster.writer)
  if ('code' in stored) return stored
  const spec = { ...stored.spec, mail: { weekly: true } }
  const manner = { sign: trail.sign(call) }
  const outcome = await roster.writer.replace({ ...memberAddress(member), spec }, stored.version, manner)
  return outcome.kind === 'written' ? null : refusedWrite(outcome, copiedPatch(stored, spec))
}

/** Null for whoever belongs to the organisation by a group alone. */
function ownMember(call: OrganizationCall, { directory }: Roster): Member | null {
  return membersNamed(call.session.email, membersOf(directory, call.scope.organization.id))[0] ?? null
}
