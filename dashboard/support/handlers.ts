/** Handlers of support requests. */

import type { SUPPORT_ROUTES } from '../api/support.ts'
import type { HandlersOf } from '../http/call.ts'
import { askSupport, previewSupport, type SupportParts } from './request.ts'

export function supportHandlers(parts: SupportParts): HandlersOf<typeof SUPPORT_ROUTES> {
  return { previewSupport: previewSupport(parts), askSupport: askSupport(parts) }
}
