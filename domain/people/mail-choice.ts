/** Whether a person ended a mail of an organisation: kept outside their Member, and stronger than what that says. */

import type { Sha256Hex } from '../origin.ts'

/**
 * Names a person's mails of an organisation without their address. It has no key, so that it is found again after every rotation of the master secrets: who
 * ended a mail stays without it. Whoever reads it can try out addresses.
 */
export function mailDigest(organization: string, email: string, sha256Hex: Sha256Hex): string {
  return sha256Hex(`weekly mail\n${organization}\n${email}`)
}
