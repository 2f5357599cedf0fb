/** The page that whoever follows a link sees first; it then asks for the figures. */

import { refuse } from '../../domain/errors.ts'
import { PAGE_TYPE, type SHARE_ROUTES } from '../api/links.ts'
import type { HandlersOf, StreamAnswer } from '../http/call.ts'
import type { HtmlPage } from '../pages/document.ts'

/** `document` null: the pages are not built. */
export function sharePageHandlers(document: (() => HtmlPage) | null) {
  return {
    sharePage: async () => (document === null ? refuse('unavailable') : answeredPage(document())),
  } satisfies Partial<HandlersOf<typeof SHARE_ROUTES>>
}

function answeredPage({ headers, html }: HtmlPage): StreamAnswer<typeof PAGE_TYPE> {
  return { kind: 'stream', contentType: PAGE_TYPE, headers, chunks: oneChunk(html) }
}

async function* oneChunk(text: string) {
  yield text
}
