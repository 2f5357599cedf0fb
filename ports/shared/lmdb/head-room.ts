/**
 * Keeps written but unused room after LMDB's last page, so that LMDB's writes never meet a full disk.
 *
 * lmdb 3.5.6 corrupts its own process when it reports a failed write. So this code meets the full disk first, by
 * appending zeros to LMDB's file. Appending never touches what LMDB wrote, and LMDB overwrites the zeros as it grows.
 */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'

import type { Database } from 'lmdb'

import { shapeOf, isNumber } from '../../../domain/guards.ts'

const STEP_BYTES = 1024 * 1024
/** Values take whole pages, and a tree grows with them. */
const GROWTH = 1.25
/**
 * Shares of the spare: the room that stays after the last page while freed pages are reused, and the least that any
 * transaction needs.
 */
const REUSING_SHARE = 1 / 4
const LEAST_SHARE = 1 / 8

export class HeadRoom {
  readonly #databases: readonly Database[]
  readonly #file: number
  readonly #spareBytes: number
  #usedBytes = 0
  #endBytes = 0

  /**
   * @param databases all of the environment; more may be added to them later
   * @param path LMDB's data file
   * @param spareBytes kept besides what is requested: positions and removals are always written
   */
  constructor(databases: readonly Database[], path: string, spareBytes: number) {
    this.#databases = databases
    this.#spareBytes = spareBytes
    this.#file = openSync(path, 'a')
    this.measure()
    this.has(0)
  }

  /** Finds LMDB's last page; call it after each transaction. */
  measure(): void {
    const [stats] = this.#stats()
    this.#usedBytes = stats === undefined ? 0 : (stats.lastPageNumber + 1) * stats.pageSize
    this.#endBytes = fstatSync(this.#file).size
  }

  /**
   * True if that many bytes of values can be written. Takes room from the disk for them and for the spare. If the disk
   * has none, freed pages count, but the tail must still hold all of it: free pages may be too scattered for a value.
   */
  has(bytes: number): boolean {
    const wanted = bytes * GROWTH
    if (this.#extendTo(this.#usedBytes + wanted + this.#spareBytes)) return true
    return (
      this.#tailBytes >= wanted + this.#spareBytes * REUSING_SHARE && this.reusableBytes() >= wanted + this.#spareBytes
    )
  }

  /** Too little is left for any transaction. */
  get isUsedUp(): boolean {
    return this.#tailBytes < this.#spareBytes * LEAST_SHARE
  }

  /** Approximate free room within LMDB's file, which never shrinks. */
  reusableBytes(): number {
    let liveBytes = 0
    for (const stats of this.#stats()) {
      const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages
      liveBytes += pages * stats.pageSize
    }
    return Math.max(0, this.#usedBytes - liveBytes)
  }

  close(): void {
    closeSync(this.#file)
  }

  get #tailBytes(): number {
    return this.#endBytes - this.#usedBytes
  }

  #stats(): readonly DatabaseStats[] {
    return this.#databases.map((database) => statsOf(database.getStats()))
  }

  #extendTo(endBytes: number): boolean {
    try {
      while (this.#endBytes < endBytes) this.#endBytes += writeSync(this.#file, ZEROS)
      return true
    } catch {
      // Whatever the reason: without room nothing is accepted, and the next append tries again.
      this.#endBytes = fstatSync(this.#file).size
      return false
    }
  }
}

/** From lmdb's statistics; `lastPageNumber` is that of the whole environment. */
interface DatabaseStats {
  readonly pageSize: number
  readonly lastPageNumber: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

const isStats = shapeOf<DatabaseStats>({
  pageSize: isNumber,
  lastPageNumber: isNumber,
  treeBranchPageCount: isNumber,
  treeLeafPageCount: isNumber,
  overflowPages: isNumber,
})

function statsOf(stats: unknown): DatabaseStats {
  if (isStats(stats)) return stats
  throw new Error('lmdb is not the version that this service was made for')
}

const ZEROS = Buffer.alloc(STEP_BYTES)
