/** Decides who may change which member, and why not. */

import { refuse, type Refusal } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import type { MemberRole, Plan } from '../model.ts'
import { refuseByPlan, refuseUse } from '../plan.ts'
import type { Member, OpenInvitation } from './member.ts'
import { mayDo } from './roles.ts'

/** `before` is null for a new member, `after` for one that is removed. */
interface MemberChange {
  readonly before: Member | null
  readonly after: MemberRole | null
}

/** Depends on the member's role before and after, and on the members that the organisation would be left with. */
export function refuseMemberChange(
  actor: MemberRole,
  change: MemberChange,
  members: readonly Member[],
): Refusal | null {
  const roles = [change.before?.role ?? null, change.after]
  const action = roles.includes('Owner') ? 'manageOwners' : 'inviteMembers'
  if (!mayDo(actor, action)) return refuse('forbidden')
  return change.before === null ? null : refuseLastOwner(change.before, change.after, members)
}

/** A member who leaves needs no right, but an organisation keeps an Owner. */
export function refuseLastOwner(before: Member, after: MemberRole | null, members: readonly Member[]): Refusal | null {
  if (!isOwner(before) || after === 'Owner') return null
  const others = members.filter((other) => other.organization === before.organization && other.name !== before.name)
  return others.some(isOwner) ? null : refuse('last_owner')
}

/** A group is none: nobody may be in it. An invitation is none until it is accepted. */
export function isOwner({ identity, role, invitation }: Member): boolean {
  return role === 'Owner' && identity.kind === 'person' && invitation === null
}

/** Whether the plan has room for one more; invitations count until they expire. */
export function refuseByMembers(plan: Plan, members: readonly Member[], nowMs: number): Refusal | null {
  const used = members.filter(({ invitation }) => invitation === null || invitation.expiresAtMs > nowMs).length
  const refusal = refuseByPlan(plan, 'members', used + 1)
  return refusal === null ? null : refuseUse(refusal.use)
}

/**
 * An expired invitation has given up its place in the plan, so sending it again needs a free one. The compiler would not refuse it:
 * the invitation is older than those that took its place, and they would go out of force.
 */
export function refuseRenewal(
  { expiresAtMs }: OpenInvitation,
  plan: Plan,
  members: readonly Member[],
  nowMs: number,
): Refusal | null {
  return expiresAtMs > nowMs ? null : refuseByMembers(plan, members, nowMs)
}

/** Whether the person may own, or belong to, one more organisation. */
export function refuseByPerson(email: string, role: MemberRole, members: readonly Member[]): Refusal | null {
  const own = members.filter(
    ({ identity, invitation }) => invitation === null && identity.kind === 'person' && identity.email === email,
  )
  const owned = own.filter((member) => member.role === 'Owner').length + (role === 'Owner' ? 1 : 0)
  const isOver = own.length + 1 > LIMITS.organizationsJoined || owned > LIMITS.organizationsOwned
  return isOver ? refuse('person_limit') : null
}
