/** Text as unpadded base64url of its UTF-8. */
export function base64UrlOf(text: string): string {
  // A character for each byte.
  return btoa(unescape(encodeURIComponent(text)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')
}
