/**
 * Knows which Secrets have changed, of those alone that something refers to or that the dashboard made: of all others not even names are
 * kept, since anybody may create any number of them.
 */

import type { KubeObject } from '../../runtime/kube/objects.ts'
import { kubeKey } from '../../runtime/kube/objects.ts'
import type { KeptCopies, Reflector, WatchedList } from '../../runtime/kube/reflector.ts'
import { bearsDashboardLabel, secretVersionCopy } from './copies.ts'

export interface WatchedSecrets {
  /**
   * Metadata of the Secret with this key (`namespace/name`); undefined if it does not exist, or is not expected. Its version is empty as long as
   * nothing was heard of it since it was expected.
   */
  readonly version: (key: string) => KubeObject | undefined
  /** From now on its changes are heard; whether it exists must be asked once. */
  readonly expect: (key: string) => void
  readonly forget: (key: string) => void
}

/** Starts the watches of a list: its path is that of the API, to which the namespace and the name are added. */
export type Everywhere = (list: WatchedList, copies: KeptCopies) => readonly Reflector[]

/** `start` makes the watches, one for each namespace or one for all. `namespaces`: empty for all. */
export function watchSecrets(
  namespaces: readonly string[],
  start: Everywhere,
  onChange: () => void,
): { readonly reflectors: readonly Reflector[]; readonly watched: WatchedSecrets } {
  const expected = new Set<string>()
  const keeps = (object: KubeObject): boolean =>
    expected.has(kubeKey(object)) || bearsDashboardLabel(secretVersionCopy(object))
  const list = { name: 'secrets', path: '/api/v1', isMetadataOnly: true }
  const reflectors = start(list, { shape: secretVersionCopy, keeps, onChange })
  const reflectorOf = (namespace: string): Reflector | undefined =>
    reflectors[namespaces.length === 0 ? 0 : namespaces.indexOf(namespace)]
  const partsOf = (key: string): readonly [namespace: string, name: string] => {
    const slash = key.indexOf('/')
    return [key.slice(0, slash), key.slice(slash + 1)]
  }
  const watched: WatchedSecrets = {
    version: (key) => reflectorOf(partsOf(key)[0])?.objects.get(key),
    expect: (key) => {
      const [namespace, name] = partsOf(key)
      expected.add(key)
      reflectorOf(namespace)?.expect({ metadata: { name, namespace, resourceVersion: '' } })
    },
    forget: (key) => {
      expected.delete(key)
      const reflector = reflectorOf(partsOf(key)[0])
      const object = reflector?.objects.get(key)
      if (object !== undefined && !bearsDashboardLabel(object)) reflector?.forget(key)
    },
  }
  return { reflectors, watched }
}
