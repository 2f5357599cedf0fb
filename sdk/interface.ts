/** Makes `window.whence`: one typed interface per website on the page, with the extras behind it where they are needed. */

import { loadExtras } from './page.ts'
import type { Page } from './page.ts'
import { withoutPlaceholder } from './placeholder.ts'
import { watchRoutes } from './routes.ts'
import type { Scope } from './scope.ts'
import { createScope } from './scope.ts'
import type { Whence } from './whence.d.ts'

/** Longest wait of `command` for a token. */
const TOKEN_WAIT_MS = 2_000
const COMMANDS = '[data-whence-command],[data-whence-copy]'

/** One website with its interface. */
export interface Opened {
  readonly scope: Scope
  readonly whence: Whence
  /** True once it should be counted as soon as consent allows. */
  isWanted: boolean
}

/** Counts the page for `project` as soon as it may. */
export function createInterface(page: Page, project: string): Whence {
  const opened = new Map<string, Opened>()

  const open = (name = project): Opened => {
    let entry = opened.get(name)
    if (!entry) {
      const scope = createScope(page, name)
      entry = { scope, whence: interfaceOf(scope), isWanted: page.isAutomatic }
      opened.set(name, entry)
      // In a task of its own, so that adapters which the page has queued are registered first.
      setTimeout(resume)
    }
    return entry
  }

  /** Does what consent and the page's wishes allow by now; harmless to repeat. */
  const resume = () => {
    for (const entry of opened.values()) {
      if (page.isAllowed && entry.isWanted) {
        entry.isWanted = false
        void entry.scope.start()
      }
    }
    if (document.querySelector(COMMANDS)) void load()
  }

  const load = async () => {
    const extras = page.isAllowed ? await loadExtras(page) : null
    extras?.attend(page, open)
    return extras
  }

  const interfaceOf = (scope: Scope): Whence => {
    const handoff = async () => (await (await load())?.handoff(scope)) ?? null
    const fill = (text: string) => (page.isAllowed && page.extras?.fill(scope, text)) || withoutPlaceholder(text)
    const whence: Whence = {
      project: scope.project,
      start: () => {
        // Kept for later where consent is still missing.
        open(scope.project).isWanted = !page.isAllowed
        return scope.start()
      },
      grant: () => {
        page.isAllowed = page.mayCollect
        resume()
      },
      deny: () => {
        page.isAllowed = false
        for (const entry of opened.values()) {
          entry.isWanted = page.isAutomatic
          entry.scope.forget().catch(page.log)
        }
      },
      handoff,
      command: async (text) => {
        await Promise.race([handoff(), new Promise((resolve) => setTimeout(resolve, TOKEN_WAIT_MS))])
        return fill(text)
      },
      fill,
      adapter: (name, read) => scope.adapters.set(name, read),
      scope: (name) => open(name).whence,
      push: (callback) => callback(whence),
    }
    return whence
  }

  addEventListener('DOMContentLoaded', resume)
  // Commands that the page adds later are noticed when the visitor comes near one.
  addEventListener('pointerover', ({ target }) => {
    if (!page.loading && (target as Element).closest?.(COMMANDS)) void load()
  })
  if (page.hasRoutes) {
    watchRoutes(() => {
      for (const entry of opened.values()) entry.isWanted = page.isAutomatic
      resume()
    })
  }
  return open().whence
}
