/** Routes of support requests. */

import { LIMITS } from '../../domain/limits.ts'
import { objectSchema } from '../../domain/schema/json-schema.ts'
import type { HandlersOf } from '../http/call.ts'
import type { RouteRow } from '../http/route.ts'
import { DIAGNOSTICS_SCHEMA } from './diagnostics.ts'
import { askSupport, previewSupport, type SupportParts } from './request.ts'

const PATH = '/api/organizations/:organization/support'

export const SUPPORT_ROUTES = {
  previewSupport: {
    method: 'GET',
    path: PATH,
    needs: 'Viewer',
    rate: 'read',
    summary: 'What a support request would send along with its message, to be shown first.',
  },
  askSupport: {
    method: 'POST',
    path: PATH,
    needs: 'Viewer',
    rate: 'write',
    refuses: ['mail_not_configured'],
    summary: 'Ask those who run the service for support. Requests with the same `id` count as one.',
    body: objectSchema(
      {
        id: {
          type: 'string',
          description: 'Chosen by the client: 32 random hex digits.',
          pattern: '^[0-9a-f]{32}$',
          patternMeaning: 'must be 32 hex digits in lower case',
        },
        message: {
          type: 'string',
          description: 'In code points.',
          minLength: 1,
          maxLength: LIMITS.supportMessageChars,
        },
        diagnostics: DIAGNOSTICS_SCHEMA,
      },
      ['id', 'message'],
    ),
  },
} as const satisfies Record<string, RouteRow>

export function supportHandlers(parts: SupportParts): HandlersOf<typeof SUPPORT_ROUTES> {
  return { previewSupport: previewSupport(parts), askSupport: askSupport(parts) }
}
