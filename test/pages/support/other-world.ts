/** Scripts of others on a page: as those of extensions and of the browser's translator they see its nodes, and none of its functions. */

import type { Page } from 'playwright-core'

type ForeignScript = (script: string) => Promise<void>

/** What an extension does on this page. Reject if a script throws. */
export async function otherWorld(page: Page): Promise<ForeignScript> {
  const session = await page.context().newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
  })
  return async (script) => {
    const { exceptionDetails: thrown } = await session.send('Runtime.evaluate', { expression: script, contextId })
    if (thrown !== undefined) throw new Error(thrown.exception?.description ?? thrown.text)
  }
}

/** Marks what is translated, so that a test can tell what was from what is new. */
export const TRANSLATED = /[«»]/g

/** How translators and extensions are known to replace or wrap a text; `text` is its node and `font` its translation. */
export const REPLACEMENTS = {
  replaced: 'text.replaceWith(font)',
  'inserted before, then removed': 'text.parentNode.insertBefore(font, text); text.parentNode.removeChild(text)',
  'inserted behind, then removed': 'text.after(font); text.remove()',
  'removed, then inserted':
    'const [parent, next] = [text.parentNode, text.nextSibling]; text.remove(); parent.insertBefore(font, next)',
  wrapped: "font.textContent = ''; text.replaceWith(font); font.append(text)",
  'wrapped, then replaced':
    'const words = font.textContent; text.replaceWith(font); font.replaceChildren(text); font.textContent = words',
} as const

/** A script that translates every text below the elements of this selector, except where that is not wanted. */
export function translation(selector: string, replacement: string): string {
  return `(() => {
    const texts = []
    for (const root of document.querySelectorAll(${JSON.stringify(selector)})) {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
      while (walker.nextNode()) texts.push(walker.currentNode)
    }
    for (const text of texts) {
      if (text.data.trim() === '' || text.parentElement.closest('[translate=no], style, script, textarea, svg, font')) continue
      const font = document.createElement('font')
      const inner = font.appendChild(document.createElement('font'))
      inner.textContent = '«' + text.data + '»'
      ;(() => { ${replacement} })()
    }
  })()`
}
