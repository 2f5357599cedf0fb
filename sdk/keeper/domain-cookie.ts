/** Keeps the landing in a cookie of a domain, for its hosts that are reached by a redirect or a typed address. */

import { documentValue } from '../core/document-value.ts'
import { SOURCE_LIFETIME_MS } from '../core/limits.ts'
import { cookieReader } from '../readers/cookies.ts'

const cookieNameOf = (project: string) => `whence_${project}`

/** Empty if there is none. */
export function readSharedCookie(project: string): string {
  return cookieReader(documentValue('cookie'))(cookieNameOf(project)) ?? ''
}

/** An empty text removes it. The browser refuses a domain that is not the page's own or above it. */
export function writeSharedCookie(project: string, domain: string, text: string): void {
  const secure = location.protocol === 'https:' ? ';secure' : ''
  const ageS = text ? SOURCE_LIFETIME_MS / 1_000 : 0
  const cookie = `${cookieNameOf(project)}=${text};domain=${domain};path=/;max-age=${ageS};samesite=lax${secure}`
  // An element may have the name.
  Reflect.set(Document.prototype, 'cookie', cookie, document)
}
