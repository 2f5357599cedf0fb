/**
 * Keeps a copy of all objects of one kind in the API server: lists, watches, and never gives up.
 *
 * Every fault has one answer. The history is gone (410): list again, and report what was deleted meanwhile. A
 * connection died silently: the missing bookmarks show it, and the watch resumes from the last version. Refused or
 * unreachable: retried with growing, bounded pauses. An expired token: the client reads it again.
 */

import { memberOf, textOf } from '../../domain/strict-json.ts'
import type { Logger } from '../logger.ts'
import type { KubeClient } from './client.ts'
import { KubeError } from './client.ts'
import { BrokenStream, jsonLines } from './lines.ts'
import { type ListHead, readList } from './list-items.ts'
import type { KubeMetrics } from './metrics.ts'
import type { KubeObject } from './objects.ts'
import { isKubeObject, kubeKey, stripped } from './objects.ts'

/** How watches reach the API server, and where they report what becomes of them. */
export interface KubeWatching {
  readonly client: KubeClient
  readonly logger: Logger
  readonly metrics: KubeMetrics
  readonly random: () => number
}

/** The objects that are watched. */
export interface WatchedList {
  /** For metrics and log lines, for example `websites`. */
  readonly name: string
  /** Path of the collection, for example `/apis/whence.dev/v1alpha1/websites`. */
  readonly path: string
  /** Selectors, for example `fieldSelector: 'metadata.name=x'`. */
  readonly query?: Readonly<Record<string, string>>
  /** True: names and versions only, without the contents of the objects. */
  readonly isMetadataOnly?: boolean
}

/** What is kept of the objects, and who hears of their changes. */
export interface KeptCopies {
  /**
   * Returns what is kept of each object. By default what only the server needs is left out. `before` is what was kept of its last
   * version, whose parts may be shared.
   */
  readonly shape?: (object: KubeObject, before: KubeObject | undefined) => KubeObject
  /** What is not to be kept counts as not there, and nobody is told of its changes. Everything is kept if nothing is said. */
  readonly keeps?: (object: KubeObject) => boolean
  /**
   * Called as soon as an object was put into `objects`, or removed from it, even while a list is being read. It may replace objects
   * there by smaller ones.
   */
  readonly onKept?: (objects: Map<string, KubeObject>, key: string) => void
  /** Called with the HTTP status of every failure, 0 if there was no answer; must only take note. */
  readonly onFailure?: (status: number) => void
  /** Called after every change; must only take note, and never throws. `key` is null after a full list was read. */
  readonly onChange: (key: string | null) => void
}

/** How a watch does. */
export interface WatchState {
  readonly isSynced: () => boolean
  /** HTTP status of the last failure; null once data has arrived since. */
  readonly failure: () => number | null
}

export interface Reflector extends WatchState {
  /** By `kubeKey`. Only the reflector and its `onKept` change the map. */
  readonly objects: ReadonlyMap<string, KubeObject>
  /** Resolves once the first list is read. */
  readonly synced: Promise<void>
  /** Puts an object there whose events were not kept so far, until one of it arrives. */
  readonly expect: (object: KubeObject) => void
  /** Takes an object out that is not to be kept any more; nobody is told. */
  readonly forget: (key: string) => void
  /** Reads the whole list again, soon. */
  readonly readAgain: () => void
  /** How many lists it has read of the latest state, not of a cache of the server. */
  readonly latestLists: () => number
  readonly close: () => Promise<void>
}

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
const METADATA_WATCH = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

const PAGE_OBJECTS = 500
/** For one page, which is the whole list if the server's cache answers. */
const LIST_MS = 60_000
const MAX_PAGES = 10_000
/** The server ends a watch after this time; randomised, so that watches do not all restart at once. */
const WATCH_S = { least: 300, most: 600 }
/** The server sends bookmarks about once a minute. */
const SILENCE_MS = 90_000
const RETRY_MS = { first: 400, most: 5_000 }
const FORBIDDEN_RETRY_MS = 30_000
/** A watch that lasted this long was healthy: the back-off starts over after it. */
const HEALTHY_MS = 5_000

/** A watch without data for `silenceMs` counts as dead; tests set it. */
export function startReflector(
  watching: KubeWatching,
  list: WatchedList,
  copies: KeptCopies,
  silenceMs = SILENCE_MS,
): Reflector {
  const reflector = new Reflecting(watching, list, copies, silenceMs)
  const running = reflector.run()
  return {
    objects: reflector.objects,
    isSynced: () => reflector.isSynced,
    failure: () => reflector.failure,
    synced: reflector.synced.promise,
    expect: (object) => {
      const key = kubeKey(object)
      if (!reflector.objects.has(key)) reflector.objects.set(key, object)
    },
    forget: (key) => void reflector.objects.delete(key),
    readAgain: () => reflector.readAgain(),
    latestLists: () => reflector.latestLists,
    close: async () => {
      reflector.abort.abort()
      await running
    },
  }
}

class Reflecting {
  readonly objects = new Map<string, KubeObject>()
  readonly synced = Promise.withResolvers<void>()
  readonly abort = new AbortController()
  isSynced = false
  failure: number | null = null
  latestLists = 0
  readonly #watching: KubeWatching
  readonly #watched: WatchedList
  readonly #copies: KeptCopies
  readonly #silenceMs: number
  /** Null: a list must be read first. */
  #version: string | null = null
  #hasListed = false
  #failures = 0
  #current = new AbortController()
  /** Even though the watch could go on. */
  #mustList = false
  #isLatestAsked = false

  constructor(watching: KubeWatching, watched: WatchedList, copies: KeptCopies, silenceMs: number) {
    this.#watching = watching
    this.#watched = watched
    this.#copies = copies
    this.#silenceMs = silenceMs
  }

  async run(): Promise<void> {
    while (!this.abort.signal.aborted) {
      const startedAtMs = performance.now()
      try {
        if (this.#version === null || this.#mustList) await this.#list()
        // It was asked for while another list was being read.
        if (this.#mustList) continue
        await this.#watch()
        // Without this, a stream that ends as soon as it begins would be requested in a tight loop.
        if (performance.now() - startedAtMs < HEALTHY_MS) throw new KubeError(0, 'Ended', 'the watch ended at once')
        this.#failures = 0
      } catch (error) {
        if (this.abort.signal.aborted) return
        if (this.#mustList) continue
        if (performance.now() - startedAtMs > HEALTHY_MS) this.#failures = 0
        await this.#recover(error)
      }
    }
  }

  readAgain(): void {
    this.#mustList = true
    this.#current.abort()
  }

  /**
   * Replaces all known objects, each as soon as it is read, so that no second copy of all is in memory. What is not in the list was
   * deleted meanwhile.
   */
  async #list(): Promise<void> {
    // Who asks for a list wants the latest state, also as the first one.
    this.#isLatestAsked ||= this.#mustList
    this.#mustList = false
    const found = new Set<string>()
    let version: string | undefined
    let token = ''
    const isOfLatest = this.#isOfLatest()
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { metadata } = await this.#page(token, (object) => {
        const key = kubeKey(object)
        if (this.#keep(key, object)) found.add(key)
      })
      version = metadata?.resourceVersion
      token = metadata?.continue ?? ''
      if (token === '') break
    }
    this.#version = version ?? null
    for (const key of this.objects.keys()) if (!found.has(key)) this.#drop(key)
    this.#hasListed = true
    if (isOfLatest) this.latestLists += 1
    this.#watching.metrics.listed(this.#watched.name)
    this.isSynced = true
    this.#tell(null)
    this.synced.resolve()
  }

  #isOfLatest(): boolean {
    return this.#hasListed || this.#isLatestAsked || this.#failures > 1
  }

  /**
   * The server's cache may answer the first list, which is cheap; later ones need the latest state. So does a first one that failed
   * repeatedly: it may be too long for one answer.
   */
  async #page(token: string, take: (object: KubeObject) => void): Promise<ListHead> {
    const { path, isMetadataOnly } = this.#watched
    const query = this.#isOfLatest() ? { limit: String(PAGE_OBJECTS) } : { resourceVersion: '0' }
    const asked = `${path}?${this.#query(token === '' ? query : { limit: String(PAGE_OBJECTS), continue: token })}`
    const accept = isMetadataOnly === true ? { accept: METADATA_LIST } : {}
    const signal = AbortSignal.any([this.abort.signal, AbortSignal.timeout(LIST_MS)])
    return readList(await this.#watching.client.stream({ method: 'GET', path: asked, signal, ...accept }), take)
  }

  async #watch(): Promise<void> {
    const { client, random } = this.#watching
    const { path, isMetadataOnly } = this.#watched
    const timeoutSeconds = Math.round(WATCH_S.least + random() * (WATCH_S.most - WATCH_S.least))
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: this.#version ?? '',
      timeoutSeconds: String(timeoutSeconds),
    }
    const accept = isMetadataOnly === true ? { accept: METADATA_WATCH } : {}
    this.#current = new AbortController()
    const signal = AbortSignal.any([this.abort.signal, this.#current.signal])
    const asked = { method: 'GET', path: `${path}?${this.#query(query)}`, signal, ...accept } as const
    const stream = await client.stream(asked)
    this.failure = null
    for await (const line of jsonLines(stream, this.#silenceMs)) this.#take(line)
  }

  #take(event: unknown): void {
    const type = textOf(memberOf(event, 'type'))
    const object = memberOf(event, 'object')
    this.#watching.metrics.event(this.#watched.name, type)
    if (type === 'ERROR') throw watchEnd(object)
    const version = memberOf(memberOf(object, 'metadata'), 'resourceVersion')
    if (typeof version === 'string') this.#version = version
    // It has a version alone, and no name.
    if (type === 'BOOKMARK') return
    if (!isKubeObject(object)) throw new BrokenStream('an event is about no object with a name')
    const key = kubeKey(object)
    const isThere = type !== 'DELETED' && this.#keep(key, object)
    if (!isThere && !this.objects.has(key)) return
    if (!isThere) this.#drop(key)
    this.#tell(key)
  }

  /** False if it is not to be kept. */
  #keep(key: string, object: KubeObject): boolean {
    if (this.#copies.keeps?.(object) === false) return false
    this.objects.set(key, (this.#copies.shape ?? stripped)(object, this.objects.get(key)))
    this.#copies.onKept?.(this.objects, key)
    return true
  }

  #drop(key: string): void {
    this.objects.delete(key)
    this.#copies.onKept?.(this.objects, key)
  }

  async #recover(error: unknown): Promise<void> {
    const { metrics, logger, random } = this.#watching
    const { name } = this.#watched
    const status = error instanceof KubeError ? error.status : 0
    metrics.restarted(name, status)
    this.failure = status
    this.#copies.onFailure?.(status)
    if (status === 410) {
      this.#version = null
      // A list that is outdated at once must not cause a tight loop.
      if (this.#failures === 0) {
        this.#failures += 1
        return
      }
    }
    const doubled = RETRY_MS.first * 2 ** Math.min(this.#failures, 16)
    const retryAfterMs = error instanceof KubeError && error.retryAfterS !== null ? error.retryAfterS * 1_000 : 0
    const leastMs = status === 403 ? FORBIDDEN_RETRY_MS : retryAfterMs
    const delayMs = Math.max(leastMs, Math.min(doubled, RETRY_MS.most)) * (0.5 + random() / 2)
    this.#failures += 1
    const isNews = this.#failures === 2 || status === 403
    if (isNews) logger.warn({ resource: name, status, why: String(error) }, 'watch failed, retrying')
    await sleep(delayMs, this.abort.signal)
  }

  #query(query: Readonly<Record<string, string>>): string {
    return new URLSearchParams({ ...this.#watched.query, ...query }).toString()
  }

  #tell(key: string | null): void {
    this.#watching.metrics.objects(this.#watched.name, this.objects.size)
    this.#copies.onChange(key)
  }
}

/** What the server says when it ends a watch. */
function watchEnd(status: unknown): KubeError {
  const code = memberOf(status, 'code')
  const message = memberOf(status, 'message')
  return new KubeError(
    typeof code === 'number' ? code : 0,
    textOf(memberOf(status, 'reason')),
    typeof message === 'string' ? message : 'the watch was ended',
  )
}

/** Resolves after `delayMs`, or at once when the signal fires. */
function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end)
      resolve()
    }, delayMs)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
