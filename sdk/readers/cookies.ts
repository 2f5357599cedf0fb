/** Reads the page's cookie string. */

import { COOKIE_CHARS } from '../core/limits.ts'
import type { ReadCookie } from '../core/types.ts'

/**
 * Reads from `header`, the value of `document.cookie`. Values are percent-decoded if possible. Of several cookies with
 * one name the first counts: browsers list the most specific path first. Names are plain words.
 */
export const cookieReader =
  (header: string): ReadCookie =>
  (name) => {
    const value = `; ${header}`.split(`; ${name}=`)[1]?.split('; ')[0]
    // An over-long value is left out, never truncated: the service refuses it, and a truncated one could be another
    // visitor's.
    if (!value || value.length > COOKIE_CHARS) return undefined
    try {
      return decodeURIComponent(value)
    } catch {
      return value
    }
  }
