/** Finds what is in force now: the cluster's catalog, and the namespaces it must be kept for. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import { catalogParts } from '../../domain/published/index.ts'
import { indexName, type CatalogPlace } from '../../domain/published/place.ts'
import { fromShards } from '../../domain/published/shards.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { wholeCatalog } from '../../runtime/catalog/whole-catalog.ts'
import { inLanes } from '../in-lanes.ts'
import type { CredentialStore } from './credential-store.ts'
import type { InForce } from '../decide/gathered.ts'
import type { Publisher } from './publisher.ts'
import type { World } from '../gather/world.ts'

/** Null if the cluster holds no readable catalog. `configMap` reads one from the API server. */
export async function readInForce(
  publisher: Publisher,
  credentials: CredentialStore,
  configMap: (name: string) => Promise<KubeObject | null>,
  place: CatalogPlace,
): Promise<InForce | null> {
  const index = await publisher.open()
  if (index === null) return null
  const names = [indexName(place), ...catalogParts(index, place).map(({ name }) => name)]
  const found = new Map<string, KubeObject>()
  await inLanes(
    names.map((name) => async () => {
      const map = await configMap(name)
      if (map !== null) found.set(name, map)
    }),
  )
  try {
    const whole = wholeCatalog(place, (name) => found.get(name))
    if (whole === null) return null
    return { catalog: fromShards(whole.index.version, whole.texts), credentials: credentials.stored(whole.index) }
  } catch {
    return null
  }
}

/** Namespaces that cannot be read, and the warnings for objects whose changes are not seen. */
export function heldNamespaces(world: Pick<World, 'namespaceStates' | 'outdated'>, differing: readonly ResourceKind[]) {
  const states = [...world.namespaceStates()]
  const outdated = world.outdated()
  const warning: CatalogProblem = {
    ...{ object: '', source: '', field: '', reason: 'NamespaceUnreadable', isWarning: true },
    message:
      'the operator may no longer read this namespace; what was in force stays in force, and changes have no effect',
  }
  const differs: CatalogProblem = {
    ...{ object: '', source: '', field: '', reason: 'DefinitionsDiffer', isWarning: true },
    message: `the definitions of ${differing.join(', ')} in the cluster are of another version than the operator`,
  }
  const none: readonly CatalogProblem[] = []
  return {
    heldNamespaces: new Set(states.flatMap(([namespace, state]) => (state === 'Forbidden' ? [namespace] : []))),
    // Only on organisations: there are few, and administrators check them after an upgrade.
    warnings: ({ kind, namespace }: { readonly kind: ResourceKind; readonly namespace: string }) => {
      const isDiffering = kind === 'Organization' && differing.length > 0
      if (!isDiffering && !outdated.has(namespace)) return none
      return [...(isDiffering ? [differs] : []), ...(outdated.has(namespace) ? [warning] : [])]
    },
  }
}
