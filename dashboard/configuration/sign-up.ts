/** Creates an organisation for a person who signs up, if sign-up is open. It is a tenant, from which nothing of others can be reached. */

import { organizationId } from '../../domain/catalog/objects.ts'
import { refuse, refuseField } from '../../domain/errors.ts'
import type { Plan } from '../../domain/model.ts'
import { refuseByPerson } from '../../domain/people/change-member.ts'
import type { MemberIdentity } from '../../domain/people/member.ts'
import { isTimeZone } from '../../domain/time-zones.ts'
import { answerCreated, type CallTo } from '../http/call.ts'
import { memberName } from '../people/names.ts'
import { memberSpec } from '../people/spec.ts'
import type { Roster } from '../people/out-of-force.ts'
import { membersOf } from '../resources/directory.ts'
import type { Trail } from '../events/trail.ts'
import type { WriteOutcome } from '../resources/writer.ts'

export interface SignUpParts {
  readonly roster: Roster
  /** Null: only people who are invited or declared may sign in. */
  readonly signUp: {
    /** The namespace of organisations that people made by signing up. */
    readonly namespace: string
    readonly installation: string | null
    /** Of each new organisation; it is written once. */
    readonly plan: Plan
  } | null
  readonly memberHash: (text: string) => string
  readonly trail: Trail
}

const NAME_HEX = 16
/** Of one person; each organisation that was removed has used one up. */
const NAMES_MAX = 100

/**
 * The name is derived from the person and a number, so that repeating an interrupted sign-up completes it, and several at once
 * create one organisation. Nobody else can tell whose it is.
 */
export function signUp(parts: SignUpParts) {
  const { roster, signUp: open, memberHash, trail } = parts
  const { directory, writer } = roster
  return async (call: CallTo<'signUp'>) => {
    if (open === null) return refuse('forbidden')
    const { email } = call.session
    const tooMany = refuseByPerson(email, 'Owner', directory.members())
    if (tooMany !== null) return tooMany
    const { namespace, plan } = open
    const { displayName, timeZone } = call.body
    if (timeZone !== undefined && !isTimeZone(timeZone))
      return refuseField('/timeZone', 'is no time zone of the IANA database')
    const chosen = timeZone === undefined ? { displayName, plan } : { displayName, plan, timeZone }
    const sign = trail.sign(call)
    const installation = open.installation === null ? {} : { installation: open.installation }
    const identity: MemberIdentity = { kind: 'person', email }
    for (let number = 1; number <= NAMES_MAX; number += 1) {
      const name = `o-${memberHash(`organization ${number}\n${email}`).slice(0, NAME_HEX)}`
      const id = organizationId({ namespace, name, tenant: name })
      if (membersOf(directory, id).length > 0 || (await wasRemoved({ namespace, name }, roster))) continue
      const wanted = { ...chosen, tenant: name, ...installation }
      const made = await writer.create({ kind: 'Organization', namespace, name, spec: wanted }, { sign })
      if (made.kind === 'refused') return refuseField('/displayName', made.message)
      const organization = { objectName: name, tenant: name }
      const spec = { ...memberSpec({ organization, identity, role: 'Owner', invitation: null }), ...installation }
      const owner = { kind: 'Member', namespace, name: memberName(id, identity, memberHash), spec }
      const joined = await writer.create(owner, { sign })
      return existsNow(joined) ? answerCreated({ id }) : refuse('conflict')
    }
    return refuse('person_limit')
  }
}

/** What is left of an organisation, its members among it, must not come back to life in a new one of its name. */
async function wasRemoved(
  place: { readonly namespace: string; readonly name: string },
  { inventory, writer }: Roster,
): Promise<boolean> {
  return inventory.isNamed(place) && (await writer.read({ kind: 'Organization', ...place })) === null
}

/** Another request has just created it. */
function existsNow({ kind }: WriteOutcome): boolean {
  return kind === 'written' || kind === 'conflict'
}
