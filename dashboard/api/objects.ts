/** Schemas of objects of the configuration, as several routes answer them. */

import { Type } from 'typebox'

import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { FLAG, maybe, TEXT, typed } from './shapes.ts'

/** As docs/resources.md says for its kind. */
export const SPEC = typed<Readonly<Record<string, unknown>>>({
  type: 'object',
  description: 'As docs/resources.md says for its kind.',
  additionalProperties: true,
})

export const ORIGIN = Type.Object(
  { by: oneOf(['dashboard', 'gitops', 'kubectl']), manager: TEXT },
  { $id: 'ObjectOrigin' },
)

export const CONDITION = Type.Object(
  {
    type: TEXT,
    status: oneOf(['True', 'False', 'Unknown']),
    observedGeneration: Type.Optional(Type.Number()),
    lastTransitionTime: Type.String({ description: 'RFC 3339; changes only when `status` does.' }),
    reason: TEXT,
    message: TEXT,
  },
  { $id: 'Condition' },
)

const OWNED_FIELD = Type.Object(
  { field: Type.String({ description: 'JSON pointer into the object.' }), manager: TEXT },
  { $id: 'OwnedField' },
)

export const WARNING = Type.Object({ object: TEXT, reason: TEXT, field: TEXT, message: TEXT }, { $id: 'Warning' })

const NAMED = {
  kind: oneOf(RESOURCE_KINDS),
  namespace: TEXT,
  name: TEXT,
  version: Type.String({ description: 'To be sent back as If-Match.' }),
  createdAt: Type.String({ description: 'RFC 3339, or empty.' }),
}

export const LISTED_OBJECT = Type.Object(
  { ...NAMED, origin: ORIGIN, conditions: Type.Array(CONDITION), spec: SPEC },
  { $id: 'ListedObject' },
)

const STORED_FIELDS = {
  ...NAMED,
  origin: maybe(ORIGIN),
  conditions: Type.Array(CONDITION),
  isJudged: Type.Boolean({
    description: 'Whether the conditions are about this version: right after a change they are about the one before.',
  }),
  readOnly: Type.Array(OWNED_FIELD),
  spec: SPEC,
}

export const STORED_OBJECT = Type.Object(STORED_FIELDS, { $id: 'StoredObject' })

const WRITTEN_FIELDS = { ...STORED_FIELDS, warnings: Type.Array(WARNING) }

/** As it is stored after a change. */
export const WRITTEN_OBJECT = Type.Object(WRITTEN_FIELDS, { $id: 'WrittenObject' })

/** The same with a secret that no other answer shows. */
export const OBJECT_WITH_SECRET = Type.Object({ ...WRITTEN_FIELDS, secret: TEXT }, { $id: 'ObjectWithSecret' })

/** What a dry run would write. */
export const TRIED_OBJECT = Type.Object({ fits: FLAG, spec: SPEC, warnings: Type.Array(WARNING) })
