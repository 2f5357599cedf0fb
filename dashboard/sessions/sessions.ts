/** Who is signed in: sessions of 7 days from signing in, kept in the hot state. What a person may do is never in them. */

import { shapeOf, isText, isOneOf, isNumber, parsedAs } from '../../domain/guards.ts'
import { sha256Hex } from '../../common/digest.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ProvenIdentity } from '../../domain/people/standing.ts'
import type { SessionVerbs } from '../../ports/hot-state/session-verbs.ts'
import { createGroupMemory, type GroupGrant, type ReadGroups, type SessionKey } from './group-memory.ts'
import type { Randomness } from '../../runtime/random.ts'

const SIGN_IN_METHODS = ['mail', 'oidc', 'link'] as const
type SignInMethod = (typeof SIGN_IN_METHODS)[number]

export interface Session extends ProvenIdentity {
  /** Digest of the cookie's value. */
  readonly id: string
  /** `p_` and 16 hex digits. */
  readonly person: string
  readonly method: SignInMethod
  readonly signedInAtMs: number
}

/** A person who has just proven an address. */
export interface SignedIn {
  readonly email: string
  readonly method: SignInMethod
  /** As reported by the identity provider; empty for other ways to sign in. */
  readonly groups: readonly string[]
  /** For asking the identity provider again; absent for the other ways. */
  readonly grant?: GroupGrant
}

export interface Sessions {
  /** Resolves with the cookie's value: new at each sign-in, whatever the browser had before. */
  readonly begin: (who: SignedIn) => Promise<string>
  /** Null if the session has expired, was ended, or never existed. Rejects while the hot state is unavailable. */
  readonly read: (cookie: string) => Promise<Session | null>
  /** The session's present state; null if it has ended. */
  readonly readAgain: (session: Session) => Promise<Session | null>
  /** The same for work that goes on without a browser, which would have the groups read again: they count for an hour. */
  readonly readUnattended: (session: { readonly id: string }) => Promise<Session | null>
  readonly end: (session: Session) => Promise<void>
  readonly endAllOf: (session: Session) => Promise<void>
}

interface SessionParts {
  readonly hotState: SessionVerbs
  readonly randomness: Randomness
  readonly personId: (email: string) => string
  readonly readGroups: ReadGroups
  readonly nowMs: () => number
}

type SessionRecord = Omit<Session, 'id' | 'groups'>

const isSession = shapeOf<SessionRecord>({
  person: isText,
  email: isText,
  method: isOneOf(SIGN_IN_METHODS),
  signedInAtMs: isNumber,
})

export function createSessions({ hotState, randomness, personId, readGroups, nowMs }: SessionParts): Sessions {
  const memory = createGroupMemory({ hotState, readGroups, nowMs })
  const readById = async (key: SessionKey): Promise<Session | null> => {
    const { id } = key
    const record = await hotState.readSession(id)
    if (record === null) return null
    const stored = parsedAs(isSession, record)
    if (stored === null) return null
    const groups = stored.method === 'oidc' ? await memory.current(key) : null
    return { ...stored, id, groups: groups ?? [] }
  }
  return {
    async begin({ email, method, groups, grant = null }) {
      const cookie = secretText(randomness)
      const stored: SessionRecord = { person: personId(email), email, method, signedInAtMs: nowMs() }
      const id = sha256Hex(cookie)
      if (method === 'oidc') await memory.begin({ id, cookie }, groups, grant)
      await hotState.putSession({
        id,
        person: stored.person,
        record: JSON.stringify(stored),
        forMs: LIMITS.dashboardSessionMs,
      })
      return cookie
    },
    read: (cookie) => readById({ id: sha256Hex(cookie), cookie }),
    readAgain: ({ id }) => readById({ id, cookie: null }),
    readUnattended: ({ id }) => readById({ id, cookie: null, isUnattended: true }),
    end: async ({ id }) => {
      await hotState.dropSession(id)
      await memory.end(id)
    },
    endAllOf: ({ person }) => hotState.dropSessionsOf(person),
  }
}

const SECRET_BYTES = 32

/** 256 random bits as text, for cookies and links. */
export function secretText(randomness: Randomness): string {
  return Buffer.from(randomness.bytes(SECRET_BYTES)).toString('base64url')
}
