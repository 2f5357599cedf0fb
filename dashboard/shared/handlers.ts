/** Handlers of what whoever has a link sees. */

import type { Handler } from '../http/call.ts'
import type { HtmlPage } from '../pages/document.ts'
import { keepingAnswers } from './kept-answers.ts'
import { sharePageHandlers } from './page.ts'

interface SharedParts {
  /** Reads the figures each time. */
  readonly sharedFigures: Handler
  /** Null: the pages are not built. */
  readonly shareDocument: (() => HtmlPage) | null
  /** A clock that never goes back. */
  readonly elapsedMs: () => number
}

export function sharedHandlers({ sharedFigures, shareDocument, elapsedMs }: SharedParts) {
  return { ...sharePageHandlers(shareDocument), sharedFigures: keepingAnswers(sharedFigures, elapsedMs) }
}
