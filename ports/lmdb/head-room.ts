/**
 * Keeps written and unused room behind LMDB's last page, so that no write of LMDB ever meets a full disk.
 *
 * lmdb 3.5.6 harms its own process when it reports a failed write, so the full disk is met here first: by zeros that are
 * appended to LMDB's file. Appending never touches what LMDB wrote, and LMDB writes over the zeros as it grows.
 */

import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'

import type { Database } from 'lmdb'

const STEP_BYTES = 1024 * 1024
/** Values lie in whole pages, and a tree grows with them. */
const GROWTH = 1.25
/** Of the spare: what stays behind the last page while pages of removed values are used again, and what any transaction needs. */
const [REUSING_SHARE, LEAST_SHARE] = [1 / 4, 1 / 8]

export class HeadRoom {
  readonly #databases: readonly Database[]
  readonly #file: number
  readonly #spareBytes: number
  #usedBytes = 0
  #endBytes = 0

  /**
   * @param databases all of the environment; more may be added to them later
   * @param path LMDB's data file
   * @param spareBytes kept besides what is asked for: positions and removals are written in any case
   */
  constructor(databases: readonly Database[], path: string, spareBytes: number) {
    this.#databases = databases
    this.#spareBytes = spareBytes
    this.#file = openSync(path, 'a')
    this.measure()
    this.has(0)
  }

  /** Looks where LMDB's last page is; to be called after each transaction. */
  measure(): void {
    const stats = this.#databases[0]?.getStats() as DatabaseStats | undefined
    this.#usedBytes = stats === undefined ? 0 : (stats.lastPageNumber + 1) * stats.pageSize
    this.#endBytes = fstatSync(this.#file).size
  }

  /**
   * True where that many bytes of values can be written. Room is taken from the disk for them and for the spare; where it has
   * none, pages of removed values count, though the tail must hold all of it: free pages may lie too scattered for a value.
   */
  has(bytes: number): boolean {
    const wanted = bytes * GROWTH
    if (this.#extendTo(this.#usedBytes + wanted + this.#spareBytes)) return true
    return (
      this.#tailBytes >= wanted + this.#spareBytes * REUSING_SHARE && this.reusableBytes() >= wanted + this.#spareBytes
    )
  }

  /** What is left is too little for any transaction. */
  get isUsedUp(): boolean {
    return this.#tailBytes < this.#spareBytes * LEAST_SHARE
  }

  /** About what lies within LMDB's file and holds nothing any more; the file never shrinks. */
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
    return this.#databases.map((database) => database.getStats() as DatabaseStats)
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

/** Of what lmdb tells; `lastPageNumber` is that of the whole environment. */
interface DatabaseStats {
  readonly pageSize: number
  readonly lastPageNumber: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

const ZEROS = Buffer.alloc(STEP_BYTES)
