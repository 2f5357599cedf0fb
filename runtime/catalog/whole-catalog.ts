/** Reads a catalog from the ConfigMaps that hold it, if it is complete. */

import type { CatalogPlace } from '../../domain/published/place.ts'
import { INDEX_KEY, indexName, PROBLEMS_KEY, problemsName, SHARD_KEY } from '../../domain/published/place.ts'
import type { CatalogIndex } from '../../domain/published/index.ts'
import { readProblems, type PublishedProblem } from '../../domain/published/problems.ts'
import { catalogParts, readIndex } from '../../domain/published/index.ts'
import { dataMember, unpacked } from './members.ts'
import { sha256Hex } from '../../common/digest.ts'

interface WholeCatalog {
  readonly index: CatalogIndex
  /** Texts of its parts. */
  readonly texts: readonly string[]
}

interface KnownPart {
  readonly packed: string
  readonly text: string
  readonly digest: string
}

/** By name of its ConfigMap: an unchanged part is not unpacked again. */
export type PartsMemory = Map<string, KnownPart>

/**
 * Null if the index or one of the parts it names is missing.
 * @throws UnreadableCatalog
 */
export function wholeCatalog(
  place: CatalogPlace,
  configMap: (name: string) => unknown,
  memory: PartsMemory = new Map(),
): WholeCatalog | null {
  const text = dataMember(configMap(indexName(place)), 'data', INDEX_KEY)
  if (text === null) return null
  const index = readIndex(text)
  const parts = catalogParts(index, place)
  const found = parts.flatMap(({ name, digest }) => {
    const part = knownPart(memory, name, dataMember(configMap(name), 'binaryData', SHARD_KEY))
    return part !== null && part.digest === digest ? [part] : []
  })
  if (found.length < parts.length) return null
  const names = new Set(parts.map(({ name }) => name))
  for (const name of memory.keys()) if (!names.has(name)) memory.delete(name)
  return { index, texts: found.map((part) => part.text) }
}

function knownPart(memory: PartsMemory, name: string, packed: string | null): KnownPart | null {
  if (packed === null) return null
  const known = memory.get(name)
  if (known?.packed === packed) return known
  const text = unpacked(packed)
  const part = { packed, text, digest: sha256Hex(text) }
  memory.set(name, part)
  return part
}

/** The problems that are published beside the catalog. */
export function publishedProblems(
  place: CatalogPlace,
  configMap: (name: string) => unknown,
): readonly PublishedProblem[] {
  return readProblems(dataMember(configMap(problemsName(place)), 'data', PROBLEMS_KEY))
}
