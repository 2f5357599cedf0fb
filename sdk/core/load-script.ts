/** Loads the other parts of the SDK as scripts of the service, checked against the digests that the build filled in. */

import type { LoadedPart, Page, PartOfSdk, ScriptPlace } from './types.ts'
import { DIGEST_CHARS, browserSha256 } from './digest.ts'
import { documentValue } from './document-value.ts'
import { globalOf } from './global.ts'
import { handedOver } from './hand-over.ts'

/**
 * Resolves with the part once its script has run and attends to the page. An altered one never runs: the address contains the beginning of
 * its digest. Rejects if it is altered, or cannot be fetched.
 */
export async function loadPart<T extends LoadedPart>(page: Page, part: PartOfSdk<T>): Promise<T> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- `places.ts` has no other for scripts
  const path = part.place as ScriptPlace
  const url = page.serviceUrl + path
  // A loading script would delay the page's load event. This fetch does not, and leaves the script in the browser's
  // cache.
  const answer = await fetch(url)
  const script = scriptAt(url, page.nonce)
  // A page that is not secure could itself have been altered, and its browser computes no digests.
  if (isSecureContext) {
    const digest = btoa(String.fromCharCode(...new Uint8Array(await browserSha256(await answer.arrayBuffer()))))
    if (!path.includes(digest.replace(/\W/g, '').slice(0, DIGEST_CHARS)))
      throw new Error(DEBUG ? `${url} was altered on its way, and does not run.` : undefined)
    // The empty string means anonymous; without it the browser would not check that what runs is what was fetched.
    script.crossOrigin = ''
    script.integrity = `sha256-${digest}`
  }
  documentValue('head').append(script)
  await new Promise((resolve) => (script.onload = resolve))
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the part of this place
  part.loaded = handedOver() as T
  part.loaded.attend?.(page)
  return part.loaded
}

interface ScriptPolicy {
  createScriptURL(url: string): string
}
interface TrustedTypes {
  createPolicy(name: string, rules: object): ScriptPolicy
}

/** Pages allow a policy's name once. */
let policy: ScriptPolicy | undefined

/**
 * A script element that is not in a document yet. Pages that enforce Trusted Types must allow the policy `whence`, or
 * go without the parts that are loaded later.
 */
export function scriptAt(url: string, nonce: string): HTMLScriptElement {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the type of `call` does not know of the tag
  const script = documentValue('createElement').call(document, 'script') as HTMLScriptElement
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const trustedTypes = globalOf('trustedTypes') as TrustedTypes | undefined
  script.nonce = nonce
  policy ??= trustedTypes?.createPolicy('whence', { createScriptURL: (text: string) => text })
  script.src = policy?.createScriptURL(url) ?? url
  return script
}
