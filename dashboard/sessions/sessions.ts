/** Who is signed in: sessions of 7 days from signing in, kept in the hot state. What a person may do is never in them. */

import { sha256Hex } from '../../common/digest.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ProvenIdentity } from '../../domain/people/standing.ts'
import type { SessionVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { Randomness } from '../../runtime/random.ts'

type SignInMethod = 'mail' | 'oidc' | 'link'

export interface Session extends ProvenIdentity {
  /** Digest of what the cookie holds. */
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
  /** As the identity provider named them; empty for the other ways to sign in. */
  readonly groups: readonly string[]
}

export interface Sessions {
  /** Gives what the cookie is to hold: new at each sign-in, whatever the browser held before. */
  readonly begin: (who: SignedIn) => Promise<string>
  /** Null if the session has expired, was ended, or never existed. Rejects while the hot state is away. */
  readonly read: (cookie: string) => Promise<Session | null>
  /** What the session is now; null if it is over. */
  readonly readAgain: (session: Session) => Promise<Session | null>
  readonly end: (session: Session) => Promise<void>
  readonly endAllOf: (session: Session) => Promise<void>
}

interface SessionParts {
  readonly hotState: SessionVerbs
  readonly randomness: Randomness
  readonly personId: (email: string) => string
  readonly nowMs: () => number
}

type SessionRecord = Omit<Session, 'id'>

export function createSessions({ hotState, randomness, personId, nowMs }: SessionParts): Sessions {
  const readById = async (id: string): Promise<Session | null> => {
    const record = await hotState.readSession(id)
    if (record === null) return null
    const stored = JSON.parse(record) as SessionRecord
    // The identity provider is not asked again, so its groups are valid for an hour.
    const areGroupsFresh = nowMs() - stored.signedInAtMs < LIMITS.groupMembershipMs
    return { ...stored, id, groups: areGroupsFresh ? stored.groups : [] }
  }
  return {
    async begin({ email, method, groups }) {
      const cookie = secretText(randomness)
      const stored: SessionRecord = { person: personId(email), email, method, groups, signedInAtMs: nowMs() }
      await hotState.putSession({
        id: sha256Hex(cookie),
        person: stored.person,
        record: JSON.stringify(stored),
        forMs: LIMITS.dashboardSessionMs,
      })
      return cookie
    },
    read: (cookie) => readById(sha256Hex(cookie)),
    readAgain: ({ id }) => readById(id),
    end: ({ id }) => hotState.dropSession(id),
    endAllOf: ({ person }) => hotState.dropSessionsOf(person),
  }
}

const SECRET_BYTES = 32

/** 256 random bits as text, for cookies and links. */
export function secretText(randomness: Randomness): string {
  return Buffer.from(randomness.bytes(SECRET_BYTES)).toString('base64url')
}
