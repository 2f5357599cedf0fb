/** What events say in words that somebody else chose. */

/** Control characters, and those that hide or reorder their neighbours. */
const STEERING = /[\p{Cc}\p{Cf}\u2028\u2029]/gu
const REPLACEMENT = '\uFFFD'
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:)?\/\/|^[^\s/?#]+\.[a-z]{2,}[/?#]/i

const MAIL_ADDRESS = /[^\s/@]+@[^\s/@]+\.[^\s/@]+/g

/**
 * A text that a visitor or an installer gave, without what steers a terminal and without mail addresses. Of an address of the web only the host is
 * told, which is its name.
 */
export function toldText(text: string): string {
  const shown = withoutMail(text.trim())
  if (!ADDRESS.test(shown)) return shown
  const url = URL.parse(shown.includes('//') ? shown.replace(/^\/\//, 'https://') : `https://${shown}`)
  return url === null ? '' : url.hostname.replace(/^www\./, '')
}

/** A text of which that is all: a path stays one. */
export function withoutMail(text: string): string {
  return text.replace(STEERING, REPLACEMENT).replace(MAIL_ADDRESS, '…')
}
