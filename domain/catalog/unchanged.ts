/**
 * Reuses compiled objects of the previous compilation if they would come out the same, so that texts, digests and
 * answers cached per object stay valid. Changes no result, only which of two equal objects it is.
 */

import type { InstallPath, Organization } from '../catalog.ts'

/** By the checked spec it was made from, which stays one object as long as the resource is unchanged. */
const BEFORE = new WeakMap<object, InstallPath | Organization>()

/**
 * `made`, or the equal object that the same spec gave before. Members are compared by identity, lists by their entries.
 */
export function unchanged<T extends InstallPath | Organization>(spec: object, made: T): T {
  const before = BEFORE.get(spec) as T | undefined
  if (before !== undefined && isSame(before, made)) return before
  BEFORE.set(spec, made)
  return made
}

/** Whether two lists hold the same entries in the same order. */
export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index])
}

function isSame<T extends object>(a: T, b: T): boolean {
  const names = Object.keys(b) as (keyof T)[]
  return names.length === Object.keys(a).length && names.every((name) => isSameMember(a[name], b[name]))
}

function isSameMember(a: unknown, b: unknown): boolean {
  if (a === b) return true
  return Array.isArray(a) && Array.isArray(b) && isSameList(a, b)
}
