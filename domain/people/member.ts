/** Members as the dashboard knows them. */

import { isObject, memberOf, textOf, type JsonObject } from '../strict-json.ts'
import { MEMBER_ROLES, type MemberRole } from '../model.ts'
import type { MemberSpec } from '../resources/member-schema.ts'

export type MemberIdentity =
  | { readonly kind: 'person'; readonly email: string }
  /** A claim of the identity provider; everyone who has it belongs to the organisation. */
  | { readonly kind: 'group'; readonly group: string }

export interface Member {
  readonly namespace: string
  /** Name of the object. */
  readonly name: string
  /** ID of the organisation. */
  readonly organization: string
  readonly identity: MemberIdentity
  readonly role: MemberRole
  /** Null: active. An open invitation grants nothing. */
  readonly invitation: OpenInvitation | null
  /** As the object says; a group gets none, nor does whoever ended it. */
  readonly wantsWeeklyMail: boolean
}

export interface OpenInvitation {
  readonly id: string
  readonly expiresAtMs: number
}

/** The ID of the open invitation; undefined if there is none. */
export function invitationIn(spec: JsonObject): unknown {
  return memberOf(spec['invitation'], 'id')
}

/**
 * A member whose object may be refused, as far as it can be read: whoever may change members must find them, and so must an erasure. A role
 * that is none counts as the least, and an end that is none as never.
 */
export function memberAsWritten(
  { namespace, name, spec }: { readonly namespace: string; readonly name: string; readonly spec: JsonObject },
  organization: string,
): Member {
  const { email, group, role, invitation } = spec
  const expiresAtMs = Date.parse(textOf(memberOf(invitation, 'expiresAt')))
  return {
    namespace,
    name,
    organization,
    identity: typeof email === 'string' ? { kind: 'person', email } : { kind: 'group', group: textOf(group) },
    role: MEMBER_ROLES.find((each) => each === role) ?? LEAST_ROLE,
    invitation: isObject(invitation)
      ? { id: textOf(invitation['id']), expiresAtMs: Number.isNaN(expiresAtMs) ? Infinity : expiresAtMs }
      : null,
    wantsWeeklyMail: memberOf(spec['mail'], 'weekly') === true,
  }
}

const LEAST_ROLE: MemberRole = 'Viewer'

/** `organization` is its ID. */
export function memberFrom(
  { namespace, name, spec }: { readonly namespace: string; readonly name: string; readonly spec: MemberSpec },
  organization: string,
): Member {
  const { email, group = '', role, invitation } = spec
  return {
    namespace,
    name,
    organization,
    identity: email === undefined ? { kind: 'group', group } : { kind: 'person', email },
    role,
    invitation: invitation === undefined ? null : { id: invitation.id, expiresAtMs: Date.parse(invitation.expiresAt) },
    wantsWeeklyMail: spec.mail?.weekly === true,
  }
}
