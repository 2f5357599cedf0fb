/** Checks one Member: whom it names, its place in the plan, and how many organisations the person has already. */

import type { Resource } from './objects.ts'
import { objectKey } from './objects.ts'
import type { Compiler } from './compiler.ts'
import { hasRoom } from './compiler.ts'
import { organizationOf } from './compile-references.ts'
import { LIMITS } from '../limits.ts'
import type { Plan } from '../model.ts'
import { isOwner } from '../people/change-member.ts'
import { mailAddress } from '../schema/mail-address.ts'
import { memberFrom, type Member } from '../people/member.ts'
import { EMAIL_SCHEMA, MEMBER_RULES } from '../resources/member-schema.ts'

/** What the members compiled so far have taken up. */
interface MemberCounts {
  /** Organisation and identity. */
  readonly known: Set<string>
  /** By address. */
  readonly joined: Map<string, number>
  readonly owned: Map<string, number>
}

/** Who may do what. Only the dashboard reads this; it is not part of the catalog. */
export interface MembersInForce {
  /** The oldest first. */
  readonly members: readonly Member[]
  /**
   * Unix ms of the next expiry of an invitation, of refused ones too: from then on the same objects give another
   * result. Infinity if there is none.
   */
  readonly changesAtMs: number
}

/** `nowMs` decides whether an invitation still takes up a place. */
export function compileMembers(compiler: Compiler, nowMs: number): MembersInForce {
  const counts: MemberCounts = { known: new Set(), joined: new Map(), owned: new Map() }
  const candidates = compiler.objects.resources.Member.flatMap((resource) => {
    const candidate = compileMember(compiler, resource, { counts, nowMs })
    return candidate === null ? [] : [candidate]
  })
  const seated = takeSeats(compiler, candidates)
  const members = candidates.filter((candidate) => seated.has(candidate)).map(({ member }) => member)
  warnOfNoOwner(compiler, members)
  return { members, changesAtMs: nextExpiryMs(compiler, nowMs) }
}

function nextExpiryMs({ objects }: Compiler, nowMs: number): number {
  return objects.resources.Member.reduce((next, { spec: { invitation } }) => {
    const expiresAtMs = invitation === undefined ? Infinity : Date.parse(invitation.expiresAt)
    return expiresAtMs > nowMs ? Math.min(next, expiresAtMs) : next
  }, Infinity)
}

/** A member who is in force if the plan has room. */
interface MemberCandidate {
  readonly resource: Resource<'Member'>
  readonly member: Member
  readonly plan: Plan
  /** An expired invitation grants nothing and takes up no place, until it is renewed or deleted. */
  readonly isExpired: boolean
}

/** By age, except that the oldest Owner of an organisation comes first: without one nobody could pay for more places. */
function takeSeats(compiler: Compiler, candidates: readonly MemberCandidate[]): ReadonlySet<MemberCandidate> {
  const seats = new Map<string, number>()
  const owners = new Map<string, MemberCandidate>()
  for (const each of candidates)
    if (isOwner(each.member)) owners.set(each.member.organization, owners.get(each.member.organization) ?? each)
  const seated = [...new Set([...owners.values(), ...candidates])].filter(({ resource, member, plan, isExpired }) => {
    if (isExpired) return true
    const wanted = (seats.get(member.organization) ?? 0) + 1
    if (!hasRoom(compiler, resource, plan, { count: 'members', wanted, field: '' })) return false
    seats.set(member.organization, wanted)
    return true
  })
  return new Set(seated)
}

interface Around {
  readonly counts: MemberCounts
  readonly nowMs: number
}

function compileMember(compiler: Compiler, resource: Resource<'Member'>, around: Around): MemberCandidate | null {
  const organization = organizationOf(compiler, resource)
  const fault = faultOf(resource.spec)
  if (fault !== null) compiler.report(resource, 'InvalidField', '/spec', fault)
  if (organization === null || fault !== null || !hasAddress(compiler, resource)) return null
  const member = memberFrom(resource, organization.id)
  if (!isSingle(compiler, resource, member, around.counts)) return null
  const isExpired = member.invitation !== null && member.invitation.expiresAtMs <= around.nowMs
  if (!isExpired && !hasRoomForPerson(compiler, resource, member, around.counts)) return null
  return { resource, member, plan: organization.plan, isExpired }
}

interface InvitedIdentity {
  readonly email?: string
  readonly group?: string
  readonly invitation?: object
}

function faultOf(spec: InvitedIdentity): string | null {
  const [exactlyOne, noInvitation] = MEMBER_RULES
  if ((spec.email === undefined) === (spec.group === undefined)) return exactlyOne.message
  return spec.group !== undefined && spec.invitation !== undefined ? noInvitation.message : null
}

/** The schema checks its outer form alone. */
function hasAddress(compiler: Compiler, resource: Resource<'Member'>): boolean {
  const { email } = resource.spec
  if (email === undefined || mailAddress(email) === email) return true
  compiler.report(resource, 'InvalidField', '/spec/email', `spec.email: ${EMAIL_SCHEMA.patternMeaning ?? ''}`)
  return false
}

function isSingle(compiler: Compiler, resource: Resource<'Member'>, member: Member, { known }: MemberCounts): boolean {
  const { identity } = member
  const text = identity.kind === 'group' ? `group ${identity.group}` : `person ${identity.email}`
  const key = `${objectKey('Organization', member.namespace, member.organization)}\n${text}`
  const isFirst = !known.has(key)
  known.add(key)
  if (isFirst) return true
  const field = identity.kind === 'group' ? '/spec/group' : '/spec/email'
  compiler.report(resource, 'Duplicate', field, 'an older Member of the organisation names the same person or group')
  return false
}

/** An invitation does not count for the person until it is accepted; otherwise strangers could use up the person's places. */
function hasRoomForPerson(
  compiler: Compiler,
  resource: Resource<'Member'>,
  { identity, role, invitation }: Member,
  { joined, owned }: MemberCounts,
): boolean {
  if (identity.kind === 'group' || invitation !== null) return true
  const { email } = identity
  const all = (joined.get(email) ?? 0) + 1
  const own = (owned.get(email) ?? 0) + (role === 'Owner' ? 1 : 0)
  if (all > LIMITS.organizationsJoined || own > LIMITS.organizationsOwned) {
    const most = `own ${LIMITS.organizationsOwned} organisations and belong to ${LIMITS.organizationsJoined}`
    compiler.report(resource, 'PersonLimit', '/spec/email', `a person may ${most} at most`)
    return false
  }
  joined.set(email, all)
  owned.set(email, own)
  return true
}

/** Only for organisations that have members: one that is managed with kubectl alone needs none. */
function warnOfNoOwner({ objects, made: { organizations }, warn }: Compiler, members: readonly Member[]): void {
  const withMembers = new Set(members.map(({ organization }) => organization))
  const withOwner = new Set(members.filter(isOwner).map(({ organization }) => organization))
  for (const resource of objects.resources.Organization) {
    const id = organizations.get(resource.key)?.id
    if (id === undefined || !withMembers.has(id) || withOwner.has(id)) continue
    warn(resource, 'NoOwner', '', 'no person among its members is its Owner')
  }
}
