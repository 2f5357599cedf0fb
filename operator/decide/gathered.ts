/** The gathered input of a decision. */

import type { Catalog, CatalogProblem, Credentials } from '../../domain/catalog.ts'
import type { PublishedProblem } from '../../domain/published/problems.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

/** Everything that a decision depends on. */
export interface Gathered {
  readonly resources: { readonly [K in ResourceKind]: readonly KubeObject[] }
  /** Existing Secrets that a Destination, LogStream or Webhook refers to. */
  readonly secrets: readonly KubeObject[]
  /** Only their names and labels. */
  readonly namespaces: readonly KubeObject[]
  /** Keys of the catalog's parts in the cluster. */
  readonly partsInUse: readonly string[]
  /** How many Secrets the credentials of one provider may fill. */
  readonly credentialSlots: number
  /** `objectKey` of the service's own Secrets. */
  readonly ownSecrets: ReadonlySet<string>
  readonly baseUrl: string
  /** What the cluster holds and the pods use; null if unknown. */
  readonly before: InForce | null
  /** The problems that were published last, with their times. */
  readonly published: readonly PublishedProblem[]
  /** `objectKey` of objects that stay as they are for now, since a person paused them or their Secrets are not read; they are not among the resources. */
  readonly paused: ReadonlySet<string>
  /** Namespaces whose objects cannot be read. */
  readonly heldNamespaces: ReadonlySet<string>
  /** Warnings that are not the compiler's, by `objectKey`. */
  readonly warnings: (object: { readonly kind: ResourceKind; readonly namespace: string }) => readonly CatalogProblem[]
  readonly nowMs: number
}

/** A catalog with its credentials. */
export interface InForce {
  readonly catalog: Catalog
  readonly credentials: Credentials
}
