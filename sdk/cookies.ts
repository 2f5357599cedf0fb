/** Reads the page's cookie string. */

/** Looks up one cookie by name; undefined where it is absent or empty. */
export type ReadCookie = (name: string) => string | undefined

/**
 * Reads from `header`, the value of `document.cookie`. Values are percent-decoded where that is possible. Of several cookies of one
 * name the first counts: browsers list the most specific path first.
 */
export function cookieReader(header: string): ReadCookie {
  return (name) => {
    const value = `; ${header}`.split(`; ${name}=`)[1]?.split(';')[0]
    try {
      return value && decodeURIComponent(value)
    } catch {
      return value
    }
  }
}
