/** Deletes invitations a month after they expired, including the address in them. */

import { unlessAborted } from '../../common/deadline.ts'
import { every, type Repetition } from '../../common/every.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { invitationIn } from '../../domain/people/member.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Logger } from '../../runtime/logger.ts'
import { everyMember, type Roster } from './out-of-force.ts'

/**
 * Resolves with the number deleted. Of several processes one deletes each; objects of another manager stay.
 * @internal
 */
export async function deleteExpired(roster: Roster, nowMs: () => number): Promise<number> {
  const { writer } = roster
  let deleted = 0
  for (const { namespace, name, invitation } of everyMember(roster)) {
    if (invitation === null || invitation.expiresAtMs + LIMITS.expiredInvitationMs > nowMs()) continue
    const ref = { kind: 'Member', namespace, name }
    const stored = await writer.read(ref)
    // It may have been sent again a moment ago.
    if (stored === null || invitationIn(stored.spec) !== invitation.id) continue
    if ((await writer.remove(ref, stored.version)).kind === 'written') deleted += 1
  }
  return deleted
}

export function startDeletingExpired(roster: Roster, nowMs: () => number, logger: Logger): Repetition {
  const remove = async (): Promise<void> => void (await deleteExpired(roster, nowMs))
  return every(HOUR_MS, (signal) => unlessAborted(signal, remove), {
    firstMs: HOUR_MS,
    onFailure: (error) =>
      logger.warn({ err: error, task: 'delete_expired_invitations' }, 'expired invitations were not deleted'),
  })
}
