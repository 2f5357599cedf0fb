/** The roles of a person, from the members that name them: the only source of rights. */

import type { MemberRole } from '../model.ts'
import type { Member } from './member.ts'
import { higherRole } from './roles.ts'

/** Who is asking, as far as that is proven. */
export interface ProvenIdentity {
  /** Verified, in lower case. */
  readonly email: string
  /** The groups that the identity provider named last; empty if that is too long ago. */
  readonly groups: readonly string[]
}

/** Roles by the ID of the organisation. Invitations give none. */
export function rolesOf(who: ProvenIdentity, members: readonly Member[]): ReadonlyMap<string, MemberRole> {
  const roles = new Map<string, MemberRole>()
  for (const { identity, organization, role, invitation } of members) {
    const isNamed = identity.kind === 'person' ? identity.email === who.email : who.groups.includes(identity.group)
    if (isNamed && invitation === null) roles.set(organization, higherRole(roles.get(organization) ?? null, role))
  }
  return roles
}

/** The role of a person in one organisation; null if they have none there. */
export function roleIn(organization: string, who: ProvenIdentity, members: readonly Member[]): MemberRole | null {
  return rolesOf(who, members).get(organization) ?? null
}

/** Active members that name this person, and not a group. */
export function membersNamed(email: string, members: readonly Member[]): readonly Member[] {
  return members.filter(
    ({ identity, invitation }) => identity.kind === 'person' && identity.email === email && invitation === null,
  )
}

/** Open invitations of the person. */
export function invitationsOf(email: string, members: readonly Member[], nowMs: number): readonly Member[] {
  return members.filter(
    ({ identity, invitation }) =>
      identity.kind === 'person' && identity.email === email && invitation !== null && invitation.expiresAtMs > nowMs,
  )
}

/** Whether any member names this address, invited or active. */
export function isKnown(email: string, members: readonly Member[]): boolean {
  return members.some(({ identity }) => identity.kind === 'person' && identity.email === email)
}
