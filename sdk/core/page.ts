/** What all scopes of a page share: its options, consent, and the way to the extras. */

import * as debug from './debug.ts'
import type { Extras } from '../extras/extras.ts'
import { loadExtras as load } from './load-script.ts'
import type { Scope } from './scope.ts'
import type { PageView } from './source.ts'

/** Longest wait for the extras: a visit, or a command to be copied, then does without them. */
const EXTRAS_MS = 2_000

/** What a page asks for: the attributes of the script tag, without `data-`, or the options of the package. All are optional. */
export interface Wishes {
  /** `granted` if absent; any word but `granted` and `denied` counts as `required`. */
  readonly consent?: string | undefined
  /** ID of the registered page that the document shows. */
  readonly pageId?: string | undefined
  /** If present, nothing is counted until a call asks for it. */
  readonly manual?: string | undefined
  /** If present, a route change to another path counts as a page of its own. */
  readonly spa?: string | undefined
  /** CSS selectors of install commands and of their copy buttons, beside those that are marked. */
  readonly commands?: string | undefined
  readonly copyButtons?: string | undefined
  /** Hosts, beside the page's own website, whose scripts are the vendor's own; separated by spaces. */
  readonly scriptHosts?: string | undefined
}

export interface PageOptions {
  /** Address of the service, or of the proxy path in front of it, with a slash at its end. */
  readonly serviceUrl: string
  /** Website ID. */
  readonly project: string
  /** Of the script tag; passed on to the extras. */
  readonly nonce: string
  readonly wishes: Wishes
}

export interface Page extends PageOptions {
  /** The page at the first moment of the script: what the visitor came to, however the page changes it later. */
  readonly view: PageView
  /** ID of the registered page that the document shows, until a route change leads elsewhere. */
  registeredId: string | undefined
  /** False if consent cannot change it: denied for good, or a page that is not secure. */
  readonly mayCollect: boolean
  /** Changed by `grant` and `deny`. */
  isAllowed: boolean
  /** False where only a call starts counting. */
  readonly isAutomatic: boolean
  /** By website ID. */
  readonly scopes: Map<string, Scope>
  /** The scope of a website, made where there is none; without a name that of the script tag. */
  readonly scopeOf: (project?: string) => Scope
  /** Set once the extras are here. */
  extras?: Extras
  loading?: Promise<Extras | null>
}

/** True where the browser asks for its visitor not to be sold or shared. */
export const hasGpc = () => !!(navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl

/** Does what consent and the page's wishes allow by now; harmless to repeat. */
export function resume(page: Page): void {
  for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
  if (document.querySelector(commandsOf(page))) void loadExtras(page)
}

/** Calls back when something may have become possible: the document is read, its route has changed, a command is near. */
export function watchPage(page: Page, hasRoutes: boolean): void {
  addEventListener('DOMContentLoaded', () => resume(page))
  // Commands that the page adds later are noticed when the visitor comes near one.
  addEventListener('pointerover', ({ target }) => {
    if ((target as Element).closest?.(commandsOf(page))) void loadExtras(page)
  })
  const { navigation } = window as Window & { navigation?: EventTarget }
  // Browsers without the Navigation API keep to one visit per document: wrapping the page's history is not worth the risk.
  if (hasRoutes) {
    navigation?.addEventListener('currententrychange', () => {
      page.registeredId = undefined
      for (const scope of page.scopes.values()) scope.isDue = page.isAutomatic
      resume(page)
    })
  }
}

/**
 * Asks for the extras once per document. Null if they are blocked, away, or were altered on their way. They come without consent
 * as well, for copy buttons; what they send and fill depends on it.
 */
export function loadExtras(page: Page): Promise<Extras | null> {
  return (page.loading ??= new Promise<Extras | null>((resolve) => {
    setTimeout(() => resolve(null), EXTRAS_MS)
    load(page, (extras) => {
      // Late ones still serve what comes after them.
      page.loading = Promise.resolve((page.extras = extras))
      resolve(extras)
      extras.attend(page)
    }).catch(report)
  }))
}

/** Selects what makes a page need the extras. `:is` forgives what the page's own selector has got wrong. */
const commandsOf = ({ wishes: { commands = '' } }: Page) => `:is([data-whence-command],[data-whence-copy],${commands})`

/** Problems are for the page's owner, who asks for them with `data-debug`; a page is never told. */
export const report = (problem: unknown) => {
  if (DEBUG) debug.explainFailure(problem)
}
