/**
 * The declaration of a route of the dashboard's API. The server checks requests by it, the handler's types and those that pages import come
 * from it, and so does the OpenAPI document.
 */

import type { TSchema } from 'typebox'

import type { ErrorCode, Refusal } from '../../domain/errors.ts'
import type { ReadRank } from '../../domain/limits.ts'
import type { KeyScope, MemberRole } from '../../domain/model.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { Shape } from '../../runtime/http/shapes.ts'

/**
 * Null: anyone. `Person`: anyone who is signed in. A role: in the organisation that the path names. `Key`: a program that shows an API key, in the
 * organisation of the key; `Link`: whoever has the token that the path names, for what that link shows. No session counts for these two.
 */
export type Need = 'Person' | PassNeed | MemberRole | null
export type PassNeed = 'Key' | 'Link'

export function isOfPass(needs: Need): needs is PassNeed {
  return needs === 'Key' || needs === 'Link'
}

/**
 * `callback`: from another website, as the identity provider's; counted and checked by its own handler. `signed`: from another
 * service, which proves itself by a signature over its body; not counted. `key`: from wherever a program runs, counted by its key. `link`: from wherever somebody
 * follows one, counted by link and address.
 */
export type RateClass = 'read' | 'write' | 'sign-in' | 'callback' | 'signed' | 'key' | 'link'

export type AnswerStatus = 200 | 201 | 202 | 204 | 303

/** A JSON body by its schema, a stream of one of these types, or no body. */
type DeclaredAnswer = TSchema | readonly string[] | null

/** A file as the body of a request: its content type, and the most bytes of it that are read. */
export interface UploadRow {
  readonly type: string
  readonly mostBytes: number
}

/** Such a file as its handler reads it. */
export interface Upload {
  /**
   * Hands over each piece until `take` returns false, and resolves with null then or at the end of the body; with a refusal once the body is larger than
   * the route allows. Rejects if the client disconnects. To be called once.
   */
  readonly read: (take: (bytes: Uint8Array) => boolean) => Promise<Refusal | null>
}

/** Who may ask, and how that is counted. */
export interface RouteAccess {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly needs: Need
  readonly rate: RateClass
  /** What the key must be for. */
  readonly keyScope?: KeyScope
  /** Only takes rights away, and so never waits until it is known who may do what. */
  readonly isDenial?: true
}

export interface RouteRow extends RouteAccess {
  /** Segments with a colon are parameters; `organization` names the organisation whose role counts. */
  readonly path: string
  /** How the statements of a read wait for the engine; `page` if absent. */
  readonly rank?: ReadRank
  /** Of the object that it is about: `seen` must come with the request as If-Match, `given` comes with its answer as ETag. */
  readonly versions?: readonly ('seen' | 'given')[]
  readonly summary: string
  /** What its handler refuses with beside what every route of its kind may (`refusalsOf`). Anything else is a fault that the process log names. */
  readonly refuses?: readonly ErrorCode[]
  /** Of the body of a POST or PUT, which is then required. */
  readonly body?: TSchema & JsonSchema
  /** Its body is a file instead, which the handler reads piece by piece. */
  readonly upload?: UploadRow
  /** Of each parameter of the query, none of which is required; others are refused. */
  readonly query?: Readonly<Record<string, TSchema & JsonSchema>>
  /** The handler answers a stream of CSV instead if the client accepts that, and not JSON. */
  readonly hasCsv?: true
  /** What it answers if it refuses nothing. */
  readonly answers: Readonly<Partial<Record<AnswerStatus, DeclaredAnswer>>>
}

type ParamNames<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamNames<More>
    : Rest
  : never

/** The parameters of the path. */
export type ParamsOf<Row extends RouteRow> = { readonly [N in ParamNames<Row['path']>]: string }

export type QueryOf<Row extends RouteRow> = Row extends {
  readonly query: infer Query extends Readonly<Record<string, TSchema>>
}
  ? { readonly [N in keyof Query]?: Shape<Query[N]> }
  : Readonly<Record<never, never>>

export type BodyOf<Row extends RouteRow> = Row extends { readonly body: infer Body extends TSchema }
  ? Shape<Body>
  : Row extends { readonly upload: UploadRow }
    ? Upload
    : Readonly<Record<never, never>>

/** The JSON of the answers with these statuses. */
export type DeclaredJson<Row extends RouteRow, Status extends AnswerStatus = AnswerStatus> = {
  [S in keyof Row['answers'] & Status]: Row['answers'][S] extends null | readonly string[]
    ? never
    : Row['answers'][S] extends TSchema
      ? Shape<Row['answers'][S]>
      : never
}[keyof Row['answers'] & Status]
