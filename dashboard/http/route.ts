/** What a route of the dashboard's API is: one row that the server, the tests and OpenAPI walk. */

import type { ErrorCode } from '../../domain/errors.ts'
import type { ReadRank } from '../../domain/limits.ts'
import { mayAnswer, type RightsAge } from '../../domain/people/rights-age.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import type { MemberRole } from '../../domain/model.ts'

/** Null: anyone. `Person`: anyone who is signed in. A role: in the organisation that the path names. */
type Need = 'Person' | MemberRole | null

/**
 * `callback`: from another website, as the identity provider's; counted and checked by its own handler. `signed`: from another
 * service, which proves itself by a signature over its body; not counted.
 */
type RateClass = 'read' | 'write' | 'sign-in' | 'callback' | 'signed'

export interface RouteRow {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Segments with a colon are parameters; `organization` names the organisation whose role counts. */
  readonly path: string
  readonly needs: Need
  readonly rate: RateClass
  /** How the statements of a read wait for the engine; `page` if absent. */
  readonly rank?: ReadRank
  /** Only takes rights away, and so never waits until it is known who may do what. */
  readonly isDenial?: true
  readonly summary: string
  /** What its handler refuses with beside what every route of its kind may (`refusalsOf`). Anything else is a fault that the process log names. */
  readonly refuses?: readonly ErrorCode[]
  /** Of the body of a POST or PUT, which is then required. */
  readonly body?: JsonSchema
  /** Of each parameter of the query; others are refused. Absent: the query is not checked. */
  readonly query?: Readonly<Record<string, JsonSchema>>
}

/** Methods that change nothing, on every route. */
export function isRead({ method }: Pick<RouteRow, 'method'>): boolean {
  return method === 'GET'
}

/** Whether a request may be answered while the knowledge of who may do what is of this age. */
export function mayBeAnswered({ method, needs, rate, isDenial }: RouteRow, age: RightsAge): boolean {
  const isSignIn = rate === 'sign-in' || rate === 'callback'
  return mayAnswer({ method, isOfPerson: needs !== null, isSignIn, isDenial: isDenial === true }, age)
}

/** Whether a request to this route must come from the service's own pages. */
export function isOwnOriginOnly({ rate }: Pick<RouteRow, 'rate'>): boolean {
  return rate !== 'callback' && rate !== 'signed'
}

const EVERYWHERE: readonly ErrorCode[] = ['not_found', 'rate_limited', 'internal', 'unavailable']
const OF_BODIES: readonly ErrorCode[] = [
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
]

/** Every code that a request to the route may be refused with: the API's document is made of them, and the server holds handlers to them. */
export function refusalsOf({ needs, rate, body, refuses = [] }: RouteRow): ReadonlySet<ErrorCode> {
  const inOrganization = needs !== null && needs !== 'Person'
  return new Set([
    ...EVERYWHERE,
    ...(needs === null ? [] : (['unauthenticated'] as const)),
    ...(inOrganization ? (['forbidden'] as const) : []),
    ...(rate === 'callback' ? [] : (['cross_origin'] as const)),
    ...(body === undefined ? [] : OF_BODIES),
    ...(rate === 'signed' ? (['body_too_large'] as const) : []),
    // An unknown parameter of the query, if nothing else.
    'invalid_field',
    ...refuses,
  ])
}

/** The values of the parameters of a path, or of its segments; null if it does not match. */
export function matchPath(
  pattern: string,
  path: string | readonly (string | null)[],
): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/')
  const given = typeof path === 'string' ? segmentsOf(path, wanted.length + 1) : path
  if (given.length !== wanted.length) return null
  const found: Record<string, string> = {}
  for (const [place, segment] of wanted.entries()) {
    const value = given[place] ?? null
    if (value === null) return null
    if (!segment.startsWith(':')) {
      if (segment !== value) return null
    } else if (value === '') return null
    else found[segment.slice(1)] = value
  }
  return found
}

/** The first segments of a path, decoded; one that cannot be decoded is null, which nothing matches. */
export function segmentsOf(path: string, most: number): readonly (string | null)[] {
  return path.split('/', most).map((segment) => {
    try {
      return decodeURIComponent(segment)
    } catch {
      return null
    }
  })
}
