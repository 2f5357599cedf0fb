/** Handlers about API keys and share links, of those who make them. */

import { keyAdminHandlers } from './keys.ts'
import { linkAdminHandlers } from './links.ts'
import type { PassAdminParts } from './passes.ts'

export function passAdminHandlers(parts: PassAdminParts) {
  return { ...keyAdminHandlers(parts), ...linkAdminHandlers(parts) }
}
