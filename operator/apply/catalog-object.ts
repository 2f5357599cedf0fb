/** The form of the objects that hold the catalog and its credentials in the cluster. */

import type { CatalogPlace } from '../../domain/published/place.ts'
import { CATALOG_LABEL } from '../../domain/published/place.ts'
import type { CredentialsEntry } from '../../domain/published/index.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { stripped } from '../../runtime/kube/objects.ts'
import { sha256Hex } from '../../common/digest.ts'

export type CredentialsIndex = Readonly<Record<string, readonly CredentialsEntry[]>>

export interface Content {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
}

export interface ContentInShort {
  readonly data?: Readonly<Record<string, string>>
  /** SHA-256 of members of the binary data, as they are written. */
  readonly digests?: Readonly<Record<string, string>>
}

const DIGESTS = 'digests'

export function catalogObject(
  kind: 'ConfigMap' | 'Secret',
  name: string,
  place: CatalogPlace,
  content: Content,
): KubeObject {
  const labels = { [CATALOG_LABEL]: place.name, 'app.kubernetes.io/managed-by': 'whence-operator' }
  return { apiVersion: 'v1', kind, metadata: { name, namespace: place.namespace, labels }, ...content }
}

/**
 * What is kept in memory of a ConfigMap of the catalog: of its binary data the digests alone, which show whether it is what was
 * written. All parts together are as large as everything that they were made of.
 */
export function inShort(object: KubeObject): KubeObject {
  const { binaryData, ...rest } = stripped(object)
  if (typeof binaryData !== 'object' || binaryData === null) return rest
  const digests = Object.entries(binaryData).map(([name, value]) => [name, sha256Hex(String(value))] as const)
  return { ...rest, [DIGESTS]: Object.fromEntries(digests) }
}

/** Whether a copy that was made by `inShort` has these contents. Members that others added are ignored. */
export function hasContent(copy: KubeObject, { data, digests }: ContentInShort): boolean {
  const has = (members: unknown, wanted: Readonly<Record<string, string>> = {}) =>
    Object.entries(wanted).every(([name, value]) => (members as Record<string, string> | undefined)?.[name] === value)
  return has(copy['data'], data) && has(copy[DIGESTS], digests)
}
