/** Reads the address of a website as people type it. */

import { normaliseOrigin } from '../origin.ts'

/** Its origin: without a scheme it is https, and whatever follows the host is left out. Null if no website may have it. */
export function typedOrigin(text: string): string | null {
  const typed = text.trim()
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`)
  return url === null ? null : normaliseOrigin(url.origin)
}
