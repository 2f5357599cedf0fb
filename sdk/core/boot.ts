/** Starts the SDK on a page and counts the page as soon as that is allowed. */

import * as debug from './debug.ts'
import type { Page, PageOptions, Scope } from './types.ts'
import { withoutCarried } from './carried.ts'
import { documentValue, findInPage } from './document-value.ts'
import { globalOf } from './global.ts'
import { loadPart } from './load-script.ts'
import { reportProblem, safely, wait } from './page.ts'
import { KEEPER, RECORDER } from './places.ts'
import { createScope } from './scope.ts'
import { firstGroup } from './source.ts'
import { viewPage } from './visit.ts'
import type { Whence, WhenceCallback } from '../whence.d.ts'

/** Longest wait for a part; after it, a visit or a copied command goes without it. */
const PART_MS = 2_000
/**
 * Sets `window.whence` and returns it. If it is there already, the website joins it: a page may contain the script
 * twice, or the scripts of two websites. Throws only if the page has given the name away for good.
 */
export function boot(options: PageOptions): Whence {
  // Until the script has loaded, the interface is a queue. An element of that name is neither.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const earlier = globalOf('whence') as Partial<Whence & WhenceCallback[]> | undefined
  if (earlier?.scope) return earlier.scope(options.project)
  const { consent = 'granted', manual, spa } = options.tagAttributes
  // An insecure context offers no hashing and no storage for markers.
  const mayCollect = isSecureContext && consent !== 'denied'
  const page: Page = {
    ...options,
    documentValue,
    firstGroup,
    wait,
    view: viewPage(),
    mayCollect,
    // A misspelt word must not count as consent.
    isAllowed: mayCollect && consent === 'granted',
    isAutomatic: manual === undefined,
    recorder: RECORDER,
    keeper: KEEPER,
    ask: async (part, call) => {
      try {
        // If it arrives late, it still serves later calls.
        const loaded = await Promise.race([(part.loading ??= loadPart(page, part)), wait(PART_MS)])
        return loaded && (await call(loaded))
      } catch (error) {
        if (DEBUG) reportProblem(error)
        return undefined
      }
    },
    askExtras: (call) => page.ask(page.keeper, (keeper) => keeper.askExtras(page, call)),
    resume: () =>
      safely(() => {
        for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
        // They also load without consent, for copy buttons; what they send and fill depends on consent. `:is` ignores errors in the page's own selector.
        const { commands = '' } = page.tagAttributes
        if (findInPage(`:is([data-whence-command],[data-whence-copy],${commands})`))
          void page.askExtras((extras) => extras)
      }),
    scopes: new Map<string, Scope>(),
    scopeOf: (name = options.project) => {
      const known = page.scopes.get(name)
      if (known) return known
      const scope = createScope(page, name)
      page.scopes.set(name, scope)
      // In a task of its own, so that adapters that the page has queued are registered first.
      setTimeout(async () => {
        page.resume()
        // A page without a visit has nothing to wait for. From then on the keeper looks for what the page shows later.
        await scope.running
        void page.ask(page.keeper, (keeper) => keeper)
      })
      return scope
    },
  }
  if (DEBUG) safely(() => debug.explainPage(page, consent))
  const whence = (window.whence = page.scopeOf().whence)
  safely(() => {
    const { href } = location
    // What another origin carried, or the mark of a test.
    if (href.includes('_whence')) {
      page.view.isOpen = true
      history.replaceState(history.state, '', withoutCarried(href))
    }
    // Browsers without the Navigation API get one visit per document: wrapping the page's history is not worth the risk.
    if (spa !== undefined && page.isAutomatic) {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
      ;(globalOf('navigation') as EventTarget | undefined)?.addEventListener('currententrychange', () => {
        // Routers also replace an entry by itself, and fragments change: a path counts once.
        for (const scope of page.scopes.values()) void scope.count()
      })
    }
  })
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it uses no `this`
  earlier?.forEach?.(whence.push)
  return whence
}
