/** Routes about people: who is signed in, members, invitations, and the weekly mail as each member chooses it for themselves. */

import { Type } from 'typebox'

import type { ErrorCode } from '../../domain/errors.ts'
import { MEMBER_ROLES, PLANS } from '../../domain/model.ts'
import { EMAIL_SCHEMA, INVITATION_ID_CHARS, MEMBER_SCHEMA } from '../../domain/resources/member-schema.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import { TEXT, TIME, typed } from './shapes.ts'

const ROLE = oneOf(MEMBER_ROLES)
const GIVEN_ROLE = oneOf(MEMBER_ROLES, 'The role.')
const MEMBERS = '/api/organizations/:organization/members'
const WEEKLY_MAIL = '/api/organizations/:organization/weekly-mail'
const MEMBER = `${MEMBERS}/:member` as const

/** What writing a member is refused with, whoever asks. */
const OF_MEMBERS: readonly ErrorCode[] = [
  'conflict',
  'managed_elsewhere',
  'person_limit',
  'already_member',
  'plan_limit',
  'plan_required',
]

const ME = Type.Object({
  person: TEXT,
  email: TEXT,
  hasBilling: Type.Boolean({ description: 'Whether this service has billing.' }),
  mayMakeOrganizations: Type.Boolean({ description: 'Whether anybody who is signed in may create one.' }),
  signedInBy: oneOf(['mail', 'oidc', 'link']),
  signedInAt: TIME,
  sessionEndsAt: TIME,
  organizations: Type.Array(Type.Object({ id: TEXT, displayName: TEXT, role: ROLE })),
  invitations: Type.Array(Type.Object({ id: TEXT, organization: TEXT, role: ROLE, expiresAt: TIME })),
})

const SHOWN_MEMBER = Type.Object(
  {
    name: TEXT,
    kind: oneOf(['person', 'group']),
    email: Type.Optional(Type.String({ description: 'Of a person, for Members and above.' })),
    person: Type.Optional(
      Type.String({ description: 'What entries of the activity call this person; for the same readers.' }),
    ),
    group: Type.Optional(TEXT),
    role: ROLE,
    invitedUntil: Type.Optional(Type.Number({ description: 'Unix ms. Set if they have not joined yet.' })),
    outOfForce: Type.Optional(
      Type.Object({ reason: TEXT, message: TEXT }, { description: 'Why they are no member. Set if they are none.' }),
    ),
  },
  { $id: 'ShownMember' },
)

const INVITED = Type.Object({
  name: TEXT,
  link: Type.Optional(
    Type.String({ description: 'For the inviting person to pass on. Set if the service sends no mail.' }),
  ),
})

export const PEOPLE_ROUTES = {
  me: {
    method: 'GET',
    path: '/api/me',
    needs: 'Person',
    rate: 'read',
    summary: 'Who is signed in, their organisations and roles, and their open invitations.',
    answers: { 200: ME },
  },
  acceptInvitation: {
    method: 'POST',
    path: '/api/invitations/accept',
    needs: 'Person',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'invitation_over'],
    summary: 'Join an organisation by an invitation to the address that is signed in.',
    body: Type.Object({
      invitation: Type.String({
        description: 'ID of the invitation.',
        minLength: INVITATION_ID_CHARS,
        maxLength: INVITATION_ID_CHARS,
      }),
    }),
    answers: { 200: Type.Object({ organization: TEXT, role: ROLE }) },
  },
  organization: {
    method: 'GET',
    path: '/api/organizations/:organization',
    needs: 'Viewer',
    rate: 'read',
    summary: 'One organisation.',
    answers: { 200: Type.Object({ id: TEXT, displayName: TEXT, plan: oneOf(PLANS), role: ROLE }) },
  },
  members: {
    method: 'GET',
    path: MEMBERS,
    needs: 'Viewer',
    rate: 'read',
    summary:
      'Its members and open invitations, also those out of force, with the reason; addresses for Members and above.',
    answers: { 200: Type.Object({ members: Type.Array(SHOWN_MEMBER) }) },
  },
  invite: {
    method: 'POST',
    path: MEMBERS,
    needs: 'Admin',
    rate: 'write',
    refuses: OF_MEMBERS,
    summary: 'Invite a person, or add a group.',
    body: Type.Object({
      email: Type.Optional(typed<string>(EMAIL_SCHEMA)),
      group: Type.Optional(typed<string>(MEMBER_SCHEMA.properties?.['group'] ?? { type: 'string' })),
      role: GIVEN_ROLE,
    }),
    answers: { 201: INVITED },
  },
  changeMember: {
    method: 'PUT',
    path: MEMBER,
    needs: 'Admin',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'last_owner'],
    summary: 'Give a member another role.',
    body: Type.Object({ role: GIVEN_ROLE }),
    answers: { 204: null },
  },
  removeMember: {
    method: 'DELETE',
    path: MEMBER,
    needs: 'Admin',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'last_owner'],
    summary: 'Remove a member, or withdraw an invitation.',
    answers: { 204: null },
  },
  inviteAgain: {
    method: 'POST',
    path: `${MEMBER}/invitation`,
    needs: 'Admin',
    rate: 'write',
    refuses: OF_MEMBERS,
    summary: 'Send an invitation again with a new link; the one before is void.',
    answers: { 201: INVITED },
  },
  leave: {
    method: 'POST',
    path: '/api/organizations/:organization/leave',
    needs: 'Viewer',
    rate: 'write',
    refuses: [...OF_MEMBERS, 'last_owner'],
    summary: 'Leave an organisation.',
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>

/** `ended`: by the person, whatever their Member says. `group`: they belong to the organisation by a group. `no_mail`: this service sends no mail. */
const WEEKLY_MAIL_STATES = ['on', 'off', 'ended', 'group', 'no_mail'] as const

export const WEEKLY_ROUTES = {
  weeklyMail: {
    method: 'GET',
    path: WEEKLY_MAIL,
    needs: 'Viewer',
    rate: 'read',
    summary: 'Whether whoever asks gets the weekly mail, and if not, why.',
    answers: { 200: Type.Object({ state: oneOf(WEEKLY_MAIL_STATES) }) },
  },
  chooseWeeklyMail: {
    method: 'PUT',
    path: WEEKLY_MAIL,
    needs: 'Viewer',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere', 'mail_not_configured'],
    summary: 'Turn your own weekly mail on or off. Off holds whatever your Member says.',
    body: Type.Object({ isOn: Type.Boolean({ description: 'Whether you want it.' }) }),
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>
