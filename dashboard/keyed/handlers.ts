/** Handlers of what programs read with an API key. */

import type { KEY_ROUTES } from '../api/keyed.ts'
import type { FigureParts } from '../figures/pages.ts'
import type { HandlersOf } from '../http/call.ts'
import type { Cursors } from '../logs/cursor.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { keyFigures } from './figures.ts'
import { keyInstalls } from './installs.ts'

interface KeyParts extends FigureParts {
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function keyHandlers(parts: KeyParts): HandlersOf<typeof KEY_ROUTES> {
  return { keyFigures: keyFigures(parts), keyInstalls: keyInstalls(parts) }
}
