/** Loads the extras as a script of the service, with the digest that the build has written in. */

import type { Extras } from './types.ts'
import type { Page } from './types.ts'

/** Address below the base and digest of the extras: the build writes them in. */
declare const EXTRAS_PATH: string
declare const EXTRAS_INTEGRITY: string

/** The script element through which core and extras meet: the page's global names stay one. */
export interface ExtrasScript extends HTMLScriptElement {
  whence?: (extras: Extras) => void
}

/** Calls back with the extras once they are here. Rejects if they cannot be fetched. */
export async function loadExtras({ serviceUrl, nonce }: Page, take: (extras: Extras) => void): Promise<void> {
  const url = serviceUrl + EXTRAS_PATH
  // A script under way would hold up the page's load event. This does not, and leaves the script in the browser's cache.
  await fetch(url)
  const script: ExtrasScript = scriptAt(url, nonce)
  script.whence = take
  // The empty word means anonymous; without it the browser would not check the digest.
  script.crossOrigin = ''
  script.integrity = EXTRAS_INTEGRITY
  document.head.append(script)
}

interface TrustedTypes {
  createPolicy(name: string, rules: object): { createScriptURL(url: string): string }
}

/**
 * A script element that is in no document yet. Pages that enforce Trusted Types allow the policy `whence`, or do without what is loaded
 * later.
 */
export function scriptAt(url: string, nonce: string): HTMLScriptElement {
  const script = document.createElement('script')
  const { trustedTypes } = window as Window & { trustedTypes?: TrustedTypes }
  script.nonce = nonce
  script.src =
    trustedTypes?.createPolicy('whence', { createScriptURL: (text: string) => text }).createScriptURL(url) ?? url
  return script
}
