/** THE table of the dashboard's routes: address, needed role, rate class and body of each. Tests and OpenAPI walk it. */

import { LIMITS } from '../domain/limits.ts'
import { MEMBER_ROLES } from '../domain/model.ts'
import { EMAIL_SCHEMA, INVITATION_ID_CHARS, MEMBER_SCHEMA } from '../domain/people/member-schema.ts'
import type { JsonSchema } from '../domain/resources/json-schema.ts'
import type { RouteRow } from './http/route.ts'

const token: JsonSchema = { type: 'string', description: 'The token in the link.', minLength: 43, maxLength: 43 }
const role: JsonSchema = { type: 'string', description: 'The role.', enum: MEMBER_ROLES }
const object = (properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema => ({
  ...{ type: 'object', properties, required },
})

export const ROUTES = {
  waysIn: {
    ...{ method: 'GET', path: '/api/sign-in', needs: null, rate: 'read' },
    summary: 'Which ways to sign in there are.',
  },
  signInMail: {
    ...{ method: 'POST', path: '/api/sign-in/mail', needs: null, rate: 'sign-in' },
    summary: 'Send a sign-in link by mail; the answer is the same for every address.',
    body: object({ email: { ...EMAIL_SCHEMA, pattern: '^[^\\s@]+@[^\\s@]+$', patternMeaning: 'must be an address' } }, [
      'email',
    ]),
  },
  confirmMail: {
    ...{ method: 'POST', path: '/api/sign-in/mail/confirm', needs: null, rate: 'sign-in' },
    summary: 'Sign in with the link of a mail, and with its code if another browser asked for it.',
    body: object(
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
    ...{ method: 'POST', path: '/api/sign-in/oidc', needs: null, rate: 'sign-in' },
    summary: 'Begin to sign in through the identity provider: gives the address to go to.',
    body: object(
      { returnTo: { type: 'string', description: 'A path of ours.', maxLength: LIMITS.outboundUrlChars } },
      [],
    ),
  },
  finishOidc: {
    ...{ method: 'GET', path: '/api/sign-in/oidc/callback', needs: null, rate: 'callback' },
    summary: 'Where the identity provider sends the browser back to.',
  },
  useLink: {
    ...{ method: 'POST', path: '/api/sign-in/link', needs: null, rate: 'sign-in' },
    summary: 'Sign in with a link from the operator of the service.',
    body: object({ token }, ['token']),
  },
  signOut: {
    ...{ method: 'POST', path: '/api/sign-out', needs: 'Person', rate: 'write' },
    summary: 'End this session, or all sessions of the person.',
    body: object({ everywhere: { type: 'boolean', description: 'All sessions.' } }, []),
  },
  me: {
    ...{ method: 'GET', path: '/api/me', needs: 'Person', rate: 'read' },
    summary: 'Who is signed in, their organisations and roles, and their open invitations.',
  },
  acceptInvitation: {
    ...{ method: 'POST', path: '/api/invitations/accept', needs: 'Person', rate: 'write' },
    summary: 'Join an organisation by an invitation to the address that is signed in.',
    body: object(
      {
        invitation: {
          ...{ type: 'string', description: 'ID of the invitation.' },
          ...{ minLength: INVITATION_ID_CHARS, maxLength: INVITATION_ID_CHARS },
        },
      },
      ['invitation'],
    ),
  },
  organization: {
    ...{ method: 'GET', path: '/api/organizations/:organization', needs: 'Viewer', rate: 'read' },
    summary: 'One organisation.',
  },
  members: {
    ...{ method: 'GET', path: '/api/organizations/:organization/members', needs: 'Viewer', rate: 'read' },
    summary: 'Its members and open invitations; addresses for Members and above.',
  },
  invite: {
    ...{ method: 'POST', path: '/api/organizations/:organization/members', needs: 'Admin', rate: 'write' },
    summary: 'Invite a person, or let a group in.',
    body: object({ email: EMAIL_SCHEMA, group: MEMBER_SCHEMA.properties?.['group'] ?? { type: 'string' }, role }, [
      'role',
    ]),
  },
  changeMember: {
    ...{ method: 'PUT', path: '/api/organizations/:organization/members/:member', needs: 'Admin', rate: 'write' },
    summary: 'Give a member another role.',
    body: object({ role }, ['role']),
  },
  removeMember: {
    ...{ method: 'DELETE', path: '/api/organizations/:organization/members/:member', needs: 'Admin', rate: 'write' },
    summary: 'Remove a member, or withdraw an invitation.',
  },
  inviteAgain: {
    ...{
      method: 'POST',
      path: '/api/organizations/:organization/members/:member/invitation',
      needs: 'Admin',
      rate: 'write',
    },
    summary: 'Send an invitation again with a new link; the one before is void.',
  },
  leave: {
    ...{ method: 'POST', path: '/api/organizations/:organization/leave', needs: 'Viewer', rate: 'write' },
    summary: 'Leave an organisation.',
  },
} as const satisfies Record<string, RouteRow>

export type RouteName = keyof typeof ROUTES
