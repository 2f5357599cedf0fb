/** The state of each watched namespace, so that one that cannot be read stops only itself. */

import { LIMITS } from '../../domain/limits.ts'
import type { WatchState } from '../../runtime/kube/reflector.ts'

/**
 * `Seen`: its objects are known. `Pending`: the first answer is still missing. `Late`: it is missing for so long
 * that the others no longer wait. `Forbidden`: the API server refuses. What was in force from either stays in force. `Gone`: the namespace has not existed for ten minutes, and nothing from it
 * counts any more.
 */
export type NamespaceState = 'Seen' | 'Pending' | 'Late' | 'Forbidden' | 'Gone'

interface NamespacesOptions {
  /** The watches of each namespace. */
  readonly watches: ReadonlyMap<string, readonly WatchState[]>
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
  const sinceMs = nowMs()
  const missingSinceMs = new Map<string, number>()
  const isGone = (namespace: string): boolean => {
    if (exists(namespace) !== false) {
      missingSinceMs.delete(namespace)
      return false
    }
    const missingMs = missingSinceMs.get(namespace) ?? nowMs()
    missingSinceMs.set(namespace, missingMs)
    return nowMs() - missingMs >= GONE_MS
  }
  const stateOf = (namespace: string, own: readonly WatchState[]): NamespaceState => {
    if (isGone(namespace)) return 'Gone'
    if (own.every((watch) => watch.isSynced())) return 'Seen'
    if (own.some((watch) => !watch.isSynced() && watch.failure() === FORBIDDEN)) return 'Forbidden'
    return nowMs() - sinceMs >= LIMITS.namespacePatienceMs ? 'Late' : 'Pending'
  }
  return {
    states: () => new Map([...watches].map(([namespace, own]) => [namespace, stateOf(namespace, own)])),
    outdated: () =>
      new Set(
        [...watches].filter(([, own]) => own.some((watch) => watch.failure() === FORBIDDEN)).map(([name]) => name),
      ),
  }
}
