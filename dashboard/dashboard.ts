/** Puts the dashboard's API together: each route of the table with its handler. */

import type { ClaimRules } from '../domain/people/oidc-claims.ts'
import type { HotState } from '../ports/hot-state/hot-state.ts'
import { answer, type Handler } from './http/call.ts'
import { createServe, type Serve, type ServeParts } from './http/serve.ts'
import type { RouteRow } from './http/route.ts'
import type { Outbox } from './mail/outbox.ts'
import { accept, invite, inviteAgain } from './people/invitations.ts'
import { readMe, readOrganization, signOut } from './people/me.ts'
import { changeMember, leave, listMembers, removeMember } from './people/members.ts'
import type { ResourceWriter } from './resources/writer.ts'
import { ROUTES, type RouteName } from './routes.ts'
import { createSessions } from './sessions/sessions.ts'
import type { Discovery } from './sign-in/discovery.ts'
import { askForMail, confirmMail } from './sign-in/mail-link.ts'
import { finishOidc, startOidc } from './sign-in/oidc.ts'
import { useSignInLink } from './sign-in/operator-link.ts'

interface DashboardParts extends Omit<ServeParts, 'routes' | 'sessions' | 'hotState'> {
  /** One that rejects while its store is away. */
  readonly hotState: HotState
  readonly writer: ResourceWriter
  /** Null: no mail is sent. */
  readonly outbox: Outbox | null
  /** Null: there is no identity provider. */
  readonly discovery: Discovery | null
  readonly claimRules: ClaimRules
  /** Keyed hashes, one key for each use. */
  readonly keys: {
    /** `p_` and 16 hex digits. */
    readonly personId: (email: string) => string
    readonly memberHash: (text: string) => string
    readonly signInHash: (text: string) => string
  }
}

export function createDashboard(parts: DashboardParts): Serve {
  const sessions = createSessions({ ...parts, personId: parts.keys.personId })
  const signIn = { ...parts, sessions, hash: parts.keys.signInHash, rules: parts.claimRules }
  const people = { ...parts, hash: parts.keys.memberHash }
  const handlers: { readonly [N in RouteName]: Handler } = {
    waysIn: async () => answer({ mail: parts.outbox !== null, oidc: parts.discovery !== null }),
    signInMail: askForMail(signIn),
    confirmMail: confirmMail(signIn),
    startOidc: startOidc(signIn),
    finishOidc: finishOidc(signIn),
    useLink: useSignInLink(parts.hotState, sessions),
    signOut: signOut(sessions),
    me: readMe(parts.directory),
    acceptInvitation: accept(people),
    organization: readOrganization(),
    members: listMembers(parts.directory),
    invite: invite(people),
    changeMember: changeMember(people),
    removeMember: removeMember(people),
    inviteAgain: inviteAgain(people),
    leave: leave(people),
  }
  const rows: Readonly<Record<string, RouteRow>> = ROUTES
  const routes = Object.entries(handlers).map(([name, handle]) => ({ row: rows[name] as RouteRow, handle }))
  return createServe({ ...parts, routes, sessions })
}
