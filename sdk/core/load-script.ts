/** Loads the other parts of the SDK as scripts of the service, checked against the digests that the build filled in. */

import type { Extras, LoadPart, Readers, VisitRecorder } from './types.ts'
import { globalOf, nativeDocument } from './native.ts'

/** Addresses of the parts below the base, and their digests: the build fills them in. */
declare const EXTRAS: readonly [path: string, integrity: string]
declare const READERS: readonly [path: string, integrity: string]
declare const RECORDER: readonly [path: string, integrity: string]

/** The script element through which the core and a part meet, so that the page keeps one global name. */
export interface PartScript<T> extends HTMLScriptElement {
  whence?: (part: T) => void
}

const partAt =
  <T>(path: string, integrity: string): LoadPart<T> =>
  async ({ serviceUrl, nonce }, take) => {
    const url = serviceUrl + path
    // A loading script would delay the page's load event. This fetch does not, and leaves the script in the browser's
    // cache.
    await fetch(url)
    const script: PartScript<T> = scriptAt(url, nonce)
    script.whence = take
    // The empty string means anonymous; without it the browser would not check the digest.
    script.crossOrigin = ''
    script.integrity = integrity
    nativeDocument.head.append(script)
  }

export const loadExtras = partAt<Extras>(...EXTRAS)
export const loadReaders = partAt<Readers>(...READERS)
export const loadRecorder = partAt<VisitRecorder>(...RECORDER)

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
  const script = nativeDocument.createElement('script')
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const trustedTypes = globalOf('trustedTypes') as TrustedTypes | undefined
  script.nonce = nonce
  policy ??= trustedTypes?.createPolicy('whence', { createScriptURL: (text: string) => text })
  script.src = policy?.createScriptURL(url) ?? url
  return script
}
