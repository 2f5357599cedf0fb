/** What a decision is made from, as it was gathered. */

import type { Catalog, CatalogProblem, Credentials } from '../../domain/catalog.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

/** Everything that a decision depends on. */
export interface Gathered {
  readonly resources: { readonly [K in ResourceKind]: readonly KubeObject[] }
  /** Those that a Destination or LogStream refers to, as far as they are there. */
  readonly secrets: readonly KubeObject[]
  /** Their names and labels alone. */
  readonly namespaces: readonly KubeObject[]
  /** Keys of the parts that the catalog has in the cluster. */
  readonly partsInUse: readonly string[]
  /** How many Secrets the credentials of one provider may fill. */
  readonly credentialSlots: number
  /** `objectKey` of Secrets that are the service's own. */
  readonly ownSecrets: ReadonlySet<string>
  readonly baseUrl: string
  /** What the cluster holds and pods go by; null where nothing is known of it. */
  readonly before: InForce | null
  /** `objectKey` of Websites that a person paused; they are not among the resources. */
  readonly paused: ReadonlySet<string>
  /** Whose objects cannot be seen. */
  readonly heldNamespaces: ReadonlySet<string>
  /** Problems that are not the compiler's, by `objectKey`: warnings. */
  readonly warnings: (object: { readonly kind: ResourceKind; readonly namespace: string }) => readonly CatalogProblem[]
  readonly nowMs: number
}

/** A catalog with its credentials. */
export interface InForce {
  readonly catalog: Catalog
  readonly credentials: Credentials
}
