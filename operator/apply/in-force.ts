/** Finds what is in force now: the cluster's catalog, and the namespaces it must be kept for. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import { sha256Hex } from '../../common/digest.ts'
import { catalogParts, UnreadableCatalog } from '../../domain/published/index.ts'
import { type CatalogPlace, SHARD_KEY } from '../../domain/published/place.ts'
import { shardsInSteps } from '../../domain/published/shards.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { dataMember, unpacked } from '../../runtime/catalog/members.ts'
import { inLanes } from '../../common/in-lanes.ts'
import { inSlices } from '../in-slices.ts'
import type { CredentialStore } from './credential-store.ts'
import type { InForce } from '../decide/gathered.ts'
import type { Publisher } from './publisher.ts'
import type { NamespaceState } from '../gather/namespaces.ts'
import type { WorldNamespaces } from '../gather/world.ts'

/** Null if the cluster holds no readable catalog. `configMap` reads one from the API server. */
export async function readInForce(
  publisher: Publisher,
  credentials: CredentialStore,
  configMap: (name: string) => Promise<KubeObject | null>,
  place: CatalogPlace,
): Promise<InForce | null> {
  const index = await publisher.open()
  if (index === null) return null
  const parts = catalogParts(index, place)
  const packed = new Map<string, string>()
  await inLanes(
    parts.map(({ name }) => async () => {
      const member = dataMember((await configMap(name)) ?? undefined, 'binaryData', SHARD_KEY)
      if (member !== null) packed.set(name, member)
    }),
  )
  try {
    const catalog = await inSlices(shardsInSteps(index.version, textsOf(parts, packed)))
    return { catalog, credentials: credentials.stored(index) }
  } catch {
    return null
  }
}

/**
 * One after the other, and what was unpacked is forgotten: all of it beside its texts would be too much for the memory.
 * @throws UnreadableCatalog
 */
function* textsOf(
  parts: readonly { readonly name: string; readonly digest: string | null }[],
  packed: Map<string, string>,
): Generator<string> {
  for (const { name, digest } of parts) {
    const text = unpacked(packed.get(name) ?? '')
    packed.delete(name)
    if (sha256Hex(text) !== digest) throw new UnreadableCatalog(`the part ${name} is another one`)
    yield text
  }
}

const HELD: ReadonlySet<string> = new Set<NamespaceState>(['Forbidden', 'Late'])

/** Namespaces that cannot be read, and the warnings for objects whose changes are not seen. */
export function heldNamespaces(world: WorldNamespaces, differing: readonly ResourceKind[]) {
  const states = [...world.namespaceStates()]
  const outdated = world.outdated()
  const warning: CatalogProblem = {
    object: '',
    source: '',
    field: '',
    reason: 'NamespaceUnreadable',
    isWarning: true,
    message:
      'the operator may no longer read this namespace; what was in force stays in force, and changes have no effect',
  }
  const differs: CatalogProblem = {
    object: '',
    source: '',
    field: '',
    reason: 'DefinitionsDiffer',
    isWarning: true,
    message: `the definitions of ${differing.join(', ')} in the cluster are of another version than the operator`,
  }
  const none: readonly CatalogProblem[] = []
  return {
    heldNamespaces: new Set(states.flatMap(([namespace, state]) => (HELD.has(state) ? [namespace] : []))),
    // Only on organisations: there are few, and administrators check them after an upgrade.
    warnings: ({ kind, namespace }: { readonly kind: ResourceKind; readonly namespace: string }) => {
      const isDiffering = kind === 'Organization' && differing.length > 0
      if (!isDiffering && !outdated.has(namespace)) return none
      return [...(isDiffering ? [differs] : []), ...(outdated.has(namespace) ? [warning] : [])]
    },
  }
}
