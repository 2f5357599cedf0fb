/** The spec of a new Member as the dashboard writes it. */

import type { OpenInvitation, MemberIdentity } from '../../domain/people/member.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { MemberSpec } from '../../domain/resources/member-schema.ts'

interface MemberWish {
  readonly organization: { readonly objectName: string; readonly tenant?: string }
  readonly identity: MemberIdentity
  readonly role: MemberRole
  readonly invitation: OpenInvitation | null
}

export function memberSpec({
  organization,
  identity,
  role,
  invitation,
}: MemberWish): Readonly<Record<string, unknown>> {
  return {
    organizationRef: { name: organization.objectName },
    ...(organization.tenant === undefined ? {} : { tenant: organization.tenant }),
    ...(identity.kind === 'person' ? { email: identity.email } : { group: identity.group }),
    role,
    ...(invitation === null ? {} : { invitation: invitationSpec(invitation) }),
  }
}

export function invitationSpec({ id, expiresAtMs }: OpenInvitation): MemberSpec['invitation'] {
  return { id, expiresAt: kubeTime(expiresAtMs) }
}

/** RFC 3339 in UTC, whole seconds. */
function kubeTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
