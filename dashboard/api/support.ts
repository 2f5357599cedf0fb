/** Routes of support requests. What they send along is only what the schema lists: no bodies, no addresses and no secrets. */

import { Type } from 'typebox'

import { ERRORS } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { MEMBER_ROLES, PLANS } from '../../domain/model.ts'
import { CONDITION_TYPES } from '../../domain/resources/conditions.ts'
import { OBJECT_NAME_SCHEMA } from '../../domain/resources/envelope.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import type { RouteRow } from './route.ts'
import { TEXT, TIME, typed } from './shapes.ts'

const PATH = '/api/organizations/:organization/support'

const VERSION_CHARS = 64
/** The most conditions and errors that are sent along. */
export const MOST_DIAGNOSTICS = { conditions: 50, errors: 20 } as const

/** One of our codes, or a reason of the compiler. */
const WORD = Type.String({ maxLength: 64, pattern: '^[A-Za-z_]*$' })

/** As the preview shows them. */
const DIAGNOSTICS = Type.Object(
  {
    version: TEXT,
    plan: TEXT,
    role: TEXT,
    conditions: Type.Array(Type.Object({ kind: oneOf(RESOURCE_KINDS), name: TEXT, type: TEXT, reason: TEXT })),
    errors: Type.Array(Type.Object({ at: TIME, code: TEXT })),
  },
  { $id: 'Diagnostics' },
)

/** As a request sends them back. */
const SENT_DIAGNOSTICS = Type.Object(
  {
    version: Type.Optional(
      Type.String({ description: 'Of this service.', maxLength: VERSION_CHARS, pattern: '^[0-9A-Za-z.+-]*$' }),
    ),
    plan: Type.Optional(oneOf(PLANS, 'Of the organisation.')),
    role: Type.Optional(oneOf(MEMBER_ROLES, 'Of the person who asks for support.')),
    conditions: Type.Optional(
      Type.Array(
        Type.Object({
          kind: oneOf(RESOURCE_KINDS.filter((kind) => kind !== 'Member')),
          name: typed<string>(OBJECT_NAME_SCHEMA),
          type: oneOf(CONDITION_TYPES),
          reason: WORD,
        }),
        {
          description: 'Conditions of objects that report a problem. Objects of members are left out.',
          maxItems: MOST_DIAGNOSTICS.conditions,
        },
      ),
    ),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          at: Type.Integer({ description: 'Unix ms.', minimum: 0 }),
          code: oneOf(Object.keys(ERRORS)),
        }),
        { description: 'Codes of the last refused requests, newest first.', maxItems: MOST_DIAGNOSTICS.errors },
      ),
    ),
  },
  { description: 'As the preview returned them; absent: none are sent.' },
)

export const SUPPORT_ROUTES = {
  previewSupport: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'What a support request would send along with its message, to be shown first.',
    answers: {
      200: Type.Object({
        isMailed: Type.Boolean({ description: 'Whether this service takes support requests.' }),
        diagnostics: DIAGNOSTICS,
      }),
    },
  },
  askSupport: {
    method: 'POST',
    path: PATH,
    needs: 'Viewer',
    rate: 'write',
    refuses: ['mail_not_configured'],
    summary: 'Ask those who run the service for support. Requests with the same `id` count as one.',
    body: Type.Object({
      id: Type.String({
        description: 'Chosen by the client: 32 random hex digits.',
        pattern: '^[0-9a-f]{32}$',
        patternMeaning: 'must be 32 hex digits in lower case',
      }),
      message: Type.String({
        description: 'In code points.',
        minLength: 1,
        maxLength: LIMITS.supportMessageChars,
      }),
      diagnostics: Type.Optional(SENT_DIAGNOSTICS),
    }),
    answers: { 202: Type.Object({ request: TEXT }) },
  },
} as const satisfies Record<string, RouteRow>
