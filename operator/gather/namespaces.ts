/** The state of each watched namespace, so that one that cannot be read stops only itself. */

import type { Reflector } from '../../runtime/kube/reflector.ts'

/**
 * `Seen`: its objects are known. `Pending`: the first answer is still missing. `Forbidden`: the API server refuses;
 * what was in force from it stays in force. `Gone`: the namespace has not existed for ten minutes, and nothing from it
 * counts any more.
 */
export type NamespaceState = 'Seen' | 'Pending' | 'Forbidden' | 'Gone'

interface NamespacesOptions {
  /** The watches of each namespace. */
  readonly watches: ReadonlyMap<string, readonly Pick<Reflector, 'isSynced' | 'failure'>[]>
  /** Whether the namespace exists; null if that is unknown. */
  readonly exists: (namespace: string) => boolean | null
  readonly nowMs: () => number
}

interface Namespaces {
  readonly states: () => ReadonlyMap<string, NamespaceState>
  /** Namespaces whose objects are known only up to some moment: the API server now refuses. */
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
