/** Tells of each watched namespace whether its objects can be seen, so that one that cannot stops itself alone. */

import type { Reflector } from '../../runtime/kube/reflector.ts'

/**
 * `Seen`: its objects are known. `Pending`: the first answer is still to come. `Forbidden`: the API server refuses; what was in
 * force from it stays so. `Gone`: there has been no such namespace for ten minutes, and nothing from it counts any more.
 */
export type NamespaceState = 'Seen' | 'Pending' | 'Forbidden' | 'Gone'

export interface NamespacesOptions {
  /** What watches each of them. */
  readonly watches: ReadonlyMap<string, readonly Pick<Reflector, 'isSynced' | 'failure'>[]>
  /** Whether there is such a namespace; null where nothing tells. */
  readonly exists: (namespace: string) => boolean | null
  readonly nowMs: () => number
}

export interface Namespaces {
  readonly states: () => ReadonlyMap<string, NamespaceState>
  /** Those whose objects are known no longer than up to some moment: the API server refuses to tell more. */
  readonly outdated: () => ReadonlySet<string>
}

const GONE_MS = 600_000
const FORBIDDEN = 403

export function createNamespaces({ watches, exists, nowMs }: NamespacesOptions): Namespaces {
  const missingSinceMs = new Map<string, number>()
  const isGone = (namespace: string): boolean => {
    if (exists(namespace) !== false) {
      missingSinceMs.delete(namespace)
      return false
    }
    const sinceMs = missingSinceMs.get(namespace) ?? nowMs()
    missingSinceMs.set(namespace, sinceMs)
    return nowMs() - sinceMs >= GONE_MS
  }
  const stateOf = (namespace: string, own: readonly Pick<Reflector, 'isSynced' | 'failure'>[]): NamespaceState => {
    if (isGone(namespace)) return 'Gone'
    if (own.every((watch) => watch.isSynced())) return 'Seen'
    return own.some((watch) => !watch.isSynced() && watch.failure() === FORBIDDEN) ? 'Forbidden' : 'Pending'
  }
  return {
    states: () => new Map([...watches].map(([namespace, own]) => [namespace, stateOf(namespace, own)])),
    outdated: () =>
      new Set(
        [...watches].filter(([, own]) => own.some((watch) => watch.failure() === FORBIDDEN)).map(([name]) => name),
      ),
  }
}
