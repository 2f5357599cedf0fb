/** One request to the dashboard's API as handlers see it: checked, and with the person behind it. */

import type { Refusal } from '../../domain/errors.ts'
import type { ReadRank } from '../../domain/limits.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { Session } from '../sessions/sessions.ts'
import type { CookieValue } from './cookies.ts'
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
  /** Raw and unchecked. */
  readonly query: URLSearchParams
  /** Fits the schema of the route's query; empty if it takes none. */
  readonly queryValues: JsonObject
  /** Fits the schema of the route; empty if it takes none. */
  readonly body: JsonObject
  /** Of a signed route: the raw body and its signature. */
  readonly raw: { readonly body: Buffer; readonly signature: string } | null
  /** Keyed hash under the key of the day. */
  readonly addressHash: string
  /** Version in the header If-Match, without quotes; null if there is none. */
  readonly ifMatch: string | null
  /** What this browser was given at the start of its sign-in; null if there was none. */
  readonly browser: string | null
  /** The same for its attempts at the identity provider, by their IDs, the oldest first. */
  readonly attempts: ReadonlyMap<string, string>
  /** That of the route. */
  readonly rank: ReadRank
  readonly session: Session | null
  readonly scope: OrganizationScope | null
  /** A HEAD request: only the head of the answer is sent. */
  readonly isHead: boolean
  /** Aborted as soon as the client is gone. */
  readonly signal: AbortSignal
}

/** Our own cookies that an answer sets; null deletes one. */
export interface CookieChanges {
  readonly session?: CookieValue | null
  readonly browser?: CookieValue | null
  readonly attempts?: ReadonlyMap<string, CookieValue | null>
}

type AnswerStatus = 200 | 201 | 202 | 204 | 303

/** The OpenAPI document is made from what each handler puts here. */
export interface Answer<
  Body extends object | undefined = object | undefined,
  Status extends AnswerStatus = AnswerStatus,
> {
  readonly kind: 'answer'
  readonly status: Status
  readonly body: Body
  /** For a 303: one of our own paths, or the address of the identity provider. */
  readonly location?: string
  readonly cookies?: CookieChanges
  /** Version of the answered object. */
  readonly etag?: string
}

/** An answer whose body is written as JSON already: by the thread that made it, in UTF-8. */
export interface WrittenAnswer extends Omit<Answer, 'kind' | 'body'> {
  readonly kind: 'written'
  readonly json: Uint8Array
}

/** A streamed answer: a download, or a stream of events. It ends with its chunks. */
export interface StreamAnswer<Type extends string = string> {
  readonly kind: 'stream'
  readonly contentType: Type
  readonly headers?: Readonly<Record<string, string>>
  /** Read one after another, as fast as the client accepts them. If reading throws, the answer is cut off. */
  readonly chunks: AsyncIterable<string | Uint8Array, void>
  /** Called twice a second while the answer is sent; once it says false, the answer is cut off. If absent, nothing is checked. */
  readonly mayGoOn?: () => Promise<boolean>
  /** Called once nothing more is sent, also if no chunk was ever read: to HEAD, or if the client left before. */
  readonly onEnd?: () => void
}

export type HandlerOutcome = Answer | WrittenAnswer | StreamAnswer | Refusal
export type Handler = (call: Call) => Promise<HandlerOutcome>

/** A handler for each row of a table of routes. */
export type HandlersOf<Rows> = { readonly [N in keyof Rows]: Handler }

type AnswerParts = Partial<Pick<Answer, 'cookies' | 'etag'>>

export function answer<Body extends object>(body: Body, more: AnswerParts = {}): Answer<Body, 200> {
  return { kind: 'answer', status: 200, body, ...more }
}

/** Something new is there. */
export function answerCreated<Body extends object>(body: Body, more: AnswerParts = {}): Answer<Body, 201> {
  return { kind: 'answer', status: 201, body, ...more }
}

/** It will be done: it is on the event log. */
export function answerAccepted<Body extends object>(body: Body, more: AnswerParts = {}): Answer<Body, 202> {
  return { kind: 'answer', status: 202, body, ...more }
}

/** Sends the browser on, to one of our own paths or the identity provider. */
export function answerElsewhere(location: string, cookies: CookieChanges): Answer<undefined, 303> {
  return { kind: 'answer', status: 303, body: undefined, location, cookies }
}

export const DONE: Answer<undefined, 204> = { kind: 'answer', status: 204, body: undefined }

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

/** A text of the body; the schema guarantees that it is present. */
export function textField({ body }: Call, field: string): string {
  const value = body[field]
  return typeof value === 'string' ? value : ''
}

export function optionalText({ body }: Call, field: string): string | null {
  const value = body[field]
  return typeof value === 'string' ? value : null
}
