/**
 * The part of the hot state that signing in needs: sessions, and one-time values.
 *
 * They fail closed: if a store has lost them, everyone is signed out; if it is unreachable, verbs reject. No adapter
 * serves them from its own memory. When a verb resolves, its changes outlive the process.
 */

interface NewSession {
  /** Keyed hash or digest of the cookie's content, never the content itself. */
  readonly id: string
  /** The person of the session: `p_` and 16 hex digits. */
  readonly person: string
  /** In the caller's own form; at most about a kilobyte. */
  readonly record: string
  /** In the time of the store's clock; never extended. */
  readonly forMs: number
}

/** One-time values. */
export interface OnceVerbs {
  /** False if the key already holds a value, which then stays. */
  putOnce(key: string, value: string, forMs: number): Promise<boolean>
  /** In place of whatever the key holds, at once: nobody who reads meanwhile finds nothing. */
  replaceOnce(key: string, value: string, forMs: number): Promise<void>
  /** The value if it has not expired; it stays. */
  readOnce(key: string): Promise<string | null>
  /** The value, for exactly one caller; null for all others and if it has expired. */
  takeOnce(key: string): Promise<string | null>
}

/** Sessions of people. */
export interface SessionRecords {
  putSession(session: NewSession): Promise<void>
  /** The record of a session that has neither expired nor been dropped; otherwise null. */
  readSession(id: string): Promise<string | null>
  dropSession(id: string): Promise<void>
  /** Ends all sessions that the person has now, on any device, and deletes their records. */
  dropSessionsOf(person: string): Promise<void>
}

export interface SessionVerbs extends SessionRecords, OnceVerbs {}

/** How long a sign-out everywhere is remembered; no session may be longer. */
export const GENERATION_MS = 8 * 86_400_000
