/**
 * Gathers what several stores want written into one LMDB transaction at a time, so that they share its sync to disk.
 *
 * One transaction is under way at any moment; what arrives meanwhile goes into the next. That keeps groups as large as
 * the load makes them, and it is the cheapest way measured (bench/event-log.ts).
 */

import { statfs } from 'node:fs/promises'

import type { Database, RootDatabase } from 'lmdb'

/** Puts a value under a key in the coming transaction; null removes the key. */
export type WriteOne = (database: Database, key: string | Buffer, value: string | Buffer | null) => void

interface Write {
  readonly database: Database
  readonly key: string | Buffer
  readonly value: string | Buffer | null
}

/** Called once with null when the transaction is on disk, or with what prevented it. */
export type Settle = (failure: Error | null) => void

/** A store that takes part: asked at the start of each transaction; null where it has nothing to write. */
export type Contributor = (write: WriteOne) => Settle | null

export interface CommitterOptions {
  /** Folder whose file system is watched. */
  readonly folder: string
  /** Below this much free space nothing new is accepted. */
  readonly minFreeBytes: number
  /** A transaction that takes longer than this is taken for dead. */
  readonly stallFatalMs: number
  /** Called at most once, when the store can no longer be trusted. The process should end and start again. */
  readonly onFatal: (error: Error) => void
}

/** The write could not be made durable, but the store lives: the disk or the map is full. */
export class StorageFull extends Error {
  override readonly name = 'StorageFull'
}

/** The store is gone for this process: a sync failed, or a transaction never ended. */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed'
}

const MDB_MAP_FULL = -30792
const ENOSPC = 28
const EIO = 5
const SPACE_CHECK_MS = 1_000

export class Committer {
  readonly #root: RootDatabase
  readonly #options: CommitterOptions
  readonly #contributors: Contributor[] = []
  readonly #waiters: Settle[] = []
  #isScheduled = false
  #isCommitting = false
  #isWanted = false
  #lazyTimer: NodeJS.Timeout | null = null
  #spaceTimer: NodeJS.Timeout | null = null
  #spaceCheckedAtMs = Number.NEGATIVE_INFINITY
  #isFull = false
  #failure: StorageFailed | null = null
  #isClosed = false

  constructor(root: RootDatabase, options: CommitterOptions) {
    this.#root = root
    this.#options = options
  }

  contribute(contributor: Contributor): void {
    this.#contributors.push(contributor)
  }

  /** Why nothing can be accepted now; null where it can. */
  get unavailability(): string | null {
    if (this.#failure !== null) return 'the storage has failed'
    if (this.#isClosed) return 'the storage is closed'
    return this.#isFull ? 'the disk is full' : null
  }

  get hasFailed(): boolean {
    return this.#failure !== null
  }

  /** Asks for a transaction at the end of this event turn, or right after the one under way. */
  request(): void {
    if (this.#isCommitting) {
      this.#isWanted = true
      return
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#commit())
  }

  /** Asks for a transaction within `delayMs`; one that comes earlier for others serves as well. */
  requestWithin(delayMs: number): void {
    if (this.#isScheduled || this.#lazyTimer !== null) return
    this.#lazyTimer = setTimeout(() => {
      this.#lazyTimer = null
      this.request()
    }, delayMs)
  }

  /** Resolves when everything handed over so far is on disk; rejects with StorageFull or StorageFailed. */
  durable(): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiters.push((failure) => (failure === null ? resolve() : reject(failure)))
      this.request()
    })
  }

  /** Writes what is left; afterwards nothing is written any more. */
  async close(): Promise<void> {
    if (!this.#isClosed && this.#failure === null) await this.durable().catch(() => undefined)
    this.#isClosed = true
    if (this.#lazyTimer !== null) clearTimeout(this.#lazyTimer)
    if (this.#spaceTimer !== null) clearTimeout(this.#spaceTimer)
  }

  #commit(): void {
    this.#isScheduled = false
    if (this.#lazyTimer !== null) clearTimeout(this.#lazyTimer)
    this.#lazyTimer = null
    const { writes, settles } = this.#collect()
    if (this.#failure !== null || writes.length === 0) return settleAll(settles, this.#failure)
    const written = this.#root.batch(() => {
      for (const { database, key, value } of writes) {
        if (value === null) void database.remove(key)
        else void database.put(key, value)
      }
    })
    this.#isCommitting = true
    this.#await(written, settles)
    this.#watchSpace()
  }

  #collect(): { writes: Write[]; settles: Settle[] } {
    const writes: Write[] = []
    const settles = this.#waiters.splice(0)
    const write: WriteOne = (database, key, value) => writes.push({ database, key, value })
    for (const contributor of this.#contributors) {
      const settle = contributor(write)
      if (settle !== null) settles.push(settle)
    }
    return { writes, settles }
  }

  #await(written: Promise<boolean>, settles: readonly Settle[]): void {
    const { stallFatalMs } = this.#options
    const stalled = setTimeout(() => {
      settleAll(settles, this.#fail(new StorageFailed(`a transaction did not end in ${stallFatalMs} ms`)))
    }, stallFatalMs)
    written.then(
      () => {
        clearTimeout(stalled)
        if (this.#failure === null) this.#next(settles, null)
      },
      async (error: unknown) => {
        clearTimeout(stalled)
        if (this.#failure === null) this.#next(settles, await this.#judge(error))
      },
    )
  }

  #next(settles: readonly Settle[], failure: Error | null): void {
    this.#isCommitting = false
    settleAll(settles, failure)
    if (!this.#isWanted) return
    this.#isWanted = false
    this.request()
  }

  /** A failed sync is never tried again: what the kernel kept of it is unknown. Only lack of space is survived. */
  async #judge(error: unknown): Promise<Error> {
    const cause = await commitError(error)
    const code = codeOf(cause)
    if (code === MDB_MAP_FULL || code === ENOSPC || (code === EIO && (await this.#measureSpace()))) {
      this.#becomeFull()
      return new StorageFull('no space is left to write', { cause })
    }
    return this.#fail(new StorageFailed('a transaction could not be synced to disk', { cause }))
  }

  /** The first failure is the one that counts; it also ends what was not yet part of a transaction. */
  #fail(failure: StorageFailed): StorageFailed {
    if (this.#failure !== null) return this.#failure
    this.#failure = failure
    settleAll(this.#collect().settles, failure)
    this.#options.onFatal(failure)
    return failure
  }

  #watchSpace(): void {
    const nowMs = performance.now()
    if (nowMs - this.#spaceCheckedAtMs < SPACE_CHECK_MS) return
    this.#spaceCheckedAtMs = nowMs
    void this.#measureSpace().then((isShort) => {
      if (isShort) this.#becomeFull()
    })
  }

  async #measureSpace(): Promise<boolean> {
    try {
      const { bavail, bsize } = await statfs(this.#options.folder)
      return bavail * bsize < this.#options.minFreeBytes
    } catch {
      return false
    }
  }

  /** Looks again every second until there is room. */
  #becomeFull(): void {
    this.#isFull = true
    if (this.#spaceTimer !== null || this.#isClosed) return
    this.#spaceTimer = setTimeout(() => {
      this.#spaceTimer = null
      void this.#measureSpace().then((isShort) => {
        if (isShort) this.#becomeFull()
        else this.#isFull = false
      })
    }, SPACE_CHECK_MS)
    this.#spaceTimer.unref()
  }
}

function settleAll(settles: readonly Settle[], failure: Error | null): void {
  for (const settle of settles) settle(failure)
}

/** lmdb rejects with a general error whose `commitError` is a second promise that carries the real one. */
async function commitError(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  try {
    await error.commitError
    return error
  } catch (cause) {
    return cause
  }
}

function codeOf(error: unknown): number | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : null
}
