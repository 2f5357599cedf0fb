/** Loads the extras as a script of the service, checked against the digest that the build filled in. */

import type { Extras } from './types.ts'
import type { Page } from './types.ts'
import { globalOf, nativeDocument } from './native.ts'

/** Address of the extras below the base, and their digest: the build fills them in. */
declare const EXTRAS_PATH: string
declare const EXTRAS_INTEGRITY: string

/** The script element through which core and extras meet, so that the page keeps one global name. */
export interface ExtrasScript extends HTMLScriptElement {
  whence?: (extras: Extras) => void
}

/** Passes the extras to `take` once they are loaded. Rejects if they cannot be fetched. */
export async function loadExtras({ serviceUrl, nonce }: Page, take: (extras: Extras) => void): Promise<void> {
  const url = serviceUrl + EXTRAS_PATH
  // A loading script would delay the page's load event. This fetch does not, and leaves the script in the browser's
  // cache.
  await fetch(url)
  const script: ExtrasScript = scriptAt(url, nonce)
  script.whence = take
  // The empty string means anonymous; without it the browser would not check the digest.
  script.crossOrigin = ''
  script.integrity = EXTRAS_INTEGRITY
  nativeDocument.head.append(script)
}

interface TrustedTypes {
  createPolicy(name: string, rules: object): { createScriptURL(url: string): string }
}

/**
 * A script element that is not in a document yet. Pages that enforce Trusted Types must allow the policy `whence`, or
 * go without the parts that are loaded later.
 */
export function scriptAt(url: string, nonce: string): HTMLScriptElement {
  const script = nativeDocument.createElement('script')
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const trustedTypes = globalOf('trustedTypes') as TrustedTypes | undefined
  script.nonce = nonce
  script.src =
    trustedTypes?.createPolicy('whence', { createScriptURL: (text: string) => text }).createScriptURL(url) ?? url
  return script
}
