/**
 * Fetches the credentials of one holder, by the names in the index of a catalog.
 *
 * Secrets are read by name and never watched: the index shows every change, with the digest of the expected content.
 */

import { createHash } from 'node:crypto'

import { loggedFault } from '../../common/fault.ts'
import type { Credentials } from '../../domain/catalog.ts'
import type { CatalogPlace } from '../../domain/published/place.ts'
import { CREDENTIALS_KEY, NONCE_KEY } from '../../domain/published/place.ts'
import type { NamedPart } from '../../domain/published/index.ts'
import { dataMember, unpacked, readCredentials } from './members.ts'
import { type KubeObject, requestObject } from '../kube/objects.ts'
import type { KubeWatching } from '../kube/reflector.ts'

interface CredentialFetcher {
  /** The credentials in these parts; null while some are missing, which starts fetching them. */
  readonly of: (parts: readonly NamedPart[]) => Credentials | null
  readonly close: () => Promise<void>
}

const RETRY_MS = { first: 100, most: 5_000 }

/** Calls `onFetched` when requested credentials have arrived. */
export function createCredentialFetcher(
  watching: KubeWatching,
  place: CatalogPlace,
  onFetched: () => void,
): CredentialFetcher {
  const fetching = new Fetching(watching, place, onFetched)
  return { of: (parts) => fetching.of(parts), close: () => fetching.close() }
}

interface Fetched {
  readonly digest: string
  readonly credentials: Credentials
}

class Fetching {
  readonly #watching: KubeWatching
  readonly #place: CatalogPlace
  readonly #onFetched: () => void
  /** By name. */
  readonly #there = new Map<string, Fetched>()
  readonly #abort = new AbortController()
  #wanted: readonly NamedPart[] = []
  #running: Promise<void> | null = null
  #wake: () => void = () => undefined

  constructor(watching: KubeWatching, place: CatalogPlace, onFetched: () => void) {
    this.#watching = watching
    this.#place = place
    this.#onFetched = onFetched
  }

  of(parts: readonly NamedPart[]): Credentials | null {
    const isNew = JSON.stringify(parts) !== JSON.stringify(this.#wanted)
    this.#wanted = parts
    const found = parts.map((part) => this.#found(part))
    if (isNew || found.includes(null)) {
      this.#wake()
      this.#running ??= this.#run().finally(() => (this.#running = null))
    }
    const all = found.filter((each) => each !== null)
    return all.length < parts.length ? null : new Map(all.flatMap(({ credentials }) => [...credentials]))
  }

  async close(): Promise<void> {
    this.#abort.abort()
    this.#wake()
    await this.#running
  }

  #found({ name, digest }: NamedPart): Fetched | null {
    const fetched = this.#there.get(name)
    return fetched?.digest === digest ? fetched : null
  }

  /** Until everything has arrived. */
  async #run(): Promise<void> {
    let failures = 0
    while (!this.#abort.signal.aborted) {
      const missing = this.#wanted.filter((part) => this.#found(part) === null)
      if (missing.length === 0) return
      const news = await Promise.all(missing.map((part) => this.#fetch(part)))
      if (news.includes(true)) this.#onFetched()
      const isWhole = this.#wanted.every((part) => this.#found(part) !== null)
      failures = isWhole ? 0 : failures + 1
      if (!isWhole) await this.#pause(delayAfter(failures))
    }
  }

  /** Whether it arrived just now. Content with another digest is ignored: a newer index is on its way. */
  async #fetch({ name, digest }: NamedPart): Promise<boolean> {
    const { client, logger } = this.#watching
    try {
      const path = `/api/v1/namespaces/${this.#place.namespace}/secrets/${name}`
      const fetched = fetchedFrom(await requestObject(client, { method: 'GET', path, signal: this.#abort.signal }))
      if (fetched.digest !== digest) return false
      const isNews = this.#there.get(name)?.digest !== digest
      this.#there.set(name, fetched)
      return isNews
    } catch (error) {
      // The message might repeat the Secret's content.
      if (!this.#abort.signal.aborted)
        logger.warn({ secret: name, ...loggedFault(error) }, 'credentials cannot be read, trying again')
      return false
    }
  }

  async #pause(delayMs: number): Promise<void> {
    if (this.#abort.signal.aborted) return
    const woken = Promise.withResolvers<void>()
    this.#wake = woken.resolve
    const timer = setTimeout(woken.resolve, delayMs * (0.5 + this.#watching.random() / 2))
    await woken.promise
    clearTimeout(timer)
    this.#wake = () => undefined
  }
}

function delayAfter(failures: number): number {
  return Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(failures, 10))
}

function fetchedFrom(secret: KubeObject): Fetched {
  const text = unpacked(dataMember(secret, 'data', CREDENTIALS_KEY) ?? '')
  const nonce = Buffer.from(dataMember(secret, 'data', NONCE_KEY) ?? '', 'base64').toString('utf8')
  const credentials = readCredentials(text)
  if (credentials === null) throw new Error('a Secret has no credentials in it')
  const digest = createHash('sha256')
    .update(nonce + text)
    .digest('hex')
  return { digest, credentials: new Map(Object.entries(credentials)) }
}
