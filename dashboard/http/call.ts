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
  /** As it was sent, unchecked. */
  readonly query: URLSearchParams
  /** Fits the schema of the route's query; empty if it takes none. */
  readonly queryValues: JsonObject
  /** Fits the schema of the route; empty if it takes none. */
  readonly body: JsonObject
  /** Of a signed route: the body as it came, and its signature. */
  readonly raw: { readonly body: Buffer; readonly signature: string } | null
  /** Keyed hash under the key of the day. */
  readonly addressHash: string
  /** Version in the header If-Match, without quotes; null if there is none. */
  readonly ifMatch: string | null
  /** What this browser was given when it began to sign in; null if it did not. */
  readonly browser: string | null
  readonly session: Session | null
  readonly scope: OrganizationScope | null
  /** Aborted as soon as the client is gone. */
  readonly signal: AbortSignal
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
  /** Version of what is answered. */
  readonly etag?: string
}

/** An answer that is made while it is sent: a download, or a stream of events. It ends with its chunks. */
export interface StreamAnswer {
  readonly kind: 'stream'
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  /** Asked for one after the other, as fast as the client takes them. If they throw, the answer is cut off. */
  readonly chunks: AsyncIterable<string | Uint8Array>
}

export type HandlerOutcome = Answer | StreamAnswer | Refusal
export type Handler = (call: Call) => Promise<HandlerOutcome>

/** A handler for each row of a table of routes. */
export type HandlersOf<Rows> = { readonly [N in keyof Rows]: Handler }

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
export function textField({ body }: Call, field: string): string {
  const value = body[field]
  return typeof value === 'string' ? value : ''
}

export function optionalText({ body }: Call, field: string): string | null {
  const value = body[field]
  return typeof value === 'string' ? value : null
}
