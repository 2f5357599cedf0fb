/** The handler of the overview. */

import type { FIGURE_ROUTES } from '../api/figures.ts'
import { figurePage, type FigureParts } from '../figures/pages.ts'
import type { HandlersOf } from '../http/call.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { overviewWith } from './overview.ts'

interface OverviewParts extends FigureParts {
  readonly clock: PageClock
}

export function overviewHandlers(parts: OverviewParts) {
  return { overview: figurePage(parts, overviewWith(parts.clock)) } satisfies Partial<HandlersOf<typeof FIGURE_ROUTES>>
}
