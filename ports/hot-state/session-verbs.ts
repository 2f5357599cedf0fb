/**
 * What signing in keeps in the hot state: sessions, and values that can be taken once.
 *
 * They fail closed: a store that lost them has signed everybody out, and one that is away rejects. No adapter goes on
 * with what it remembers. What a verb changed outlives the process when the verb resolves.
 */

export interface NewSession {
  /** Keyed hash or digest of what the cookie holds, never that itself. */
  readonly id: string
  /** Whose session it is: `p_` and 16 hex digits. */
  readonly person: string
  /** In the caller's own form; at most about a kilobyte. */
  readonly record: string
  /** Counted by the store's clock. It never becomes longer. */
  readonly forMs: number
}

export interface SessionVerbs {
  putSession(session: NewSession): Promise<void>
  /** The record of a session that is neither over nor dropped; else null. */
  readSession(id: string): Promise<string | null>
  dropSession(id: string): Promise<void>
  /** Ends all sessions that the person has now, wherever they were begun. */
  dropSessionsOf(person: string): Promise<void>
  /** False where the key holds a value already, which then stays. */
  putOnce(key: string, value: string, forMs: number): Promise<boolean>
  /** The value if it is not over; it stays. */
  readOnce(key: string): Promise<string | null>
  /** The value for exactly one caller; null for all others and where it is over. */
  takeOnce(key: string): Promise<string | null>
}

/** So long it is known that somebody signed out everywhere; no session may be longer. */
export const GENERATION_MS = 8 * 86_400_000
