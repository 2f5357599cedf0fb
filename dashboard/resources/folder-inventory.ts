/** Inventory of the embedded program: the objects of its folder, as they were compiled last. */

import { sha256Hex } from '../../common/digest.ts'
import { oncePerObject } from '../../domain/once-per-object.ts'
import { objectKey, shownName, type SourceObject } from '../../domain/catalog/objects.ts'
import { conditionsOf } from '../../domain/resources/conditions.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'
import { isWritten } from '../../runtime/catalog/manifests.ts'
import type { FolderCatalog, FolderView } from '../../runtime/catalog/source.ts'
import { createInventory, type Inventory, type InventoryView, type ListedObject } from './inventory.ts'
import { readManifest } from '../../domain/resources/envelope.ts'

export function folderInventory(catalog: FolderCatalog, nowMs: () => number): Inventory {
  let known: { readonly of: FolderView; readonly view: InventoryView } | null = null
  const readOnce = oncePerObject(readManifestObject)
  return createInventory(() => {
    const latest = catalog.latest()
    if (known?.of !== latest) known = { of: latest, view: viewOf(latest, readOnce, nowMs()) }
    return known.view
  }, nowMs)
}

/** What follows from the manifest alone; null if it is none of ours. */
type ReadManifestObject = Omit<ListedObject, 'conditions'> | null

function readManifestObject({ value, locate }: SourceObject): ReadManifestObject {
  const { kind: named, namespace, name, spec } = readManifest(value)
  const kind = RESOURCE_KINDS.find((each) => each === named)
  if (kind === undefined || name === '' || spec === null) return null
  const version = folderVersion(spec)
  const ref = { kind, name, namespace }
  return { ...ref, spec, version, judgedVersion: version, createdAt: '', origin: manifestOrigin(locate('')) }
}

function viewOf(
  { objects: sources, compilation }: FolderView,
  read: (source: SourceObject) => ReadManifestObject,
  nowMs: number,
): InventoryView {
  const { owners, problems, isAccepted: isPublished } = compilation
  const byObject = Map.groupBy(problems, ({ object }) => object)
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`
  const seen = new Set<string>()
  const objects = sources.flatMap((source): readonly ListedObject[] => {
    const object = read(source)
    const key = object === null ? '' : objectKey(object.kind, object.namespace, object.name)
    // Of two with one name the older counts, and the writer finds that one.
    if (object === null || seen.has(key)) return []
    seen.add(key)
    const { kind, origin } = object
    const ofBoth = byObject.get(`${kind}/${shownName(object)}`) ?? []
    const own = ofBoth.filter((problem) => fileOf(problem.source) === origin.manager)
    const conditions = conditionsOf({ kind, generation: 0, problems: own, isPublished, previous: [], now })
    return [{ ...object, conditions }]
  })
  return { objects, sources, owners, isWithoutSecrets: false }
}

/** The file of a place such as `quickstart.yaml, document 2, line 14`. */
export function fileOf(place: string): string {
  return place.replace(/, document \d+, line \d+$/, '')
}

function manifestOrigin(place: string): ListedObject['origin'] {
  const manager = fileOf(place)
  return isWritten(manager) ? { by: 'dashboard', manager } : { by: 'gitops', manager }
}

export function folderVersion(spec: object): string {
  return sha256Hex(JSON.stringify(spec))
}
