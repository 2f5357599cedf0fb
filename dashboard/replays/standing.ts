/** Whether the person who asked for a replay may still have it. */

import { isAtLeast } from '../../domain/people/roles.ts'
import { roleIn } from '../../domain/people/standing.ts'
import type { Directory } from '../resources/directory.ts'
import type { Sessions } from '../sessions/sessions.ts'

/** Sessions are the same everywhere; what this process knows of objects may be old. */
type ReplayStanding = 'allowed' | 'signed_out' | 'no_role' | 'unknown_organization'

/** By whom and by what rights are known. */
export interface RightsSource {
  readonly sessions: { readonly readUnattended: Sessions['readUnattended'] }
  readonly directory: Directory
}

/** Rejects while the hot state is unavailable. */
export async function replayStanding(
  { session: id, organization }: { readonly session: string; readonly organization: string },
  { sessions, directory }: RightsSource,
): Promise<ReplayStanding> {
  const session = await sessions.readUnattended({ id })
  if (session === null) return 'signed_out'
  if (!directory.organizations().has(organization)) return 'unknown_organization'
  return isAtLeast(roleIn(organization, session, directory.members()), 'Member') ? 'allowed' : 'no_role'
}
