/** The address of a channel of Slack: it is the secret, so it is checked where it is used and never shown. */

/** Of the service itself; `WHENCE_SLACK_URL` names what stands in for it in tests. */
export const SLACK_ORIGIN = 'https://hooks.slack.com'

/**
 * Where events are sent: to an address of that service and of no other, at `origin` if that stands in for it. Null: it is no such address.
 */
export function slackTarget(address: string, origin: string = SLACK_ORIGIN): string | null {
  const url = URL.parse(address)
  const isOwn = url !== null && (url.origin === SLACK_ORIGIN || url.origin === origin)
  if (!isOwn || url.username !== '' || url.pathname.length <= 1) return null
  // Not resolved against the origin: a path that begins with two slashes would name another host.
  return `${origin}${url.pathname}${url.search}`
}

/** What nobody may read of it: all of it, its path, and the last part of that, which is the secret proper. */
export function addressParts(address: string): readonly string[] {
  const path = URL.parse(address)?.pathname ?? ''
  return [address, path, path.slice(path.lastIndexOf('/') + 1)].filter((part) => part.length > 1)
}
