/** Port: who belongs where, as the custom resources say now. All rights of the dashboard come from here. */

import type { Member } from '../../domain/people/member.ts'
import type { Plan } from '../../domain/model.ts'

export interface DirectoryOrganization {
  /** As catalog and answers call it. */
  readonly id: string
  readonly namespace: string
  readonly objectName: string
  readonly displayName: string
  readonly plan: Plan
}

/**
 * It is at most a second behind. If it knows nothing, or no longer does, it is empty: a person who cannot be looked up
 * has no rights.
 */
export interface Directory {
  readonly organizations: () => ReadonlyMap<string, DirectoryOrganization>
  /** In force, the oldest first; refused ones are not among them. */
  readonly members: () => readonly Member[]
}

export function membersOf(directory: Directory, organization: string): readonly Member[] {
  return directory.members().filter((member) => member.organization === organization)
}
