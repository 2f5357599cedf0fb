/**
 * Shows, changes and removes members of an organisation. Who sends a change names no version: it is written only if role and
 * invitation are still those that it was judged by.
 */

import { shownName } from '../../domain/catalog/objects.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import {
  refuseByMembers,
  refuseByPerson,
  refuseLastOwner,
  refuseMemberChange,
} from '../../domain/people/change-member.ts'
import type { Member } from '../../domain/people/member.ts'
import { mayDo } from '../../domain/people/roles.ts'
import { refuseUse } from '../../domain/plan.ts'
import type { MemberRole } from '../../domain/model.ts'
import { copiedPatch, type CopiedPatch } from '../resources/patch.ts'
import { answer, DONE, type OrganizationCall, type CallTo } from '../http/call.ts'
import type { Trail } from '../events/trail.ts'
import { membersOf } from '../resources/directory.ts'
import type { ResourceWriter, StoredObject, WriteOutcome } from '../resources/writer.ts'
import { changeKeepingOwner } from './keep-owner.ts'
import { membersOutOfForce, type MemberOutOfForce, type Roster } from './out-of-force.ts'
import { memberAddress, readStoredMember } from './stored-member.ts'

export interface MemberParts {
  readonly roster: Roster
  readonly trail: Trail
  /** Called to delete what else is stored about a removed member. */
  readonly onRemoved: (member: Member) => Promise<void>
}

/** Those in force, then the others. */
export function listMembers(roster: Roster, personId: (email: string) => string) {
  return async (call: OrganizationCall) => {
    const { organization, role } = call.scope
    const seesAddresses = mayDo(role, 'readAddresses')
    const inForce = membersOf(roster.directory, organization.id)
    const all: readonly (Member & Partial<MemberOutOfForce>)[] = [
      ...inForce,
      ...membersOutOfForce(roster, organization.id),
    ]
    return answer({ members: all.map((member) => memberAnswer(member, seesAddresses ? personId : null)) })
  }
}

function memberAnswer(
  { name, identity, role, invitation, refusal }: Member & Partial<MemberOutOfForce>,
  /** Null for whoever must not see addresses. */
  personId: ((email: string) => string) | null,
) {
  const isShown = identity.kind === 'person' && personId !== null
  const address = isShown ? { email: identity.email, person: personId(identity.email) } : {}
  return {
    name,
    kind: identity.kind,
    ...(identity.kind === 'group' ? { group: identity.group } : address),
    role,
    ...(invitation === null ? {} : { invitedUntil: invitation.expiresAtMs }),
    ...(refusal === undefined ? {} : { outOfForce: refusal }),
  }
}

export function changeMember({ roster, trail }: MemberParts) {
  const { directory, writer } = roster
  return async (call: CallTo<'changeMember'>) => {
    const { role: actor } = call.scope
    const members = directory.members()
    const before = memberOfPath(call, roster)
    if (before === null) return refuse('not_found')
    const { role: after } = call.body
    const others = members.filter((member) => member !== before)
    const refused =
      refuseMemberChange(actor, { before, after }, members) ??
      refuseNewOwner(before, after, others) ??
      refuseFirstPlace(call, { before, after }, others)
    if (refused !== null) return refused
    const sign = trail.sign(call)
    let patch: CopiedPatch | null = null
    const outcome = await changeKeepingOwner(
      {
        before,
        after,
        write: (stored, manner) => {
          const spec = { ...stored.spec, role: after }
          // The ID of an open invitation is shown to nobody.
          patch = before.invitation === null ? copiedPatch(stored, spec) : null
          return writer.replace({ ...memberAddress(before), spec }, stored.version, { ...manner, sign })
        },
      },
      roster,
    )
    if ('code' in outcome) return outcome
    return outcome.kind === 'written' ? DONE : refusedWrite(outcome, patch)
  }
}

function refuseNewOwner(
  { identity, invitation }: Member,
  after: MemberRole,
  others: readonly Member[],
): Refusal | null {
  if (identity.kind === 'group' || invitation !== null || after !== 'Owner') return null
  return refuseByPerson(identity.email, after, others)
}

/** An Owner who is older than the present one has the first place in the plan: who is out of force becomes one only if there is room for both. */
function refuseFirstPlace(
  call: OrganizationCall,
  { before, after }: { readonly before: Member & Partial<MemberOutOfForce>; readonly after: MemberRole },
  others: readonly Member[],
): Refusal | null {
  if (before.refusal === undefined || after !== 'Owner' || before.role === 'Owner') return null
  const { id, plan } = call.scope.organization
  const members = others.filter(({ organization }) => organization === id)
  return refuseByMembers(plan, members, call.nowMs)
}

export function removeMember(parts: MemberParts) {
  return async (call: CallTo<'removeMember'>) => {
    const { directory } = parts.roster
    const before = memberOfPath(call, parts.roster)
    if (before === null) return refuse('not_found')
    const refused = refuseMemberChange(call.scope.role, { before, after: null }, directory.members())
    return refused ?? deleteMember(call, before, parts)
  }
}

/** Removes the person's own membership. A person who belongs only through a group cannot leave. */
export function leaveOrganization(parts: MemberParts) {
  return async (call: OrganizationCall) => {
    const { email } = call.session
    const { organization } = call.scope
    const { directory } = parts.roster
    const own = membersOf(directory, organization.id).find(
      ({ identity, invitation }) => identity.kind === 'person' && identity.email === email && invitation === null,
    )
    if (own === undefined) return refuse('not_found')
    return refuseLastOwner(own, null, directory.members()) ?? deleteMember(call, own, parts)
  }
}

async function deleteMember(
  call: OrganizationCall,
  member: Member,
  parts: MemberParts,
): Promise<typeof DONE | Refusal> {
  const { roster, trail, onRemoved } = parts
  const { writer } = roster
  await trail.noteRemoval(call, `Member/${shownName(member)}`)
  const outcome = await changeKeepingOwner(
    {
      before: member,
      after: null,
      write: (stored, manner) => writer.remove(memberAddress(member), stored.version, manner),
    },
    roster,
  )
  if ('code' in outcome) return outcome
  if (outcome.kind !== 'written') return refusedWrite(outcome)
  await onRemoved(member)
  return DONE
}

/** The stored object, with the version to write over, if it equals the judged member. */
export async function readJudged(member: Member, writer: ResourceWriter): Promise<StoredObject | Refusal> {
  return (await readStoredMember(member, writer)) ?? refuse('conflict')
}

/**
 * `patch`: what to change where the member is managed.
 * @throws Error for a dry run, which no route about members has.
 */
export function refusedWrite(
  outcome: Exclude<WriteOutcome, { readonly kind: 'written' }>,
  patch: CopiedPatch | null = null,
): Refusal {
  switch (outcome.kind) {
    case 'conflict':
      return refuse('conflict')
    case 'managed_elsewhere': {
      const { manager, field } = outcome
      return refuse('managed_elsewhere', { manager, field, ...(patch === null ? {} : { patch }) })
    }
    case 'fits':
      throw new Error('nobody asked for a dry run')
    case 'refused': {
      const { plan, reason, field, message } = outcome
      return plan === undefined ? refuse(CODES[reason] ?? 'invalid_field', { field, message }) : refuseUse(plan)
    }
  }
}

/** The compiler decides races; its reasons, as codes of the API. */
const CODES: Readonly<Record<string, 'person_limit' | 'already_member'>> = {
  PersonLimit: 'person_limit',
  Duplicate: 'already_member',
}

/** The member that the path names, in force or not, if the organisation of the path has it. */
export function memberOfPath(
  call: CallTo<'changeMember'> | CallTo<'removeMember'> | CallTo<'inviteAgain'>,
  roster: Roster,
): (Member & Partial<MemberOutOfForce>) | null {
  const { organization } = call.scope
  const isNamed = ({ name }: Member): boolean => name === call.params.member
  const inForce = membersOf(roster.directory, organization.id).find(isNamed)
  return inForce ?? membersOutOfForce(roster, organization.id).find(isNamed) ?? null
}
