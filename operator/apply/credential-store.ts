/**
 * Keeps credentials in Secrets of fixed names, two for each part, and reads no others.
 *
 * Rights to Secrets are given by name, so there is no watch: Secrets in use are checked from time to time, and
 * rewritten if they were deleted or changed. An unused Secret is removed after a minute, when no reader needs it any
 * more.
 */

import { gzipSync, gunzipSync } from 'node:zlib'

import type { CatalogPlace } from '../../domain/published/place.ts'
import { CREDENTIALS_KEY, credentialsPartName, NONCE_KEY, otherSlot, SLOTS } from '../../domain/published/place.ts'
import { CREDENTIAL_HOLDERS, type CredentialHolder } from '../../domain/published/holders.ts'
import type { CatalogIndex, CredentialsEntry } from '../../domain/published/index.ts'
import { credentialsParts } from '../../domain/published/index.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { sha256Hex } from '../../common/digest.ts'
import { inLanes } from '../../common/in-lanes.ts'
import type { CredentialsIndex } from './catalog-object.ts'
import { catalogObject } from './catalog-object.ts'
import type { ObjectWriter } from './writer.ts'
import { recordOf } from '../../domain/typed-keys.ts'
import { dataMember, readCredentials } from '../../runtime/catalog/members.ts'

interface CredentialStoreOptions {
  readonly writer: ObjectWriter
  readonly place: CatalogPlace
  /** How many parts the credentials of one holder may have. */
  readonly slots: number
  /** One of these Secrets as it is now; null if there is none. */
  readonly read: (name: string) => Promise<KubeObject | null>
  /** Some random text. */
  readonly nonce: () => string
  readonly nowMs: () => number
}

export interface CredentialStore {
  /** Reads every Secret that may belong to the store. */
  readonly open: () => Promise<void>
  /** Writes new content to the names that the index does not use; resolves with the entries for the next index. */
  readonly write: (
    texts: ReadonlyMap<CredentialHolder, readonly string[]>,
    index: CredentialsIndex,
  ) => Promise<CredentialsIndex>
  /** This index is in force: Secrets that it does not name are unused. */
  readonly settle: (index: CredentialsIndex) => void
  /** The credentials that this index names, by `destinationKey`, without missing ones. */
  readonly stored: (index: CatalogIndex) => ReadonlyMap<string, Readonly<Record<string, string>>>
  /** Checks the Secrets in use, and removes unused ones. True if something must be written again. */
  readonly tidy: () => Promise<boolean>
}

interface Stored {
  readonly nonce: string
  readonly text: string
}

const KEEP_UNUSED_MS = 60_000

export function createCredentialStore(options: CredentialStoreOptions): CredentialStore {
  return new Store(options)
}

class Store implements CredentialStore {
  readonly #options: CredentialStoreOptions
  /** By name: Secrets known to exist. */
  readonly #there = new Map<string, Stored>()
  /** Names of unused Secrets, and since when they are unused. */
  readonly #unused = new Map<string, number>()
  #inUse: ReadonlySet<string> = new Set()

  constructor(options: CredentialStoreOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    this.#there.clear()
    await inLanes([...this.#names()].map((name) => () => this.#look(name)))
  }

  async write(
    texts: ReadonlyMap<CredentialHolder, readonly string[]>,
    index: CredentialsIndex,
  ): Promise<CredentialsIndex> {
    const next = recordOf(CREDENTIAL_HOLDERS, (): CredentialsEntry[] => [])
    const tasks = [...texts].flatMap(([holder, own]) =>
      own.map((text, number) => async () => {
        const entry = await this.#put({ holder, number, text, inUse: index[holder]?.[number] })
        next[holder][number] = entry
      }),
    )
    await inLanes(tasks)
    return next
  }

  settle(index: CredentialsIndex): void {
    this.#inUse = new Set(this.#namesIn(index))
    const now = this.#options.nowMs()
    for (const name of this.#there.keys()) {
      if (this.#inUse.has(name)) this.#unused.delete(name)
      else if (!this.#unused.has(name)) this.#unused.set(name, now)
    }
  }

  stored(index: CatalogIndex): ReadonlyMap<string, Readonly<Record<string, string>>> {
    const parts = CREDENTIAL_HOLDERS.flatMap((holder) => credentialsParts(index, this.#options.place, holder))
    const texts = parts.flatMap(({ name }) => this.#there.get(name)?.text ?? [])
    return new Map(
      texts.flatMap((text) =>
        // Empty for a text that another program wrote.
        Object.entries(readCredentials(text) ?? {}),
      ),
    )
  }

  async tidy(): Promise<boolean> {
    let isDamaged = false
    const { place, writer, nowMs } = this.#options
    const looks = [...this.#inUse].map((name) => async () => {
      const before = this.#there.get(name)
      await this.#look(name)
      const now = this.#there.get(name)
      isDamaged ||= before?.text !== now?.text || before?.nonce !== now?.nonce
    })
    const old = [...this.#unused].filter(([, sinceMs]) => nowMs() - sinceMs >= KEEP_UNUSED_MS)
    const removals = old.map(([name]) => async () => {
      await writer.remove('Secret', place.namespace, name)
      this.#unused.delete(name)
      this.#there.delete(name)
    })
    await inLanes([...looks, ...removals])
    return isDamaged
  }

  async #put({ holder, number, text, inUse }: WantedCredentials): Promise<CredentialsEntry> {
    const { place, nonce, writer } = this.#options
    const nameOf = (slot: CredentialsEntry['slot']) => credentialsPartName(place, holder, number, slot)
    const there = inUse === undefined ? undefined : this.#there.get(nameOf(inUse.slot))
    if (inUse !== undefined && there?.text === text && sha256Hex(there.nonce + there.text) === inUse.digest) {
      return inUse
    }
    const slot = inUse === undefined ? 'a' : otherSlot(inUse.slot)
    const name = nameOf(slot)
    const fresh = { nonce: nonce(), text }
    // Until the write has succeeded its state is unknown.
    this.#there.delete(name)
    const data = { [CREDENTIALS_KEY]: gzipSync(text).toString('base64'), [NONCE_KEY]: base64(fresh.nonce) }
    await writer.apply(catalogObject('Secret', name, place, { data }))
    this.#there.set(name, fresh)
    this.#unused.delete(name)
    return { slot, digest: sha256Hex(fresh.nonce + text) }
  }

  async #look(name: string): Promise<void> {
    const stored = storedIn(await this.#options.read(name))
    if (stored === null) this.#there.delete(name)
    else this.#there.set(name, stored)
  }

  #namesIn(index: CredentialsIndex): readonly string[] {
    return CREDENTIAL_HOLDERS.flatMap((holder) =>
      (index[holder] ?? []).map(({ slot }, number) => credentialsPartName(this.#options.place, holder, number, slot)),
    )
  }

  *#names(): Iterable<string> {
    const { place, slots } = this.#options
    for (const holder of CREDENTIAL_HOLDERS) {
      for (let number = 0; number < slots; number += 1) {
        for (const slot of SLOTS) yield credentialsPartName(place, holder, number, slot)
      }
    }
  }
}

interface WantedCredentials {
  readonly holder: CredentialHolder
  readonly number: number
  readonly text: string
  readonly inUse: CredentialsEntry | undefined
}

/** An unreadable Secret counts as existing but not as content. */
function storedIn(secret: KubeObject | null): Stored | null {
  if (secret === null) return null
  try {
    const text = gunzipSync(Buffer.from(dataMember(secret, 'data', CREDENTIALS_KEY) ?? '', 'base64')).toString('utf8')
    return { nonce: Buffer.from(dataMember(secret, 'data', NONCE_KEY) ?? '', 'base64').toString('utf8'), text }
  } catch {
    return { nonce: '', text: '' }
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
