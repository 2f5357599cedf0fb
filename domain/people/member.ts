/** Members as the dashboard knows them. */

import { type JsonObject, memberOf } from '../strict-json.ts'
import type { MemberRole } from '../model.ts'
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
}

export interface OpenInvitation {
  readonly id: string
  readonly expiresAtMs: number
}

/** The ID of the open invitation; undefined if there is none. */
export function invitationIn(spec: JsonObject): unknown {
  return memberOf(spec['invitation'], 'id')
}

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
  }
}
