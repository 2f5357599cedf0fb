/** What follows from the declaration of a route: when it may be answered, and which paths are its own. */

import { mayAnswer, type RightsAge } from '../../domain/people/rights-age.ts'
import { isFromAnywhere } from '../api/refusals.ts'
import { isOfPass, type RouteAccess } from '../api/route.ts'

/** Methods that change nothing, on every route. */
export function isRead({ method }: RouteAccess): boolean {
  return method === 'GET'
}

/** Whether a request may be answered while the knowledge of who may do what is of this age. */
export function mayBeAnswered({ method, needs, rate, isDenial }: RouteAccess, age: RightsAge): boolean {
  const isSignIn = rate === 'sign-in' || rate === 'callback'
  return mayAnswer(
    { method, isOfPerson: needs !== null, isOfPass: isOfPass(needs), isSignIn, isDenial: isDenial === true },
    age,
  )
}

/** Whether a request to this route must come from the service's own pages. */
export function isOwnOriginOnly({ rate }: RouteAccess): boolean {
  return rate !== 'signed' && !isFromAnywhere(rate)
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
