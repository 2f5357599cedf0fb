/** The address of a channel of Slack: it is the secret, so it is checked where it is used and never shown. */

/** Of the service itself; `WHENCE_SLACK_URL` names another for tests. */
export const SLACK_ORIGIN = 'https://hooks.slack.com'

/** Whether events may be sent there: an address of that service, and of no other. */
export function isSlackAddress(address: string, origin: string = SLACK_ORIGIN): boolean {
  const url = URL.parse(address)
  return url !== null && url.origin === new URL(origin).origin && url.username === '' && url.pathname.length > 1
}

/** What nobody may read of it: all of it, its path, and the last part of that, which is the secret proper. */
export function addressParts(address: string): readonly string[] {
  const path = URL.parse(address)?.pathname ?? ''
  return [address, path, path.slice(path.lastIndexOf('/') + 1)].filter((part) => part.length > 1)
}
