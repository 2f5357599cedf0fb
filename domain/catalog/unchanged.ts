/**
 * Reuses compiled objects of the previous compilation if they would come out equal, so that texts, digests and answers
 * cached per object stay valid. It changes no result, only which of two equal objects is used.
 */

import { keysOf } from '../typed-keys.ts'
import type { InstallPath, Organization } from '../catalog.ts'
import { isSameList } from '../published/parts.ts'
import type { Resource } from './objects.ts'

/**
 * `made`, or the equal object that was made of the same resource before. Members are compared by identity, lists entry by
 * entry.
 */
export function unchanged<T extends InstallPath | Organization>(
  resource: Resource<'InstallPath'> | Resource<'Organization'>,
  made: T,
): T {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- what this step has noted
  const before = resource.memo as T | null
  if (before !== null && isSameObject(before, made)) return before
  resource.memo = made
  return made
}

function isSameObject<T extends object>(a: T, b: T): boolean {
  const names = keysOf(b)
  return names.length === Object.keys(a).length && names.every((name) => isSameMember(a[name], b[name]))
}

function isSameMember(a: unknown, b: unknown): boolean {
  if (a === b) return true
  return Array.isArray(a) && Array.isArray(b) && isSameList(a, b)
}
