/** Names of Member objects: the same for the same person, so that two invitations of one meet, and without an address. */

import type { MemberIdentity } from '../../domain/people/member.ts'

const HEX_CHARS = 12

/** `hash` is keyed: someone who sees the name alone cannot try addresses. */
export function memberName(organization: string, identity: MemberIdentity, hash: (text: string) => string): string {
  const who = identity.kind === 'person' ? `person ${identity.email}` : `group ${identity.group}`
  return `m-${hash(`${organization}\n${who}`).slice(0, HEX_CHARS)}`
}
