/** Who is signed in, where they belong, and how they sign out. */

import { invitationsOf, rolesOf } from '../../domain/people/standing.ts'
import type { Directory } from '../resources/directory.ts'
import { answer, DONE, type OrganizationCall, type PersonCall, type CallTo } from '../http/call.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { LIMITS } from '../../domain/limits.ts'

interface MeParts {
  readonly directory: Directory
  readonly service: ServiceOffers
}

/** What this service offers to everybody. */
export interface ServiceOffers {
  readonly hasBilling: boolean
  /** Anybody who is signed in may create an organisation. */
  readonly mayMakeOrganizations: boolean
}

export function readMe({ directory, service }: MeParts) {
  return async (call: PersonCall) => {
    const session = call.session
    const members = directory.members()
    const organizations = directory.organizations()
    return answer({
      person: session.person,
      email: session.email,
      ...service,
      signedInBy: session.method,
      signedInAt: session.signedInAtMs,
      sessionEndsAt: session.signedInAtMs + LIMITS.dashboardSessionMs,
      organizations: [...rolesOf(session, members)].flatMap(([id, role]) => {
        const organization = organizations.get(id)
        return organization === undefined ? [] : [{ id, displayName: organization.displayName, role }]
      }),
      invitations: invitationsOf(session.email, members, call.nowMs).flatMap(({ organization, role, invitation }) => {
        const found = organizations.get(organization)
        if (found === undefined || invitation === null) return []
        return [{ id: invitation.id, organization: found.displayName, role, expiresAt: invitation.expiresAtMs }]
      }),
    })
  }
}

export function endSession(sessions: Sessions) {
  return async (call: CallTo<'signOut'>) => {
    const session = call.session
    if (call.body.everywhere === true) await sessions.endAllOf(session)
    await sessions.end(session)
    return { ...DONE, cookies: { session: null } }
  }
}

export function readOrganization() {
  return async (call: OrganizationCall) => {
    const { organization, role } = call.scope
    const { id, displayName, plan } = organization
    return answer({ id, displayName, plan, role })
  }
}
