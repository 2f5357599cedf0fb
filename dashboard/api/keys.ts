/** Routes about API keys: which there are, making one, and revoking it. */

import { Type } from 'typebox'

import { KEY_SCOPES } from '../../domain/model.ts'
import { displayName, utcTime } from '../../domain/resources/resource-fields.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { CONDITION, ORIGIN, WARNING } from './objects.ts'
import type { RouteRow } from './route.ts'
import { TEXT, TIME, typed } from './shapes.ts'

const KEYS = '/api/organizations/:organization/keys'

const SCOPES = Type.Array(oneOf(KEY_SCOPES))

const SHOWN_KEY = Type.Object(
  {
    namespace: TEXT,
    name: TEXT,
    displayName: TEXT,
    scopes: SCOPES,
    createdAt: Type.String({ description: 'RFC 3339, or empty.' }),
    expiresAt: TIME,
    isInForce: Type.Boolean({ description: 'Whether it opens anything now.' }),
    conditions: Type.Array(CONDITION),
    origin: ORIGIN,
  },
  { $id: 'ShownApiKey' },
)

export const KEY_ADMIN_ROUTES = {
  apiKeys: {
    method: 'GET',
    path: KEYS,
    needs: 'Viewer',
    rate: 'read',
    summary: 'API keys of the organisation; no key itself, which nobody can see again.',
    answers: { 200: Type.Object({ keys: Type.Array(SHOWN_KEY) }) },
  },
  createApiKey: {
    method: 'POST',
    path: KEYS,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere'],
    summary: 'Make an API key; the answer shows it this once.',
    body: Type.Object({
      displayName: typed<string>(displayName),
      scopes: typed<readonly (typeof KEY_SCOPES)[number][]>({
        type: 'array',
        description: 'What it may read.',
        minItems: 1,
        maxItems: KEY_SCOPES.length,
        uniqueItems: true,
        items: { type: 'string', description: 'What it may read.', enum: KEY_SCOPES },
      }),
      expiresAt: typed<string>(utcTime('When it ends, in UTC; within a year.')),
    }),
    answers: {
      201: Type.Object({
        namespace: TEXT,
        name: TEXT,
        key: Type.String({ description: '`whk_` and 43 characters.' }),
        warnings: Type.Array(WARNING),
      }),
    },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: `${KEYS}/:namespace/:name`,
    needs: 'Admin',
    rate: 'write',
    refuses: ['conflict', 'managed_elsewhere'],
    summary: 'Revoke an API key: its object is deleted.',
    answers: { 204: null },
  },
} as const satisfies Record<string, RouteRow>
