/** Handlers of ad spend. */

import type { SPEND_ROUTES } from '../api/spend.ts'
import { figurePage, type FigureParts } from '../figures/pages.ts'
import type { HandlersOf } from '../http/call.ts'
import { spendPage } from './figures.ts'
import { importSpend, type ImportParts } from './import.ts'
import { listSpendImports, removeSpend } from './imports.ts'

/** They only read facts. */
export function spendFigureHandlers(parts: FigureParts) {
  return {
    spend: figurePage(parts, spendPage),
    spendImports: listSpendImports({ scope: parts.scope }),
  } satisfies Partial<HandlersOf<typeof SPEND_ROUTES>>
}

export function spendHandlers(parts: ImportParts) {
  return { importSpend: importSpend(parts), removeSpend: removeSpend(parts) } satisfies Partial<
    HandlersOf<typeof SPEND_ROUTES>
  >
}
