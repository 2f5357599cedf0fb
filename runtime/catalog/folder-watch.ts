/** Watches a folder of manifests and hands over its content once writing has paused. */

import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'

import type { Logger } from '../logger.ts'
import type { ManifestFile, ManifestFolders } from './manifests.ts'
import { compareNames, folderSignature, isManifestName, ManifestsUnreadable } from './manifests.ts'

/** What the folder holds: files in order, or why it cannot be read. */
export type FolderState =
  | { readonly kind: 'files'; readonly files: readonly ManifestFile[] }
  | { readonly kind: 'unreadable'; readonly message: string }

interface FolderWatch {
  /** Reads at once, without waiting for writing to come to rest; resolves when it has been taken up, with whether it could be read. */
  readonly refresh: () => Promise<boolean>
  /** When the last look began that found what is in force, and nothing else; Unix ms, 0 before the first one. */
  readonly unchangedAtMs: () => number
  readonly close: () => Promise<void>
}

interface FolderWatchOptions {
  readonly folders: ManifestFolders
  /** Reads the folders. */
  readonly read: () => Promise<readonly ManifestFile[]>
  /** What is in force already; the first change is compared with it. */
  readonly initial: readonly ManifestFile[]
  readonly nowMs: () => number
  readonly logger: Logger
  readonly onChange: (state: FolderState) => void
}

/** A change is read this long after the last write... */
const REST_MS = 100
/** ...but no later than this after the first one, so that one busy file does not hold up the others. */
const LONGEST_UNREST_MS = 1_000
/**
 * A file that is gone or empty counts as such only if it still is after this time: editors and copies do that briefly.
 */
const GONE_MS = 1_000
/** Backs up the system's notifications, which miss changes behind symbolic links and on network disks. */
const POLL_MS = 400
/** Polling may take this fraction of the time at most. */
const POLL_SHARE = 20

/** Since when files that existed are missing or empty. */
export type GoneSince = ReadonlyMap<string, number>

/**
 * Pure: what counts now, given what counted before and what is there. Files that are missing or emptied count for a
 * while longer, unless the same text reappears under another name. `recheckAtMs` is when to check again.
 * @internal
 */
export function settleFiles(
  before: { readonly files: readonly ManifestFile[]; readonly goneSince: GoneSince },
  found: readonly ManifestFile[],
  nowMs: number,
): { readonly files: readonly ManifestFile[]; readonly goneSince: GoneSince; readonly recheckAtMs: number | null } {
  const texts = new Map(found.map((file) => [file.name, file.text]))
  const known = new Set(before.files.map((file) => file.name))
  const arrived = new Set(found.filter((file) => !known.has(file.name)).map((file) => file.text))
  const goneSince = new Map<string, number>()
  for (const { name, text } of before.files) {
    const isGone = isBlank(texts.get(name) ?? '') && !isBlank(text) && !arrived.has(text)
    const since = before.goneSince.get(name) ?? nowMs
    if (!isGone || nowMs - since >= GONE_MS) continue
    goneSince.set(name, since)
    texts.set(name, text)
  }
  const files = [...texts].map(([name, text]) => ({ name, text })).sort((a, b) => compareNames(a.name, b.name))
  const oldest = Math.min(...goneSince.values())
  return { files, goneSince, recheckAtMs: Number.isFinite(oldest) ? oldest + GONE_MS : null }
}

export function watchFolder(options: FolderWatchOptions): FolderWatch {
  const watcher = new FolderWatcher(options)
  watcher.open()
  return { refresh: () => watcher.refresh(), unchangedAtMs: () => watcher.unchangedAtMs, close: () => watcher.close() }
}

class FolderWatcher {
  unchangedAtMs = 0
  readonly #options: FolderWatchOptions
  #state: { readonly files: readonly ManifestFile[]; readonly goneSince: GoneSince }
  #unreadableSinceMs: number | null = null
  #isUnreadableTold = false
  #firstTouchMs: number | null = null
  #notices: readonly (FSWatcher | null)[] = []
  #readTimer: NodeJS.Timeout | undefined
  #pollTimer: NodeJS.Timeout | undefined
  #isClosed = false
  #readsBegun = 0
  #reading: Promise<unknown> = Promise.resolve()

  constructor(options: FolderWatchOptions) {
    this.#options = options
    this.#state = { files: options.initial, goneSince: new Map() }
  }

  open(): void {
    const { folders: watched, logger } = this.#options
    const { folder, written } = watched
    const folders = written === null ? [folder] : [folder, written]
    this.#notices = folders.map((each) => startNotices(each, () => this.#touch(), logger))
    void this.#poll(null)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#readTimer)
    clearTimeout(this.#pollTimer)
    for (const notices of this.#notices) notices?.close()
    await this.#reading
  }

  refresh(): Promise<boolean> {
    const reading = this.#reading.then(() => this.#read())
    this.#reading = reading
    return reading
  }

  /** Nothing was written, or is missing, that is still to be read. */
  #isAtRest(): boolean {
    if (this.#readTimer !== undefined || this.#readsBegun > 0) return false
    return this.#unreadableSinceMs === null && this.#state.goneSince.size === 0
  }

  /** Something was written: read it once writing has paused. */
  #touch(): void {
    const nowMs = this.#options.nowMs()
    this.#firstTouchMs ??= nowMs
    this.#readAfter(Math.max(0, Math.min(REST_MS, this.#firstTouchMs + LONGEST_UNREST_MS - nowMs)))
  }

  #readAfter(delayMs: number): void {
    clearTimeout(this.#readTimer)
    if (this.#isClosed) return
    this.#readTimer = setTimeout(() => {
      this.#firstTouchMs = null
      this.#readTimer = undefined
      this.#reading = this.#reading.then(() => this.#read())
    }, delayMs)
    this.#readTimer.unref()
  }

  async #read(): Promise<boolean> {
    const beganAtMs = this.#options.nowMs()
    this.#readsBegun += 1
    try {
      this.#take(await this.#options.read(), beganAtMs)
      return !this.#isClosed
    } catch (error) {
      if (error instanceof ManifestsUnreadable) this.#takeUnreadable(error.message)
      else this.#options.logger.error({ err: error }, 'folder of manifests could not be read')
      return false
    } finally {
      this.#readsBegun -= 1
    }
  }

  #take(found: readonly ManifestFile[], beganAtMs: number): void {
    if (this.#isClosed) return
    const nowMs = this.#options.nowMs()
    const { recheckAtMs, ...settled } = settleFiles(this.#state, found, nowMs)
    const isChanged = this.#isUnreadableTold || !areSameFiles(settled.files, this.#state.files)
    this.#state = settled
    this.#unreadableSinceMs = null
    this.#isUnreadableTold = false
    if (recheckAtMs !== null && this.#firstTouchMs === null) this.#readAfter(Math.max(1, recheckAtMs - nowMs))
    if (isChanged) this.#options.onChange({ kind: 'files', files: settled.files })
    // What is missing or empty may be gone, but still counts.
    if (recheckAtMs === null) this.unchangedAtMs = beganAtMs
  }

  #takeUnreadable(message: string): void {
    if (this.#isClosed || this.#isUnreadableTold) return
    const nowMs = this.#options.nowMs()
    this.#unreadableSinceMs ??= nowMs
    const leftMs = this.#unreadableSinceMs + GONE_MS - nowMs
    if (leftMs > 0) {
      this.#readAfter(leftMs)
      return
    }
    this.#isUnreadableTold = true
    this.#options.onChange({ kind: 'unreadable', message })
  }

  async #poll(before: string | null): Promise<void> {
    const startedAtMs = performance.now()
    const beganAtMs = this.#options.nowMs()
    const signature = await folderSignature(this.#options.folders)
    if (this.#isClosed) return
    if (signature !== before) this.#touch()
    else if (this.#isAtRest()) this.unchangedAtMs = beganAtMs
    const tookMs = performance.now() - startedAtMs
    this.#pollTimer = setTimeout(() => void this.#poll(signature), Math.max(POLL_MS, tookMs * POLL_SHARE))
    this.#pollTimer.unref()
  }
}

/** The system's notifications, if any are left to register; polling alone is slower, not wrong. */
function startNotices(folder: string, touch: () => void, logger: Logger): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || isManifestName(name)) touch()
    })
    watcher.on('error', (error) => {
      logger.debug({ err: error, folder }, 'folder notifications ended, polling instead')
      watcher.close()
    })
    return watcher
  } catch (error) {
    logger.debug({ err: error, folder }, 'no folder notifications, polling instead')
    return null
  }
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function areSameFiles(a: readonly ManifestFile[], b: readonly ManifestFile[]): boolean {
  return a.length === b.length && a.every((file, index) => file.name === b[index]?.name && file.text === b[index].text)
}
