/** One request to the dashboard's API as handlers see it: checked, and with the person behind it. */

import type { Refusal } from '../../domain/errors.ts'
import type { ReadRank } from '../../domain/limits.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { AnswerStatus, BodyOf, DeclaredJson, ParamsOf, QueryOf, RouteRow } from '../api/route.ts'
import type { RouteName, ROUTES } from '../api/routes.ts'
import type { SharedReport } from '../../domain/people/share-link.ts'
import type { Session } from '../sessions/sessions.ts'
import type { CookieValue } from './cookies.ts'
import type { DirectoryOrganization } from '../resources/directory.ts'

/** What the role in the organisation of the path allows; a key and a link allow less than the least role. */
export interface OrganizationScope {
  readonly organization: DirectoryOrganization
  readonly role: MemberRole
  /** Who is charged for what is read: the person, the key, or the link. */
  readonly reader: string
}

export type QueryValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export interface Call<
  Params = Readonly<Record<string, string>>,
  Query = QueryValues,
  Body = object,
  Person extends Session | null = Session | null,
  Scope extends OrganizationScope | null = OrganizationScope | null,
> {
  readonly requestId: string
  readonly nowMs: number
  readonly params: Params
  /** Fits the declaration of the route; empty if it takes none. */
  readonly query: Query
  /** Of a callback: its query as it came. */
  readonly search: URLSearchParams
  /** Fits the declaration of the route, of an upload an `Upload`; empty if it takes none. */
  readonly body: Body
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
  /** Of the person who is signed in; never null on a route that needs one. */
  readonly session: Person
  /** Never null on a route that needs a role. */
  readonly scope: Scope
  /** The client accepts CSV, and not JSON. */
  readonly wantsCsv: boolean
  /** A HEAD request: only the head of the answer is sent. */
  readonly isHead: boolean
  /** Aborted as soon as the client is gone. */
  readonly signal: AbortSignal
}

/** A call of a route that needs somebody who is signed in. */
export type PersonCall<Params = Call['params'], Query = QueryValues, Body = object> = Call<Params, Query, Body, Session>

/** A call of a route that needs a role in the organisation of its path. */
export type OrganizationCall<Params = Call['params'], Query = QueryValues, Body = object> = Call<
  Params,
  Query,
  Body,
  Session,
  OrganizationScope
>

/** A call in an organisation, of a person or of a program that shows a key. */
export type ScopedCall<Params = Call['params'], Query = QueryValues, Body = object> = Call<
  Params,
  Query,
  Body,
  Session | null,
  OrganizationScope
>

/** Of a call in an organisation: whether a person is behind it. */
export function isOfPerson(call: ScopedCall): call is OrganizationCall {
  return call.session !== null
}

export function isScoped(call: Call): call is ScopedCall {
  return call.scope !== null
}

type NoParams = Readonly<Record<string, never>>
/** As a query. */
type ReportOfLink = { readonly [N in keyof SharedReport]: SharedReport[N] }

/** A call of a route, with the types of its declaration. Of a link what it shows is in the place of the query, and its token is left out. */
type CallOf<Row extends RouteRow> = Row['needs'] extends null
  ? Call<ParamsOf<Row>, QueryOf<Row>, BodyOf<Row>>
  : Row['needs'] extends 'Person'
    ? PersonCall<ParamsOf<Row>, QueryOf<Row>, BodyOf<Row>>
    : Row['needs'] extends 'Key'
      ? ScopedCall<ParamsOf<Row>, QueryOf<Row>, BodyOf<Row>>
      : Row['needs'] extends 'Link'
        ? ScopedCall<NoParams, ReportOfLink, BodyOf<Row>>
        : OrganizationCall<ParamsOf<Row>, QueryOf<Row>, BodyOf<Row>>
export type CallTo<Name extends RouteName> = CallOf<(typeof ROUTES)[Name]>

/** Our own cookies that an answer sets; null deletes one. */
export interface CookieChanges {
  readonly session?: CookieValue | null
  readonly browser?: CookieValue | null
  readonly attempts?: ReadonlyMap<string, CookieValue | null>
}

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
  /** Seconds for which the browser may keep it; none if absent. */
  readonly keptS?: number
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
/** A handler as the server calls it, which has checked the request by the declaration of the route. */
export type Handler = (call: Call) => Promise<HandlerOutcome>

type DeclaredOutcome<Row extends RouteRow> = {
  [Status in keyof Row['answers'] & AnswerStatus]: Row['answers'][Status] extends null
    ? Answer<undefined, Status>
    : Row['answers'][Status] extends readonly (infer Type extends string)[]
      ? StreamAnswer<Type>
      : Answer<DeclaredJson<Row, Status>, Status> | DeclaredCsv<Row>
}[keyof Row['answers'] & AnswerStatus]

export const CSV_TYPE = 'text/csv; charset=utf-8'
type DeclaredCsv<Row extends RouteRow> = Row extends { readonly hasCsv: true } ? StreamAnswer<typeof CSV_TYPE> : never

/** A handler for each row of a table of routes, with the types of the declarations. */
export type HandlersOf<Rows> = {
  readonly [N in keyof Rows]: Rows[N] extends RouteRow
    ? (call: CallOf<Rows[N]>) => Promise<DeclaredOutcome<Rows[N]> | Refusal>
    : never
}

/** The same handlers as the server calls them. */
export function asCalled<Handlers extends object>(handlers: Handlers): { readonly [N in keyof Handlers]: Handler } {
  // The server hands on what fits the declaration that the types of each handler come from.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the server hands on what fits the declaration of the route
  return handlers as { readonly [N in keyof Handlers]: Handler }
}

type AnswerParts = Partial<Pick<Answer, 'cookies' | 'etag' | 'keptS'>>

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
