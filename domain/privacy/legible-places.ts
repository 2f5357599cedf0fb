/**
 * Where a body that was sent under Global Privacy Control may be read: in the members of the contract, apart from the identities of
 * advertising and of custom adapters. Followed token by token, so that bodies that are not JSON are judged as far as they go.
 */

import { EVENT_SCHEMA, HANDOFF_RECEIPT_SCHEMA, VISIT_SCHEMA } from '../collection/schemas.ts'
import { ADVERTISING_PROVIDERS } from '../providers/index.ts'

interface LegiblePlace {
  /** Whether a text or number may be read here. */
  readonly isLegible: boolean
  readonly members: ReadonlyMap<string, LegiblePlace>
  /** Of members with names that clients choose, and of entries of a list; null if there are none. */
  readonly each: LegiblePlace | null
}

interface LegibleSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, object>>
  readonly additionalProperties?: object
  readonly items?: object
  readonly anyOf?: readonly object[]
}

const TEXTS_AND_NUMBERS: ReadonlySet<string> = new Set(['string', 'integer', 'number'])
const HIDDEN: LegiblePlace = { isLegible: false, members: new Map(), each: null }
const HIDDEN_IDENTITIES: ReadonlySet<string> = new Set([...ADVERTISING_PROVIDERS, 'custom'])

const BODY = legiblePlace([VISIT_SCHEMA, HANDOFF_RECEIPT_SCHEMA, EVENT_SCHEMA], '')

/** What one of these schemas accepts; `name` is that of the member. */
function legiblePlace(schemas: readonly LegibleSchema[], name: string): LegiblePlace {
  const all = schemas.flatMap((schema) => [schema, ...(schema.anyOf ?? [])]) as readonly LegibleSchema[]
  const members = new Map<string, LegiblePlace>()
  for (const { properties = {} } of all)
    for (const [member, schema] of Object.entries(properties)) {
      const isHidden = name === 'identities' && HIDDEN_IDENTITIES.has(member)
      members.set(member, isHidden ? HIDDEN : legiblePlace([schema], member))
    }
  const inner = all.flatMap(({ additionalProperties, items }) => [additionalProperties, items])
  const each = inner.filter((schema) => schema !== undefined)
  return {
    isLegible: all.some(({ type = '' }) => TEXTS_AND_NUMBERS.has(type)),
    members,
    each: each.length === 0 ? null : legiblePlace(each, ''),
  }
}

interface Value {
  readonly isLegible: boolean
  /** The name of a member. */
  readonly isName: boolean
}

interface OpenBracket {
  readonly place: LegiblePlace
  readonly isList: boolean
  /** The member that comes next; null before its name. */
  member: LegiblePlace | null
}

/** Given the tokens of a body in order, strings with their quotes, says of each string and number what it is; null for all others. */
export function walkLegible(): { readonly next: (token: string) => Value | null } {
  const open: OpenBracket[] = []
  const placeHere = (): LegiblePlace => {
    const last = open.at(-1)
    if (last === undefined) return BODY
    return last.isList ? (last.place.each ?? HIDDEN) : (last.member ?? HIDDEN)
  }
  const punctuate = (token: string): boolean => {
    const last = open.at(-1)
    if (token === '{' || token === '[') open.push({ place: placeHere(), isList: token === '[', member: null })
    else if (token === '}' || token === ']') open.pop()
    else if (token === ',' && last !== undefined) last.member = null
    return '{}[]:,'.includes(token)
  }
  return {
    next: (token) => {
      if (punctuate(token)) return null
      const last = open.at(-1)
      if (last === undefined || last.isList || last.member !== null)
        return { isLegible: placeHere().isLegible, isName: false }
      const name = decodedName(token)
      last.member = last.place.members.get(name) ?? last.place.each ?? HIDDEN
      return { isLegible: true, isName: true }
    },
  }
}

function decodedName(token: string): string {
  try {
    return String(JSON.parse(token))
  } catch {
    return token
  }
}
