/** Handlers that answer with figures of an organisation; one request for each page. */

import type { FIGURE_ROUTES } from '../api/figures.ts'
import type { HandlersOf } from '../http/call.ts'
import { readChecklist } from './checklist.ts'
import { figurePage, funnelPage, matchPage, sourcesPage, usagePage, type FigureParts } from './pages.ts'
import { readSharedCommands } from './fan-out.ts'
import { outcomesPage } from './install-outcomes.ts'
import { listWebsites } from './websites.ts'

export function figureHandlers(parts: FigureParts) {
  return {
    websites: listWebsites(parts.scope),
    funnel: figurePage(parts, funnelPage),
    sources: figurePage(parts, sourcesPage),
    match: figurePage(parts, matchPage),
    installOutcomes: figurePage(parts, outcomesPage),
    sharedCommands: readSharedCommands(parts.scope),
    usage: usagePage(parts),
    checklist: readChecklist(parts),
  } satisfies Partial<HandlersOf<typeof FIGURE_ROUTES>>
}
