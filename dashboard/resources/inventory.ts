/** Port: what objects there are, whose they are, how they are, and what the compiler would say of a change. */

import { sha256Hex } from '../../common/digest.ts'
import type { CatalogProblem } from '../../domain/catalog.ts'
import { emptyCompileMemory } from '../../domain/catalog/compile-catalog.ts'
import { judgeChange } from '../../domain/catalog/judge-change.ts'
import { objectKey, type SourceObject } from '../../domain/catalog/objects.ts'
import type { Condition } from '../../domain/resources/conditions.ts'
import { isOfWebsite, type ResourceKind, refIn } from '../../domain/resources/resources.ts'
import type { ResourceAddress, WrittenObject } from './writer.ts'

/** Where an object comes from, and who says so: a manager of fields, or a file. */
export interface ObjectOrigin {
  readonly by: 'dashboard' | 'gitops' | 'kubectl'
  readonly manager: string
}

export interface ListedObject extends WrittenObject {
  readonly kind: ResourceKind
  /** As the writer calls it. */
  readonly version: string
  /** RFC 3339; empty if nothing says so. */
  readonly createdAt: string
  readonly conditions: readonly Condition[]
  /** The version that the conditions are about: for a moment after a change it is the one before. */
  readonly judgedVersion: string
  readonly origin: ObjectOrigin
}

interface DryRunVerdict {
  readonly refusals: readonly CatalogProblem[]
  readonly warnings: readonly CatalogProblem[]
}

/** Finds one object. */
export interface InventoryFinder {
  readonly find: (ref: ResourceAddress) => ListedObject | null
}

/** Lists the objects of an organisation. */
export interface InventoryLists {
  /** Of one organisation, the oldest first. */
  readonly list: (kind: ResourceKind, organization: string) => readonly ListedObject[]
}

/** Tells whose an object is. */
interface InventoryOwners {
  /** The oldest first; also those of no organisation. */
  readonly all: (kind: ResourceKind) => readonly ListedObject[]
  /** ID of the organisation that it belongs to; null if it belongs to none, or is not there. */
  readonly organizationOf: (ref: ResourceAddress) => string | null
}

/** At most a second behind. */
export interface Inventory extends InventoryFinder, InventoryLists, InventoryOwners {
  /** Whether objects name it as their organisation, even if it does not exist. */
  readonly isNamed: (organization: Omit<ResourceAddress, 'kind'>) => boolean
  /** `spec` null: it is removed. */
  readonly judge: (change: ResourceAddress & { readonly spec: WrittenObject['spec'] | null }) => DryRunVerdict
}

/** The installation that new objects of an organisation are for: its own, so that no other takes them. Empty if it names none. */
export function installationOf(
  { namespace, objectName: name }: { readonly namespace: string; readonly objectName: string },
  inventory: InventoryFinder,
): { readonly installation?: unknown } {
  const installation = inventory.find({ kind: 'Organization', namespace, name })?.spec['installation']
  return installation === undefined ? {} : { installation }
}

/** What an adapter knows at one moment; the same object until something changes. */
export interface InventoryView {
  /** Oldest first. */
  readonly objects: readonly ListedObject[]
  readonly sources: readonly SourceObject[]
  /** IDs of organisations by `objectKey`, as the compiler resolved the references. */
  readonly owners: ReadonlyMap<string, string>
  readonly isWithoutSecrets: boolean
}

export function createInventory(view: () => InventoryView, nowMs: () => number): Inventory {
  const memory = emptyCompileMemory()
  let last: { readonly view: InventoryView; readonly index: Index } | null = null
  const index = (): Index => {
    const current = view()
    if (last?.view !== current) last = { view: current, index: indexOf(current) }
    return last.index
  }
  return {
    list: (kind, organization) => index().byOwner.get(`${kind} ${organization}`) ?? [],
    all: (kind) => view().objects.filter((object) => object.kind === kind),
    find: (ref) => index().byKey.get(addressKey(ref)) ?? null,
    organizationOf: (ref) => index().owners.get(addressKey(ref)) ?? null,
    isNamed: ({ namespace, name }) => index().named.has(objectKey('Organization', namespace, name)),
    judge: (change) => {
      const { sources: objects, isWithoutSecrets } = view()
      return judgeChange(change, { objects, isWithoutSecrets, sha256Hex, nowMs: nowMs(), memory })
    },
  }
}

interface Index {
  readonly byKey: ReadonlyMap<string, ListedObject>
  readonly owners: ReadonlyMap<string, string>
  /** By kind and organisation. */
  readonly byOwner: ReadonlyMap<string, readonly ListedObject[]>
  /** Organizations that objects name, by `objectKey`. */
  readonly named: ReadonlySet<string>
}

function indexOf({ objects, owners }: InventoryView): Index {
  const byKey = new Map(objects.map((object) => [addressKey(object), object]))
  const all = new Map<string, string>()
  for (const [key, object] of byKey) {
    const owner = owners.get(key) ?? ownerByWebsite(object, byKey, owners)
    if (owner !== undefined) all.set(key, owner)
  }
  const byOwner = Map.groupBy(objects, (object) => `${object.kind} ${all.get(addressKey(object)) ?? ''}`)
  const named = new Set(objects.map(keyOfOrganization))
  return { byKey, owners: all, byOwner, named }
}

/** Empty if it names none. */
function keyOfOrganization({ namespace, spec }: ListedObject): string {
  const ref = refIn(spec, 'organizationRef')
  return ref.name === undefined ? '' : objectKey('Organization', ref.namespace ?? namespace, ref.name)
}

/** What belongs to a refused website is shown with it; both are in one namespace, so that no permission is needed. */
function ownerByWebsite(
  { kind, namespace, spec }: ListedObject,
  byKey: ReadonlyMap<string, ListedObject>,
  owners: ReadonlyMap<string, string>,
): string | undefined {
  if (!isOfWebsite(kind)) return undefined
  const ref = refIn(spec, 'websiteRef')
  if ((ref.namespace ?? namespace) !== namespace) return undefined
  const website = byKey.get(objectKey('Website', namespace, ref.name ?? ''))
  if (website === undefined || website.spec['tenant'] !== spec['tenant']) return undefined
  return owners.get(addressKey(website))
}

function addressKey({ kind, namespace, name }: ResourceAddress): string {
  return objectKey(kind, namespace, name)
}
