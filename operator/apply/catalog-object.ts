/** The form of the objects that hold the catalog and its credentials in the cluster. */

import type { CatalogPlace } from '../../domain/published/place.ts'
import { CATALOG_LABEL } from '../../domain/published/place.ts'
import type { CredentialsEntry } from '../../domain/published/index.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'

export type CredentialsIndex = Readonly<Record<string, readonly CredentialsEntry[]>>

export interface Content {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

export function catalogObject(
  kind: 'ConfigMap' | 'Secret',
  name: string,
  place: CatalogPlace,
  content: Content,
): KubeObject {
  const labels = { [CATALOG_LABEL]: place.name, 'app.kubernetes.io/managed-by': 'whence-operator' }
  return { apiVersion: 'v1', kind, metadata: { name, namespace: place.namespace, labels }, ...content }
}
