/** What all scopes of a page share: the script tag's options, consent, and the way to the extras. */

import type { Extras } from './extras.ts'
import type { Scope } from './scope.ts'

/** Address below the base and digest of the extras: the build writes them in. */
declare const EXTRAS_PATH: string
declare const EXTRAS_INTEGRITY: string

/** Longest wait for the extras: a visit, or a command to be copied, then does without them. */
const EXTRAS_MS = 2_000
const COMMANDS = '[data-whence-command],[data-whence-copy]'

export interface Page {
  /** Address of the service, or of the proxy path in front of it, with a slash at its end. */
  readonly serviceUrl: string
  /** Of the script tag; passed on to the extras. */
  readonly nonce: string
  /** ID of the registered page that the document shows, until a route change leads elsewhere. */
  registeredId: string | undefined
  /** False where consent cannot change it: denied for good, or a page that is not secure. */
  readonly mayCollect: boolean
  /** Changed by `grant` and `deny`. */
  isAllowed: boolean
  /** False where only a call starts counting. */
  readonly isAutomatic: boolean
  readonly report: (problem: unknown) => void
  /** By website ID. */
  readonly scopes: Map<string, Scope>
  /** The scope of a website, made where there is none; without a name that of the script tag. */
  readonly scopeOf: (project?: string) => Scope
  /** Set once the extras are here. */
  extras?: Extras
  loading?: Promise<Extras | null>
}

/** The script element through which core and extras meet: the page's global names stay one. */
export interface ExtrasScript extends HTMLScriptElement {
  whence?: (extras: Extras) => void
}

/** True where the browser asks for its visitor not to be sold or shared. */
export const hasGpc = () => !!(navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl

/** Does what consent and the page's wishes allow by now; harmless to repeat. */
export function resume(page: Page): void {
  for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
  if (document.querySelector(COMMANDS)) void loadExtras(page)
}

/** Calls back when something may have become possible: the document is read, its route has changed, a command is near. */
export function watchPage(page: Page, hasRoutes: boolean): void {
  addEventListener('DOMContentLoaded', () => resume(page))
  // Commands that the page adds later are noticed when the visitor comes near one.
  addEventListener('pointerover', ({ target }) => {
    if ((target as Element).closest?.(COMMANDS)) void loadExtras(page)
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
 * Asks for the extras once per document. Null where they are blocked, away, or were altered on their way. They come without consent
 * as well, for copy buttons; what they send and fill depends on it.
 */
export function loadExtras(page: Page): Promise<Extras | null> {
  const url = page.serviceUrl + EXTRAS_PATH
  return (page.loading ??= new Promise<Extras | null>((resolve) => {
    setTimeout(() => resolve(null), EXTRAS_MS)
    const insert = async () => {
      // A script under way would hold up the page's load event. This does not, and leaves the script in the browser's cache.
      await fetch(url)
      const script: ExtrasScript = document.createElement('script')
      script.whence = (extras) => {
        // Late ones still serve what comes after them.
        page.loading = Promise.resolve((page.extras = extras))
        resolve(extras)
        extras.attend(page)
      }
      // The empty word means anonymous; without it the browser would not check the digest.
      script.crossOrigin = ''
      script.integrity = EXTRAS_INTEGRITY
      script.nonce = page.nonce
      script.src = trusted(url)
      document.head.append(script)
    }
    insert().catch(page.report)
  }))
}

interface TrustedTypes {
  createPolicy(name: string, rules: object): { createScriptURL(url: string): string }
}

/** Pages that enforce Trusted Types allow the policy `whence`, or do without the extras. */
function trusted(url: string): string {
  const { trustedTypes } = window as Window & { trustedTypes?: TrustedTypes }
  return trustedTypes?.createPolicy('whence', { createScriptURL: (text: string) => text }).createScriptURL(url) ?? url
}
