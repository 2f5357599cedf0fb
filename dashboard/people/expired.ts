/** Deletes invitations a month after they expired, including the address in them. */

import { every, type Repetition } from '../../common/every.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { invitationIn } from '../../domain/people/member.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Directory } from '../resources/directory.ts'
import type { InventoryOwners } from '../resources/inventory.ts'
import type { ResourceWriter } from '../resources/writer.ts'
import { everyMember } from './out-of-force.ts'

interface ExpiredParts {
  readonly directory: Directory
  readonly inventory: InventoryOwners
  readonly writer: ResourceWriter
  readonly nowMs: () => number
}

/**
 * Resolves with the number deleted. Of several processes one deletes each; objects of another manager stay.
 * @internal
 */
export async function deleteExpired({ writer, nowMs, ...parts }: ExpiredParts): Promise<number> {
  let deleted = 0
  for (const { namespace, name, invitation } of everyMember(parts)) {
    if (invitation === null || invitation.expiresAtMs + LIMITS.expiredInvitationMs > nowMs()) continue
    const ref = { kind: 'Member', namespace, name }
    const stored = await writer.read(ref)
    // It may have been sent again a moment ago.
    if (stored === null || invitationIn(stored.spec) !== invitation.id) continue
    if ((await writer.remove(ref, stored.version)).kind === 'written') deleted += 1
  }
  return deleted
}

export function startDeletingExpired(parts: ExpiredParts & { readonly logger: Logger }): Repetition {
  const remove = async (): Promise<void> => void (await deleteExpired(parts))
  return every(HOUR_MS, remove, {
    firstMs: HOUR_MS,
    onFailure: (error) =>
      parts.logger.warn({ err: error, task: 'delete_expired_invitations' }, 'expired invitations were not deleted'),
  })
}
