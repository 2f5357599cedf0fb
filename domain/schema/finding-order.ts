/** Findings of ajv in the order of the document, of each plain value only the first. */

import type { ErrorObject } from 'ajv'

/** Behind all members of an object. */
const BEHIND = 1e9
/** Of one text or number, up to `pattern`; of a list, before its entries; of an object, after its members. */
const RANKS: Readonly<Record<string, number>> = {
  type: -9,
  isSafe: -9,
  enum: -8,
  isWhole: -7,
  minLength: -6,
  minimum: -6,
  maxLength: -5,
  maximum: -5,
  pattern: -4,
  minItems: -3,
  maxItems: -2,
  uniqueItems: -1,
  minProperties: BEHIND + 1,
  maxProperties: BEHIND + 2,
  required: BEHIND + 4,
}
const OF_NAMES = BEHIND + 3
const LAST_OF_ONE_VALUE = -4
/** They tell nothing that the findings inside them do not. */
const WRAPPERS: ReadonlySet<string> = new Set(['if', 'propertyNames'])

export interface PlacedError {
  readonly error: ErrorObject
  /** Position of each member on the way to the value, then the rank of the error there. */
  readonly place: readonly number[]
}

export function sortFindings(errors: readonly ErrorObject[], value: unknown): readonly PlacedError[] {
  const positionOf = memberPositions()
  return errors
    .filter(({ keyword }) => !WRAPPERS.has(keyword))
    .map((error) => ({ error, place: wayTo(error, value, positionOf) }))
    .sort((a, b) => difference(a.place, b.place))
    .filter((each, index, all) => !isOfSameValue(each.place, all[index - 1]?.place ?? []))
}

function isOfSameValue(place: readonly number[], before: readonly number[]): boolean {
  if ((place.at(-1) ?? 0) > LAST_OF_ONE_VALUE || before.length !== place.length) return false
  return place.slice(0, -1).every((step, index) => step === before[index])
}

function difference(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((step, index) => step !== b[index])
  return (a[at] ?? 0) - (b[at] ?? 0)
}

type PositionOf = (parent: unknown, name: string) => number

/** Members of an object are counted once. */
function memberPositions(): PositionOf {
  const known = new Map<unknown, ReadonlyMap<string, number>>()
  return (parent, name) => {
    const positions = known.get(parent) ?? new Map(namesIn(parent).map((each, index) => [each, index]))
    known.set(parent, positions)
    return positions.get(name) ?? BEHIND
  }
}

function wayTo({ keyword, instancePath, params, propertyName }: ErrorObject, value: unknown, positionOf: PositionOf) {
  const place: number[] = []
  let parent = value
  for (const step of instancePath.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    place.push(positionOf(parent, name))
    parent = memberAt(parent, name)
  }
  const rank = RANKS[keyword] ?? 0
  if (propertyName !== undefined) return [...place, OF_NAMES, positionOf(parent, propertyName), rank]
  return [...place, keyword === 'knownMembers' ? positionOf(parent, String(params['name'])) : rank]
}

function namesIn(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

export function memberAt(parent: unknown, name: string): unknown {
  return isParent(parent) ? parent[name] : undefined
}

function isParent(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
