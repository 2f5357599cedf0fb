/** Distinguishes requests of the service's own pages from requests that another website makes a browser send. */

import type { IncomingHttpHeaders } from 'node:http'

/**
 * Browsers say where a request comes from; older ones at least name the Origin of what changes something. A request that
 * says neither is refused if it changes something, and answered if it only reads: no other website can see the answer.
 */
export function isOwnOrigin(headers: IncomingHttpHeaders, baseUrl: string, isReading: boolean): boolean {
  const site = headers['sec-fetch-site']
  const { origin } = headers
  const isOwn = origin === undefined ? null : origin === new URL(baseUrl).origin
  if (isOwn === false) return false
  if (site === 'same-origin') return true
  if (site === undefined) return isReading || isOwn === true
  // Typed into the address bar, or opened from a bookmark.
  return site === 'none' && isReading && headers['sec-fetch-mode'] === 'navigate'
}
