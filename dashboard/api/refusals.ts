/** What a route may be refused with, as its declaration says. */

import type { ErrorCode } from '../../domain/errors.ts'
import { isOfPass, type Need, type RateClass } from './route.ts'

const EVERYWHERE: readonly ErrorCode[] = ['not_found', 'rate_limited', 'internal', 'unavailable']
const OF_UPLOADS: readonly ErrorCode[] = ['body_too_large', 'unsupported_media_type', 'unsupported_encoding']
const OF_BODIES: readonly ErrorCode[] = ['invalid_json', ...OF_UPLOADS]

interface RefusingRoute {
  readonly needs: Need
  readonly rate: RateClass
  readonly body?: object
  readonly upload?: object
  readonly refuses?: readonly ErrorCode[]
}

/** Every code that a request to the route may be refused with: the API's document is made of them, and the server holds handlers to them. */
export function refusalsOf({ needs, rate, body, upload, refuses = [] }: RefusingRoute): ReadonlySet<ErrorCode> {
  const isOfRole = needs !== null && needs !== 'Person' && !isOfPass(needs)
  return new Set([
    ...EVERYWHERE,
    ...(needs === null || needs === 'Link' ? [] : (['unauthenticated'] as const)),
    ...(isOfRole ? (['forbidden'] as const) : []),
    ...(isFromAnywhere(rate) ? [] : (['cross_origin'] as const)),
    ...(body === undefined ? [] : OF_BODIES),
    ...(upload === undefined ? [] : OF_UPLOADS),
    ...(rate === 'signed' ? (['body_too_large'] as const) : []),
    // An unknown parameter of the query, if nothing else.
    'invalid_field',
    ...refuses,
  ])
}

/** Whether requests may come from elsewhere than the service's own pages; those of services prove themselves. */
export function isFromAnywhere(rate: RateClass): boolean {
  return rate === 'callback' || rate === 'key' || rate === 'link'
}
