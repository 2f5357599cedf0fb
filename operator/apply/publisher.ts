/**
 * Publishes the catalog and the credentials in the cluster, so that every reader sees either this catalog or the one
 * before, whole.
 *
 * Every part has two names. New content is written under the name that the index does not use; the index, which names
 * every part, is written last, and only over the index that was read before. A failure on the way changes nothing for readers. Unchanged
 * parts are not written.
 */

import { randomBytes } from 'node:crypto'

import type { CatalogPlace } from '../../domain/published/place.ts'
import {
  INDEX_KEY,
  indexName,
  otherSlot,
  partName,
  PROBLEMS_KEY,
  problemsName,
  SHARD_KEY,
  SLOTS,
} from '../../domain/published/place.ts'
import { nextCatalogNumber } from '../../domain/published/catalog-number.ts'
import type { CatalogIndex, PartEntry } from '../../domain/published/index.ts'
import { createRightsMark, RIGHTS_KINDS } from '../../domain/published/rights-mark.ts'
import { indexText, readIndex } from '../../domain/published/index.ts'
import { problemsText } from '../../domain/published/problems.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import type { Published } from '../decide/decide.ts'
import { inLanes } from '../../common/in-lanes.ts'
import type { KubeClient } from '../../runtime/kube/client.ts'
import { ownReader } from '../gather/secrets.ts'
import type { WorldMaps, WorldResources } from '../gather/world.ts'
import { sha256Hex } from '../../common/digest.ts'
import { createCredentialStore, type CredentialStore } from './credential-store.ts'
import type { ObjectWriter } from './writer.ts'
import { hasContent, type ContentInShort } from '../gather/map-copies.ts'
import { packedBase64 } from '../decide/pack.ts'
import { catalogObject } from './catalog-object.ts'
import type { Content } from './catalog-object.ts'
import { dataMember } from '../../runtime/catalog/members.ts'

interface PublisherOptions {
  readonly writer: ObjectWriter
  readonly place: CatalogPlace
  /** Copies of the objects in the cluster, which may be a moment old. */
  readonly copies: WorldMaps
  /** The index as it is now; null if there is none. */
  readonly readIndexMap: () => Promise<KubeObject | null>
  readonly credentials: CredentialStore
  /** What the next index says besides its content. */
  readonly marks: IndexMarks
}

interface IndexMarks {
  /** Of the objects that say who may do what. */
  readonly rights: () => string
  readonly nowMs: () => number
}

export interface Publisher {
  /** Keys of the parts of the catalog in the cluster, as far as known. */
  readonly partsInUse: () => readonly string[]
  /** Reads what the cluster holds. Call it before publishing; resolves with the cluster's index, if there is one. */
  readonly open: () => Promise<CatalogIndex | null>
  /**
   * Resolves once the cluster holds what was decided, under a number of its own if anything is new. Rejects if that must be retried: with a
   * KubeError of status 409 if another operator has published meanwhile.
   */
  readonly publish: (decision: Published) => Promise<void>
}

/** Nothing is known of the cluster: its content may be overwritten by a complete catalog. */
const NO_INDEX: CatalogIndex = { number: 0, rights: '', version: '', parts: [], credentials: {} }

/**
 * What publishes, without the credentials beside it.
 * @internal
 */
export function createPublisher(options: PublisherOptions): Publisher {
  return new Publishing(options)
}

/** The index that readers use. */
interface IndexInUse {
  readonly index: CatalogIndex
  /** Version of its object in the cluster; null if there is none. */
  readonly version: string | null
}

class Publishing implements Publisher {
  readonly #options: PublisherOptions
  /** Null: it must be read, because the last write may have succeeded or not. */
  #inUse: IndexInUse | null = null
  /** Versions that the copy of the index may have although nobody else has written it: copies lag behind. */
  #knownVersions: ReadonlySet<string> = new Set()
  /** The highest number that this process knows: it stays even if somebody deletes the index. */
  #lastNumber = 0

  constructor(options: PublisherOptions) {
    this.#options = options
  }

  partsInUse(): readonly string[] {
    return (this.#inUse?.index ?? this.#indexIn(this.#copy())).parts.map(({ key }) => key)
  }

  async open(): Promise<CatalogIndex | null> {
    return (await this.#read()).index
  }

  async publish(decision: Published): Promise<void> {
    const { place, marks } = this.#options
    const inUse = this.#inUse === null || this.#isWrittenByOthers() ? await this.#read() : this.#inUse
    const index = inUse.index ?? NO_INDEX
    const entries = decision.parts.map(({ key, digest }) => entryFor(index.parts, key, digest))
    const parts = decision.parts.map(({ packed }, number) => async () => {
      const { key, slot } = entries[number] ?? { key: '', slot: 'a' }
      const whole = () => ({ binaryData: { [SHARD_KEY]: packedBase64(packed) } })
      await this.#put(partName(place, key, slot), { digests: { [SHARD_KEY]: packed.digest } }, whole)
    })
    await inLanes(parts)
    const credentials = await this.#options.credentials.write(decision.credentials, index.credentials)
    const { number } = index
    const own = { number, rights: marks.rights(), version: decision.version }
    await this.#replaceIndex({ ...own, parts: entries, credentials }, { index, version: inUse.version })
    this.#options.credentials.settle(credentials)
    const { problems } = decision
    if (problems.length > 0) await this.#putText(problemsName(place), PROBLEMS_KEY, problemsText(problems))
    await this.#removeSurplus([...partNames(entries, place), ...(problems.length > 0 ? [problemsName(place)] : [])])
  }

  /** With the cluster's own index: null if there is none. */
  async #read(): Promise<{ readonly index: CatalogIndex | null; readonly version: string | null }> {
    const copied = resourceVersionOf(this.#copy())
    const found = await this.#options.readIndexMap()
    const index = this.#indexIn(found ?? undefined)
    await this.#options.credentials.open()
    const version = found === null ? null : resourceVersionOf(found)
    this.#inUse = { index, version }
    this.#knownVersions = new Set([copied, version ?? ''])
    this.#lastNumber = Math.max(this.#lastNumber, index.number)
    return { index: index === NO_INDEX ? null : index, version }
  }

  #isWrittenByOthers(): boolean {
    return !this.#knownVersions.has(resourceVersionOf(this.#copy()))
  }

  /** Of two operators that think they lead, the one that loses here reads what is in force, and compiles again. */
  async #replaceIndex(same: CatalogIndex, { index, version }: IndexInUse): Promise<void> {
    if (version !== null && indexText(same) === indexText(index)) return
    const { place, writer, marks } = this.#options
    const next = { ...same, number: nextCatalogNumber(this.#lastNumber, marks.nowMs()) }
    this.#inUse = null
    const wanted = catalogObject('ConfigMap', indexName(place), place, { data: { [INDEX_KEY]: indexText(next) } })
    const written = await writer.replace(wanted, version)
    this.#inUse = { index: next, version: written }
    this.#lastNumber = next.number
    // The copy may be of any version that was written since it was last up to date.
    const isCopyNew = resourceVersionOf(this.#copy()) === version
    this.#knownVersions = new Set(isCopyNew ? [version ?? '', written] : [...this.#knownVersions, written])
  }

  #copy(): KubeObject | undefined {
    return this.#options.copies.configMap(indexName(this.#options.place))
  }

  /** `whole` is made only if it has to be written. */
  async #put(name: string, short: ContentInShort, whole: () => Content): Promise<void> {
    const { place, writer, copies } = this.#options
    const object = (content: object) => catalogObject('ConfigMap', name, place, content)
    const wanted = { short: object(short), whole: () => object(whole()) }
    await writer.applyWhereNew(copies.configMap(name), wanted, (there) => hasContent(there, short))
  }

  #putText(name: string, key: string, text: string): Promise<void> {
    const data = { [key]: text }
    return this.#put(name, { data }, () => ({ data }))
  }

  async #removeSurplus(names: readonly string[]): Promise<void> {
    const { place, writer, copies } = this.#options
    const wanted = new Set([indexName(place), ...names])
    const surplus = [...copies.configMaps()].filter(({ metadata }) => !wanted.has(metadata.name))
    await inLanes(
      surplus.map(
        ({ metadata }) =>
          () =>
            writer.remove('ConfigMap', place.namespace, metadata.name),
      ),
    )
  }

  /** An unreadable index counts as none: readers refuse it too. */
  #indexIn(map: KubeObject | undefined): CatalogIndex {
    const text = dataMember(map, 'data', INDEX_KEY)
    try {
      return text === null ? NO_INDEX : readIndex(text)
    } catch {
      return NO_INDEX
    }
  }
}

/** Both names of each part stay: the next change goes to the unused one. */
function partNames(entries: readonly PartEntry[], place: CatalogPlace): readonly string[] {
  return entries.flatMap(({ key }) => SLOTS.map((slot) => partName(place, key, slot)))
}

function resourceVersionOf(object: KubeObject | undefined): string {
  return object?.metadata.resourceVersion ?? ''
}

function entryFor(inUse: readonly PartEntry[], key: string, digest: string): PartEntry {
  const entry = inUse.find((each) => each.key === key)
  if (entry?.digest === digest) return entry
  return { key, digest, slot: entry === undefined ? 'a' : otherSlot(entry.slot) }
}

interface PublishingOptions {
  readonly client: KubeClient
  readonly place: CatalogPlace
  readonly credentialSlots: number
  readonly nowMs: () => number
}

const nonce = (): string => randomBytes(16).toString('hex')

/** Opens what publishes, with the credentials beside it. `own` reads objects in the namespace of the catalog from the API server. */
export function openPublisher(
  { client, place, credentialSlots: slots, nowMs }: PublishingOptions,
  world: WorldMaps & WorldResources,
  writer: ObjectWriter,
) {
  const own = ownReader(client, place)
  const read = (name: string) => own('secrets', name)
  const credentials = createCredentialStore({ writer, place, slots, nonce, nowMs, read })
  const readIndexMap = () => own('configmaps', indexName(place))
  const mark = createRightsMark(sha256Hex)
  const rights = () => mark(RIGHTS_KINDS.flatMap((kind) => world.resources(kind)))
  return {
    own,
    credentials,
    publisher: createPublisher({ writer, place, copies: world, readIndexMap, credentials, marks: { rights, nowMs } }),
  }
}
