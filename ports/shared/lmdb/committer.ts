/**
 * Combines the writes of several stores into one LMDB transaction at a time, so that they share its sync to disk.
 *
 * One transaction is in flight at any moment. Writes that arrive meanwhile go into the next one, which waits as long as more
 * keep arriving. Groups grow with the load, and nothing waits under light load (bench/event-log.ts).
 */

import { statfsSync } from 'node:fs'

import type { Database, RootDatabase } from 'lmdb'

import type { HeadRoom } from './head-room.ts'

/** Puts a value under a key in the next transaction; null removes the key. */
export type WriteOne = (database: Database, key: string | Buffer, value: string | Buffer | null) => void

interface Write {
  readonly database: Database
  readonly key: string | Buffer
  readonly value: string | Buffer | null
}

/** Called with null when the transaction is on disk, or with the error; a second call must do nothing. */
type Settle = (failure: Error | null) => void

/** A store that takes part. Called at the start of each transaction; returns null if it has nothing to write. */
type Contributor = (write: WriteOne) => Settle | null

interface CommitterOptions {
  /** Folder whose file system is watched. */
  readonly folder: string
  /** Below this much free space nothing new is accepted. */
  readonly minFreeBytes: number
  /** A transaction that takes longer than this counts as dead. */
  readonly stallFatalMs: number
  /** Reserved room for LMDB's writes; null if only free space is watched. */
  readonly headRoom: HeadRoom | null
  /** Called at most once, when the store can no longer be trusted. The process should end and start again. */
  readonly onFatal: (error: Error) => void
  /** Called when there is too little free space, and when there is enough again. */
  readonly onSpace: (isFull: boolean) => void
}

/**
 * The store is lost for this process: a write or a sync failed, or a transaction never ended. After a failed sync it is
 * unknown what the kernel kept, and lmdb 3.5.6 writes past a buffer of its own when it reports a failed write (mdb.c,
 * `malloc(100)`): neither the disk nor this process's memory can be trusted, so nothing is retried.
 */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed'
}

const FULL = 'the disk is full'
/** Longest time between two measurements of free space; written bytes bring the next one forward. */
const SPACE_CHECK_MS = 1_000
/** Share of the reserve that may be written between two measurements. */
const SPACE_CHECK_SHARE = 1 / 8
/** The longest wait for more writes to share a transaction: two or three groups of requests that run in step. */
const GATHER_MS = 10
/** A transaction that finds no room waits this long before it checks again. */
const NO_ROOM_RETRY_MS = 200

export class Committer {
  readonly #root: RootDatabase
  readonly #options: CommitterOptions
  readonly #contributors: Contributor[] = []
  readonly #waiters: Settle[] = []
  #isScheduled = false
  /** On the monotonic clock; null while no transaction is under way. */
  #beganAtMs: number | null = null
  #isWanted = false
  /** How often a transaction was requested. */
  #requests = 0
  #count = 0
  #lazyTimer: NodeJS.Timeout | null = null
  #spaceCheckedAtMs = Number.NEGATIVE_INFINITY
  #bytesSinceCheck = 0
  #isFull = false
  #failure: StorageFailed | null = null
  #isClosed = false

  constructor(root: RootDatabase, options: CommitterOptions) {
    this.#root = root
    this.#options = options
    this.#checkSpace()
  }

  contribute(contributor: Contributor): void {
    this.#contributors.push(contributor)
  }

  /** Why nothing can be accepted now; null if it can. */
  get unavailability(): string | null {
    if (this.#failure !== null) return 'the storage has failed'
    if (this.#isClosed) return 'the storage is closed'
    if (this.#isFull) this.#checkSpace()
    return this.#isFull ? FULL : null
  }

  /** Like `unavailability`, but also checks the room for that many bytes, which is all that waits. */
  unavailabilityFor(bytes: number): string | null {
    const reason = this.unavailability
    if (reason !== null || this.#options.headRoom?.has(bytes) !== false) return reason
    // A disk that was filled at once is met here first; without an append no transaction would measure it.
    this.#checkSpace()
    return FULL
  }

  /** As last measured. */
  get isFull(): boolean {
    return this.#isFull
  }

  get hasFailed(): boolean {
    return this.#failure !== null
  }

  /** Transactions begun so far. */
  get count(): number {
    return this.#count
  }

  /** How long the current transaction has taken so far, in ms; 0 if there is none. */
  get underWayMs(): number {
    return this.#beganAtMs === null ? 0 : performance.now() - this.#beganAtMs
  }

  /** Requests a transaction once nothing more is gathered, or right after the current one. */
  request(): void {
    if (this.#isClosed) return
    this.#requests++
    if (this.#beganAtMs !== null) {
      this.#isWanted = true
      return
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#gather(performance.now())
  }

  /**
   * While more writes keep arriving, waiting pays off: a transaction costs about as much as ten appends. It takes two turns of
   * the event loop to tell, because work that a turn accepted may run after this check.
   */
  #gather(sinceMs: number): void {
    const requests = this.#requests
    const look = (): void => {
      const isMoreComing = this.#requests > requests && performance.now() - sinceMs < GATHER_MS
      if (isMoreComing) this.#gather(sinceMs)
      else this.#commit()
    }
    setImmediate(() => setImmediate(look))
  }

  /** Requests a transaction within `delayMs`; an earlier one for others serves as well. */
  requestWithin(delayMs: number): void {
    if (this.#isClosed || this.#isScheduled || this.#lazyTimer !== null) return
    this.#lazyTimer = setTimeout(() => {
      this.#lazyTimer = null
      this.request()
    }, delayMs)
  }

  /** Resolves when all writes so far are on disk; rejects with StorageFailed, also if there is no room for them now. */
  durable(): Promise<void> {
    if (this.#failure !== null || this.#isClosed) {
      return Promise.reject(this.#failure ?? new StorageFailed('the storage is closed'))
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push((failure) => (failure === null ? resolve() : reject(failure)))
      this.request()
    })
  }

  /** Writes what is left; afterwards nothing is written. */
  async close(): Promise<void> {
    if (!this.#isClosed && this.#failure === null) await this.durable().catch(() => undefined)
    this.#isClosed = true
    if (this.#lazyTimer !== null) clearTimeout(this.#lazyTimer)
  }

  #commit(): void {
    this.#isScheduled = false
    if (this.#lazyTimer !== null) clearTimeout(this.#lazyTimer)
    this.#lazyTimer = null
    if (this.#isClosed) return
    if (this.#isWithoutRoom()) {
      settleAll(this.#waiters.splice(0), new StorageFailed(FULL))
      return this.requestWithin(NO_ROOM_RETRY_MS)
    }
    const { writes, settles } = this.#collect()
    if (this.#failure !== null || writes.length === 0) return settleAll(settles, this.#failure)
    this.#beganAtMs = performance.now()
    this.#count++
    void this.#write(writes, settles)
    this.#checkSpace()
  }

  async #write(writes: readonly Write[], settles: readonly Settle[]): Promise<void> {
    const { stallFatalMs } = this.#options
    const stalled = setTimeout(() => {
      settleAll(settles, this.#fail(new StorageFailed(`a transaction did not end in ${stallFatalMs} ms`)))
    }, stallFatalMs)
    try {
      await this.#root.batch(() => {
        for (const { database, key, value } of writes) {
          if (value === null) void database.remove(key)
          else void database.put(key, value)
        }
      })
    } catch (error) {
      const cause = await commitError(error)
      settleAll(settles, this.#fail(new StorageFailed('a transaction could not be synced to disk', { cause })))
    } finally {
      clearTimeout(stalled)
    }
    if (this.#failure === null) this.#next(settles)
    else settleAll(settles, this.#failure)
  }

  #collect(): { writes: Write[]; settles: Settle[] } {
    const writes: Write[] = []
    const settles = this.#waiters.splice(0)
    const write: WriteOne = (database, key, value) => {
      writes.push({ database, key, value })
      this.#bytesSinceCheck += value?.length ?? 0
    }
    for (const contributor of this.#contributors) {
      const settle = contributor(write)
      if (settle !== null) settles.push(settle)
    }
    return { writes, settles }
  }

  #next(settles: readonly Settle[]): void {
    this.#beganAtMs = null
    this.#options.headRoom?.measure()
    settleAll(settles, null)
    if (!this.#isWanted) return
    this.#isWanted = false
    this.request()
  }

  /** Accepted work never leads here; unconditional writes may, if other programs have filled the disk. */
  #isWithoutRoom(): boolean {
    const { headRoom } = this.#options
    return headRoom !== null && !headRoom.has(0) && headRoom.isUsedUp
  }

  /** The first failure counts; it also ends what is not yet part of a transaction. */
  #fail(failure: StorageFailed): StorageFailed {
    if (this.#failure !== null) return this.#failure
    this.#failure = failure
    settleAll(this.#collect().settles, failure)
    this.#options.onFatal(failure)
    return failure
  }

  /** Room is reserved so that a write never meets a full disk, which would end this process. */
  #checkSpace(): void {
    const { folder, minFreeBytes, headRoom } = this.#options
    const nowMs = performance.now()
    const isDue = nowMs - this.#spaceCheckedAtMs >= SPACE_CHECK_MS
    if (!isDue && this.#bytesSinceCheck < minFreeBytes * SPACE_CHECK_SHARE) return
    this.#spaceCheckedAtMs = nowMs
    this.#bytesSinceCheck = 0
    const freeBytes = this.#freeBytes(folder)
    if (freeBytes === null) return
    const isFull = freeBytes < minFreeBytes && freeBytes + (headRoom?.reusableBytes() ?? 0) < minFreeBytes
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    this.#options.onSpace(isFull)
  }

  /** Null if the folder cannot be looked at: then it is gone, or its disk is, and what is written there is lost. */
  #freeBytes(folder: string): number | null {
    try {
      const { bavail, bsize } = statfsSync(folder)
      return bavail * bsize
    } catch (cause) {
      this.#fail(new StorageFailed('the data folder cannot be read', { cause }))
      return null
    }
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
