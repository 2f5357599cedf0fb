/** Starts the SDK: reads the script tag, puts `window.whence` in place, and counts the page when it may. */

import { createInterface } from './interface.ts'
import type { Whence } from './whence.d.ts'

try {
  const script = document.currentScript
  // An element named `currentScript` would shadow the property, and could then name a service of its own.
  const tag =
    script instanceof HTMLScriptElement ? script : document.querySelector<HTMLScriptElement>('script[data-project]')
  if (tag) boot(tag)
} catch {
  // A page is never told.
}

function boot(tag: HTMLScriptElement): void {
  const { project, consent = 'granted', pageId, manual, spa, debug } = tag.dataset
  if (!project) return
  const earlier = window.whence as Partial<Whence & { map: unknown }> | undefined
  // The script stands in the page twice: another website joins the first one's interface, the same one is there already.
  if (typeof earlier?.scope === 'function') return void earlier.scope(project)
  // Without a secure context there is nothing to hash with, and no storage for markers.
  const mayCollect = isSecureContext && location.protocol.startsWith('http') && consent !== 'denied'
  const whence = createInterface(
    {
      base: new URL('.', tag.src).href.slice(0, -1),
      nonce: tag.nonce,
      pageId,
      mayCollect,
      // A misspelt word must not pass for an agreement.
      isAllowed: mayCollect && consent === 'granted',
      isAutomatic: manual === undefined,
      hasRoutes: spa !== undefined,
      log: (...words) => debug !== undefined && console.debug('[whence]', ...words),
    },
    project,
  )
  window.whence = whence
  // Each in a task of its own: one that throws does not keep the others from running.
  if (Array.isArray(earlier)) for (const callback of earlier) queueMicrotask(() => whence.push(callback as () => void))
}
