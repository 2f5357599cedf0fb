/** Handlers about people: who is signed in, members and invitations. */

import type { PEOPLE_ROUTES } from '../api/people.ts'
import type { HandlersOf } from '../http/call.ts'
import { accept, invite, inviteAgain, type InvitationParts } from './invitations.ts'
import { readMe, readOrganization, type ServiceOffers } from './me.ts'
import { changeMember, leaveOrganization, listMembers, removeMember, type MemberParts } from './members.ts'

interface PeopleParts {
  readonly members: MemberParts
  readonly invitations: InvitationParts
  /** As entries of the activity call a person. */
  readonly personId: (email: string) => string
  readonly service: ServiceOffers
}

export function peopleHandlers({
  members,
  invitations,
  personId,
  service,
}: PeopleParts): HandlersOf<typeof PEOPLE_ROUTES> {
  const { directory } = members.roster
  return {
    me: readMe({ directory, service }),
    acceptInvitation: accept(members),
    organization: readOrganization(),
    members: listMembers(members.roster, personId),
    invite: invite(invitations),
    changeMember: changeMember(members),
    removeMember: removeMember(members),
    inviteAgain: inviteAgain(invitations),
    leave: leaveOrganization(members),
  }
}
