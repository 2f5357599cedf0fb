/** What is kept in memory of the ConfigMaps that hold the catalog. */

import { sha256Hex } from '../../common/digest.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { stripped } from '../../runtime/kube/objects.ts'
import { memberOf } from '../../domain/strict-json.ts'

export interface ContentInShort {
  readonly data?: Readonly<Record<string, string>>
  /** SHA-256 of members of the binary data, as they are written. */
  readonly digests?: Readonly<Record<string, string>>
}

const DIGESTS = 'digests'

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
    Object.entries(wanted).every(([name, value]) => memberOf(members, name) === value)
  return has(copy['data'], data) && has(copy[DIGESTS], digests)
}
