/** What all scopes of a page share: the script tag's options, consent, and the way to the extras. */

import type { Extras } from './extras.ts'

/** Address below the base and digest of the extras: the build writes them in. */
declare const EXTRAS_PATH: string
declare const EXTRAS_INTEGRITY: string

export interface Page {
  /** Address of the service, or of the proxy path in front of it, without a slash at its end. */
  readonly base: string
  /** Of the script tag; passed on to the extras. */
  readonly nonce: string
  /** ID of the registered page that the document shows. */
  readonly pageId: string | undefined
  /** False where consent cannot change it: denied for good, or a page that is not secure. */
  readonly mayCollect: boolean
  /** Changed by `grant` and `deny`. */
  isAllowed: boolean
  /** False where only a call starts counting. */
  readonly isAutomatic: boolean
  /** True where a route change to another path is a page of its own. */
  readonly hasRoutes: boolean
  readonly log: (...words: unknown[]) => void
  /** Set once the extras are here; null where they did not come. */
  extras?: Extras | null
  loading?: Promise<Extras | null>
}

/** The script element through which core and extras meet: the page's global names stay one. */
export interface ExtrasScript extends HTMLScriptElement {
  whence?: (extras: Extras) => void
}

/** True where the browser asks for its visitor not to be sold or shared. */
export const hasGpc = () => (navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl === true

/** Asks for the extras once per document. Null where they are blocked, away, or were altered on their way. */
export function loadExtras(page: Page): Promise<Extras | null> {
  return (page.loading ??= new Promise<Extras | null>((resolve) => {
    const script: ExtrasScript = document.createElement('script')
    script.whence = resolve
    script.onerror = () => resolve(null)
    script.crossOrigin = 'anonymous'
    script.integrity = EXTRAS_INTEGRITY
    script.nonce = page.nonce
    script.src = trusted(page.base + EXTRAS_PATH)
    document.head.append(script)
  })
    .catch(() => null)
    .then((extras) => (page.extras = extras)))
}

interface TrustedTypes {
  createPolicy(name: string, rules: object): { createScriptURL(url: string): string }
}

/** Pages that enforce Trusted Types allow the policy `whence`, or do without the extras. */
function trusted(url: string): string {
  const { trustedTypes } = window as Window & { trustedTypes?: TrustedTypes }
  return trustedTypes?.createPolicy('whence', { createScriptURL: (text: string) => text }).createScriptURL(url) ?? url
}
