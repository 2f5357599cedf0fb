/** Finds what is in force now: what the cluster holds, and which namespaces it must be kept for. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import type { CatalogPlace } from '../../domain/published/place.ts'
import { fromShards } from '../../domain/published/shards.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { wholeCatalog } from '../../runtime/catalog/whole-catalog.ts'
import type { CredentialStore } from '../apply/credential-store.ts'
import type { InForce } from '../decide/gathered.ts'
import type { Publisher } from '../apply/publisher.ts'
import type { World } from './world.ts'

/** Null where the cluster holds no catalog that can be read. */
export async function readInForce(
  publisher: Publisher,
  credentials: CredentialStore,
  configMap: (name: string) => KubeObject | undefined,
  place: CatalogPlace,
): Promise<InForce | null> {
  const index = await publisher.open()
  if (index === null) return null
  try {
    const whole = wholeCatalog(place, configMap)
    if (whole === null) return null
    return { catalog: fromShards(whole.index.version, whole.texts), credentials: credentials.stored(whole.index) }
  } catch {
    return null
  }
}

/** Namespaces that cannot be seen, and what to say on the objects of those of which nothing new is known. */
export function heldNamespaces(world: Pick<World, 'namespaceStates' | 'outdated'>, differing: readonly ResourceKind[]) {
  const states = [...world.namespaceStates()]
  const outdated = world.outdated()
  const warning: CatalogProblem = {
    ...{ object: '', source: '', field: '', reason: 'NamespaceUnreadable', isWarning: true },
    message: 'the operator may no longer read this namespace; what was in force stays so, and no change is taken up',
  }
  const differs: CatalogProblem = {
    ...{ object: '', source: '', field: '', reason: 'DefinitionsDiffer', isWarning: true },
    message: `the definitions of ${differing.join(', ')} in the cluster are of another version than the operator`,
  }
  const none: readonly CatalogProblem[] = []
  return {
    heldNamespaces: new Set(states.flatMap(([namespace, state]) => (state === 'Forbidden' ? [namespace] : []))),
    // On organisations alone: there are few, and whoever upgrades looks there.
    warnings: ({ kind, namespace }: { readonly kind: ResourceKind; readonly namespace: string }) => {
      const isDiffering = kind === 'Organization' && differing.length > 0
      if (!isDiffering && !outdated.has(namespace)) return none
      return [...(isDiffering ? [differs] : []), ...(outdated.has(namespace) ? [warning] : [])]
    },
  }
}
