/** One request to the dashboard's API as handlers see it: checked, and with who is asking. */

import type { Refusal } from '../../domain/errors.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { Session } from '../sessions/sessions.ts'
import type { DirectoryOrganization } from '../resources/directory.ts'

/** What the role in the organisation of the path allows. */
export interface OrganizationScope {
  readonly organization: DirectoryOrganization
  readonly role: MemberRole
}

export interface Call {
  readonly requestId: string
  readonly nowMs: number
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Fits the schema of the route; empty if it takes none. */
  readonly body: JsonObject
  /** Keyed hash under the key of the day. */
  readonly addressHash: string
  /** What this browser was given when it began to sign in; null if it did not. */
  readonly browser: string | null
  readonly session: Session | null
  readonly scope: OrganizationScope | null
}

/** Cookies of ours that an answer sets; null takes one away. */
interface CookieChanges {
  readonly session?: { readonly value: string; readonly forMs: number } | null
  readonly browser?: { readonly value: string; readonly forMs: number } | null
}

export interface Answer {
  readonly kind: 'answer'
  readonly status: 200 | 201 | 202 | 204 | 303
  readonly body?: object
  /** For a 303: a path of ours, or the address of the identity provider. */
  readonly location?: string
  readonly cookies?: CookieChanges
}

export type HandlerOutcome = Answer | Refusal
export type Handler = (call: Call) => Promise<HandlerOutcome>

export function answer(body: object, more: Partial<Omit<Answer, 'kind' | 'body'>> = {}): Answer {
  return { kind: 'answer', status: 200, body, ...more }
}

export const DONE: Answer = { kind: 'answer', status: 204 }

/** @throws Error if the route needs no session, which is a fault of the table. */
export function sessionOf({ session }: Call): Session {
  if (session === null) throw new Error('the route needs no session')
  return session
}

/** @throws Error if the route's path names no organisation, which is a fault of the table. */
export function scopeOf({ scope }: Call): OrganizationScope {
  if (scope === null) throw new Error('the route needs no role')
  return scope
}

/** A text of the body; the schema has said that it is there. */
export function textOf({ body }: Call, field: string): string {
  const value = body[field]
  return typeof value === 'string' ? value : ''
}

export function optionalText({ body }: Call, field: string): string | null {
  const value = body[field]
  return typeof value === 'string' ? value : null
}
