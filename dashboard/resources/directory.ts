/** Port: who belongs to which organisation, according to the custom resources now. All rights of the dashboard come from here. */

import type { Organization, Website } from '../../domain/catalog.ts'
import type { PassesInForce } from '../../domain/catalog/compile-catalog.ts'
import type { RightsAge } from '../../domain/people/rights-age.ts'
import type { Member } from '../../domain/people/member.ts'

/** Its ID in the catalog and in answers. */
export type DirectoryOrganization = Pick<
  Organization,
  | 'id'
  | 'namespace'
  | 'objectName'
  | 'displayName'
  | 'plan'
  | 'tenant'
  | 'logRetentionDays'
  | 'timeZone'
  | 'installPaths'
>

/** Without credentials: the dashboard reads none. */
export type DirectoryWebsite = Pick<
  Website,
  | 'id'
  | 'namespace'
  | 'objectName'
  | 'displayName'
  | 'primaryOrigin'
  | 'origins'
  | 'pages'
  | 'retentionDays'
  | 'destinations'
>

/**
 * It is at most a second behind. If it knows nothing, or no longer does, it is empty: a person who cannot be looked up
 * has no rights.
 */
export interface Directory {
  readonly organizations: () => ReadonlyMap<string, DirectoryOrganization>
  /** In force, of this organisation alone; empty if there is none of this ID. */
  readonly websites: (organization: string) => readonly DirectoryWebsite[]
  /** Those in force, oldest first; without refused ones. */
  readonly members: () => readonly Member[]
  /** In force when the objects changed last. Whether one has ended since is to be looked at. */
  readonly passes: () => PassesInForce
  /** How sure it is that this is what is published; others than `current` answer with less. */
  readonly rightsAge: () => RightsAge
  /** Of the newest catalog that this process knows to be published: work that is asked for now carries it. */
  readonly catalogNumber: () => number
  /** Resolves once all kinds have been read everywhere. Until then there may be no organisations, and nobody has any rights. */
  readonly synced: Promise<void>
}

export function membersOf(directory: Directory, organization: string): readonly Member[] {
  return directory.members().filter((member) => member.organization === organization)
}

/** The websites of a catalog that belong to the organisation. */
export function websitesOf(
  { websites }: { readonly websites: ReadonlyMap<string, Website> },
  organization: string,
): readonly DirectoryWebsite[] {
  return [...websites.values()].filter((website) => website.organization.id === organization)
}
