/** Routes about people: who is signed in, members and invitations. */

import type { ErrorCode } from '../../domain/errors.ts'
import { MEMBER_ROLES } from '../../domain/model.ts'
import { EMAIL_SCHEMA, INVITATION_ID_CHARS, MEMBER_SCHEMA } from '../../domain/resources/member-schema.ts'
import { objectSchema, type JsonSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import { accept, invite, inviteAgain, type InvitationParts } from './invitations.ts'
import { readMe, readOrganization } from './me.ts'
import { changeMember, leaveOrganization, listMembers, removeMember } from './members.ts'

const role: JsonSchema = { type: 'string', description: 'The role.', enum: MEMBER_ROLES }

/** What writing a member is refused with, whoever asks. */
const OF_MEMBERS: readonly ErrorCode[] = [
  'conflict',
  'managed_elsewhere',
  'person_limit',
  'already_member',
  'plan_limit',
  'plan_required',
]

export const PEOPLE_ROUTES = {
  me: {
    method: 'GET',
    path: '/api/me',
    needs: 'Person',
    rate: 'read',
    summary: 'Who is signed in, their organisations and roles, and their open invitations.',
  },
  acceptInvitation: {
    method: 'POST',
    path: '/api/invitations/accept',
    needs: 'Person',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'invitation_over'],
    summary: 'Join an organisation by an invitation to the address that is signed in.',
    body: objectSchema(
      {
        invitation: {
          type: 'string',
          description: 'ID of the invitation.',
          minLength: INVITATION_ID_CHARS,
          maxLength: INVITATION_ID_CHARS,
        },
      },
      ['invitation'],
    ),
  },
  organization: {
    method: 'GET',
    path: '/api/organizations/:organization',
    needs: 'Viewer',
    rate: 'read',
    summary: 'One organisation.',
  },
  members: {
    method: 'GET',
    path: '/api/organizations/:organization/members',
    needs: 'Viewer',
    rate: 'read',
    summary:
      'Its members and open invitations, also those out of force, with the reason; addresses for Members and above.',
  },
  invite: {
    method: 'POST',
    path: '/api/organizations/:organization/members',
    needs: 'Admin',
    rate: 'write',
    refuses: OF_MEMBERS,
    summary: 'Invite a person, or add a group.',
    body: objectSchema(
      { email: EMAIL_SCHEMA, group: MEMBER_SCHEMA.properties?.['group'] ?? { type: 'string' }, role },
      ['role'],
    ),
  },
  changeMember: {
    method: 'PUT',
    path: '/api/organizations/:organization/members/:member',
    needs: 'Admin',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'last_owner'],
    summary: 'Give a member another role.',
    body: objectSchema({ role }, ['role']),
  },
  removeMember: {
    method: 'DELETE',
    path: '/api/organizations/:organization/members/:member',
    needs: 'Admin',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'last_owner'],
    summary: 'Remove a member, or withdraw an invitation.',
  },
  inviteAgain: {
    method: 'POST',
    path: '/api/organizations/:organization/members/:member/invitation',
    needs: 'Admin',
    rate: 'write',
    refuses: OF_MEMBERS,
    summary: 'Send an invitation again with a new link; the one before is void.',
  },
  leave: {
    method: 'POST',
    path: '/api/organizations/:organization/leave',
    needs: 'Viewer',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'last_owner'],
    summary: 'Leave an organisation.',
  },
} as const satisfies Record<string, RouteRow>

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
