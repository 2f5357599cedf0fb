/** Creates, resends and accepts invitations. Of any number of acceptances at once exactly one is written. */

import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import {
  refuseByMembers,
  refuseByPerson,
  refuseMemberChange,
  refuseRenewal,
} from '../../domain/people/change-member.ts'
import { type OpenInvitation, type Member, type MemberIdentity, invitationIn } from '../../domain/people/member.ts'
import { mailAddress } from '../../domain/schema/mail-address.ts'
import { invitationsOf } from '../../domain/people/standing.ts'
import { EMAIL_SCHEMA, INVITATION_ID_CHARS } from '../../domain/resources/member-schema.ts'
import type { Plan } from '../../domain/model.ts'
import type { Randomness } from '../../runtime/random.ts'
import { answer, answerCreated, type OrganizationCall, type CallTo } from '../http/call.ts'
import { invitationHit, refuseByRate } from '../http/limits.ts'
import type { Outbox } from '../mail/outbox.ts'
import { membersOf } from '../resources/directory.ts'
import { installationOf } from '../resources/inventory.ts'
import type { Trail } from '../events/trail.ts'
import type { Roster } from './out-of-force.ts'
import { memberOfPath, readJudged, refusedWrite, type MemberParts } from './members.ts'
import { memberName } from './names.ts'
import { linkOf } from './invitation-letter.ts'
import { invitationSpec, memberSpec } from './spec.ts'
import { memberAddress } from './stored-member.ts'

export interface InvitationParts {
  readonly roster: Roster
  readonly trail: Trail
  readonly hotState: HitCounter
  readonly letters: InvitationLetters
  readonly randomness: Randomness
  readonly hash: (text: string) => string
}

/** How an invitation reaches its person. */
interface InvitationLetters {
  /** Null: no mail; the answer then carries the link, for the inviting person to pass on. */
  readonly outbox: Outbox | null
  readonly baseUrl: string
}

/** A person is invited, and joins by accepting; a group joins at once. */
export function invite(parts: InvitationParts) {
  return async (call: CallTo<'invite'>) => {
    const { organization, role: actor } = call.scope
    const identity = invitedIdentity(call)
    if (identity === null) {
      return refuseField('', 'must have either email or group, and not both')
    }
    if (identity.kind === 'person' && mailAddress(identity.email) !== identity.email)
      return refuseField('/email', EMAIL_SCHEMA.patternMeaning ?? '')
    const { role } = call.body
    const members = membersOf(parts.roster.directory, organization.id)
    const refused =
      refuseMemberChange(actor, { before: null, after: role }, members) ??
      refuseKnown(identity, members) ??
      refuseByMembers(organization.plan, members, call.nowMs) ??
      (await refuseByRate([invitationHit(organization.id)], parts.hotState))
    if (refused !== null) return refused
    const invitation = identity.kind === 'group' ? null : newInvitation(call, parts.randomness)
    const { namespace } = organization
    const name = memberName(organization.id, identity, parts.hash)
    const own = memberSpec({ organization, identity, role, invitation })
    const spec = { ...own, ...installationOf(organization, parts.roster.inventory) }
    const sign = parts.trail.sign(call)
    await mailInvitation(parts.letters, { namespace, name, organization: organization.id, invitation })
    const outcome = await parts.roster.writer.create({ kind: 'Member', namespace, name, spec }, { sign })
    // A member of this name exists already, which the directory does not show yet.
    if (outcome.kind === 'conflict') return refuse('already_member')
    return outcome.kind === 'written' ? invited({ name, identity, invitation }, parts.letters) : refusedWrite(outcome)
  }
}

/** Creates a new link; the previous one becomes void. */
export function inviteAgain(parts: InvitationParts) {
  return async (call: CallTo<'inviteAgain'>) => {
    const { organization, role: actor } = call.scope
    const before = memberOfPath(call, parts.roster)
    if (before?.invitation === null || before === null) return refuse('not_found')
    const change = { before, after: before.role }
    const members = membersOf(parts.roster.directory, organization.id)
    const refused =
      refuseMemberChange(actor, change, members) ??
      (before.refusal === undefined
        ? refuseRenewal(before.invitation, organization.plan, members, call.nowMs)
        : refuseOutOfForce(organization.plan, members, call.nowMs)) ??
      (await refuseByRate([invitationHit(organization.id)], parts.hotState))
    if (refused !== null) return refused
    const invitation = newInvitation(call, parts.randomness)
    const stored = await readJudged(before, parts.roster.writer)
    if ('code' in stored) return stored
    const spec = { ...stored.spec, invitation: invitationSpec(invitation) }
    await mailInvitation(parts.letters, { ...before, invitation })
    const sign = parts.trail.sign(call)
    const outcome = await parts.roster.writer.replace({ ...memberAddress(before), spec }, stored.version, { sign })
    return outcome.kind === 'written' ? invited({ ...before, invitation }, parts.letters) : refusedWrite(outcome)
  }
}

/** Its link would lead nowhere: out of force it has no place in the plan, or repeats an older one. */
function refuseOutOfForce(plan: Plan, members: readonly Member[], nowMs: number): Refusal {
  return refuseByMembers(plan, members, nowMs) ?? refuse('already_member')
}

/** Only a person who has proven the invited address may accept; the ID in the link names the only valid invitation. */
export function accept({ roster: { directory, writer }, trail }: MemberParts) {
  return async (call: CallTo<'acceptInvitation'>) => {
    const { email } = call.session
    const { invitation: id } = call.body
    const members = directory.members()
    const found = invitationsOf(email, members, call.nowMs).find(({ invitation }) => invitation?.id === id)
    if (found === undefined) return refuse('invitation_over')
    const refused = refuseByPerson(email, found.role, members)
    if (refused !== null) return refused
    const stored = await writer.read(memberAddress(found))
    if (stored === null || invitationIn(stored.spec) !== id) return refuse('invitation_over')
    const { invitation: _invitation, ...spec } = stored.spec
    const sign = trail.sign(call)
    const outcome = await writer.replace({ ...memberAddress(found), spec }, stored.version, { sign })
    if (outcome.kind === 'conflict') return refuse('invitation_over')
    return outcome.kind === 'written'
      ? answer({ organization: found.organization, role: found.role })
      : refusedWrite(outcome)
  }
}

function invitedIdentity({ body: { email, group } }: CallTo<'invite'>): MemberIdentity | null {
  if (email !== undefined && group !== undefined) return null
  if (email !== undefined) return { kind: 'person', email }
  return group === undefined ? null : { kind: 'group', group }
}

function refuseKnown(identity: MemberIdentity, members: readonly Member[]): Refusal | null {
  const text = JSON.stringify(identity)
  return members.some((member) => JSON.stringify(member.identity) === text) ? refuse('already_member') : null
}

function newInvitation({ nowMs }: OrganizationCall, randomness: Randomness): OpenInvitation {
  return { id: randomness.hex(INVITATION_ID_CHARS / 2), expiresAtMs: nowMs + LIMITS.invitationMs }
}

interface Announced {
  readonly namespace: string
  readonly name: string
  readonly organization: string
  readonly invitation: OpenInvitation | null
}

/**
 * The letter is on the log before the object is written: an answer that says somebody is invited can rely on the mail. If the
 * object then is not written, the letter is void.
 */
async function mailInvitation({ outbox }: InvitationLetters, { invitation, ...member }: Announced): Promise<void> {
  const { namespace, name, organization } = member
  if (outbox === null || invitation === null) return
  await outbox.put({ kind: 'invitation', namespace, name, organization, invitation: invitation.id })
}

interface InvitedMember {
  readonly name: string
  readonly identity: MemberIdentity
  readonly invitation: OpenInvitation | null
}

/** Without mail the answer carries the link, for the inviting person to pass on. */
function invited({ name, identity, invitation }: InvitedMember, { outbox, baseUrl }: InvitationLetters) {
  const isMailed = outbox !== null || invitation === null || identity.kind === 'group'
  const link = isMailed ? {} : { link: linkOf(invitation.id, baseUrl) }
  return answerCreated({ name, ...link })
}
