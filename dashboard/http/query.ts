/** Reads the query of a request to the dashboard's API into typed values. */

import { oncePerObject } from '../../domain/once-per-object.ts'
import { refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { firstFinding } from '../../domain/schema/check-schema.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import type { RateClass, RouteRow } from '../api/route.ts'
import type { QueryValues } from './call.ts'

const MOST_DIGITS = 15
const WHOLE_NUMBER = new RegExp(`^-?[0-9]{1,${MOST_DIGITS}}$`)

const NO_QUERY: NonNullable<RouteRow['query']> = {}

interface QueriedRoute {
  readonly query?: NonNullable<RouteRow['query']>
  readonly rate: RateClass
}

type ReadQuery = { readonly kind: 'object'; readonly value: QueryValues } | Refusal

/** The parameters of a query's text; refused unparsed if there are more than any route takes. */
export function parametersIn(text: string): URLSearchParams | Refusal {
  let ends = 0
  for (let end = text.indexOf('&'); end !== -1; end = text.indexOf('&', end + 1)) {
    ends += 1
    if (ends >= LIMITS.queryParameters) return refuseField('', `has more than ${LIMITS.queryParameters} parameters`)
  }
  return new URLSearchParams(text)
}

/**
 * Refuses unknown parameters, and repeated ones unless they are lists; numbers and booleans become values if the schema asks for them. Empty for requests
 * of providers.
 */
export function readQuery(query: URLSearchParams, { query: schema = NO_QUERY, rate }: QueriedRoute): ReadQuery {
  if (isFromProvider(rate)) return { kind: 'object', value: {} }
  const names = [...query.keys()]
  const twice = firstRepeated(names.filter((name) => schema[name]?.type !== 'array'))
  if (twice !== undefined) return refuseField(`/${twice}`, 'comes twice')
  const value: QueryValues = Object.fromEntries(
    [...query].map(([name, text]) => {
      const type = schema[name]?.type
      return [name, type === 'array' ? query.getAll(name) : valueOf(text, type)]
    }),
  )
  const misread = names.find((name) => schema[name]?.type === 'integer' && typeof value[name] === 'string')
  if (misread !== undefined)
    return refuseField(`/${misread}`, `must be a whole number of at most ${MOST_DIGITS} digits`)
  const finding = firstFinding(queryObject(schema), value)
  if (finding !== null) return refuseField(finding.field, finding.message)
  const { since, until } = value
  if (typeof since === 'number' && typeof until === 'number' && since > until)
    return refuseField('/since', 'must be before until')
  return { kind: 'object', value }
}

/** Each declaration is compiled once, so its schema must stay the same object. */
const queryObject = oncePerObject((query: NonNullable<RouteRow['query']>) => objectSchema(query, []))

/** Identity and payment providers may add parameters of their own. */
function isFromProvider(rate: RateClass): boolean {
  return rate === 'callback' || rate === 'signed'
}

function firstRepeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

function valueOf(text: string, type: string | undefined): string | number | boolean {
  if (type === 'integer' && WHOLE_NUMBER.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}
