/** What programs read with an API key, for the OpenAPI document. The dashboard answers it, and its declarations say how. */

import { KEY_ROUTES } from '../../dashboard/api/keyed.ts'
import { refusalsOf } from '../../dashboard/api/refusals.ts'
import type { RouteRow } from '../../dashboard/api/route.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { SchemaJson } from './schemas.ts'

type KeyRouteName = keyof typeof KEY_ROUTES

/** Component that describes the answer. */
const ANSWER_NAMES = { keyFigures: 'Figures', keyInstalls: 'InstallPage' } as const satisfies Record<
  KeyRouteName,
  string
>

export const KEY_SECURITY: SchemaJson = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key: `whk_` and 43 characters, as `Authorization: Bearer whk_…`.',
  },
}

export function keyedComponents(): SchemaJson {
  return {
    [ANSWER_NAMES.keyFigures]: KEY_ROUTES.keyFigures.answers[200],
    [ANSWER_NAMES.keyInstalls]: KEY_ROUTES.keyInstalls.answers[200],
  }
}

/** `errorAnswers`: how a refusal with one of these codes is answered. */
export function keyedPaths(errorAnswers: (codes: readonly ErrorCode[]) => SchemaJson): SchemaJson {
  return {
    [KEY_ROUTES.keyFigures.path]: { get: operation('keyFigures', KEY_ROUTES.keyFigures, errorAnswers) },
    [KEY_ROUTES.keyInstalls.path]: { get: operation('keyInstalls', KEY_ROUTES.keyInstalls, errorAnswers) },
  }
}

function operation(
  name: KeyRouteName,
  row: RouteRow,
  errorAnswers: (codes: readonly ErrorCode[]) => SchemaJson,
): SchemaJson {
  const schema = { $ref: `#/components/schemas/${ANSWER_NAMES[name]}` }
  return {
    operationId: name,
    summary: row.summary,
    description: 'With `Accept: text/csv` the same rows as CSV.',
    security: [{ key: [] }],
    parameters: Object.entries(row.query ?? {}).map(([parameter, { description, ...rest }]) => ({
      name: parameter,
      in: 'query',
      required: false,
      description,
      schema: rest,
    })),
    responses: {
      200: {
        description: ANSWER_NAMES[name],
        content: { 'application/json': { schema }, 'text/csv': { schema: { type: 'string' } } },
      },
      ...errorAnswers([...refusalsOf(row)]),
    },
  }
}
