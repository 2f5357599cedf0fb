/** Handlers about people: who is signed in, members and invitations. */

import type { PEOPLE_ROUTES } from '../api/people.ts'
import type { HandlersOf } from '../http/call.ts'
import { accept, invite, inviteAgain, type InvitationParts } from './invitations.ts'
import { readMe, readOrganization } from './me.ts'
import { changeMember, leaveOrganization, listMembers, removeMember } from './members.ts'

export function peopleHandlers(parts: InvitationParts): HandlersOf<typeof PEOPLE_ROUTES> {
  return {
    me: readMe(parts),
    acceptInvitation: accept(parts),
    organization: readOrganization(),
    members: listMembers(parts),
    invite: invite(parts),
    changeMember: changeMember(parts),
    removeMember: removeMember(parts),
    inviteAgain: inviteAgain(parts),
    leave: leaveOrganization(parts),
  }
}
