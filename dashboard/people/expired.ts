/** Deletes invitations a month after they expired, including the address in them. */

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
    const open = stored?.spec['invitation'] as { readonly id?: string } | undefined
    // It may have been sent again a moment ago.
    if (stored === null || open?.id !== invitation.id) continue
    if ((await writer.remove(ref, stored.version)).kind === 'written') deleted += 1
  }
  return deleted
}

const EVERY_MS = 3_600_000

export function startDeletingExpired(parts: ExpiredParts & { readonly logger: Logger }): { readonly stop: () => void } {
  const look = (): void => {
    deleteExpired(parts).catch((error: unknown) =>
      parts.logger.warn({ err: error }, 'expired invitations were not deleted'),
    )
  }
  const timer = setInterval(look, EVERY_MS).unref()
  return { stop: () => clearInterval(timer) }
}
