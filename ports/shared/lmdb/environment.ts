/** Opens the LMDB environment of a data folder, which the event log and the hot state share. */

import { open } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

import type { Database, RootDatabase } from 'lmdb'

import { Committer } from './committer.ts'
import { lockDataFolder } from './folder-lock.ts'
import { HeadRoom } from './head-room.ts'
import { openTable } from './table.ts'
import type { Table } from './table.ts'

export interface LmdbOptions {
  /**
   * Called once when the environment can no longer be trusted (a sync failed, a transaction never ended). Everything is
   * refused from then on; the process should end with an error and be restarted.
   */
  readonly onFatal: (error: Error) => void
  /** Called when less than `minFreeBytes` is free and the log refuses entries, and when there is enough again. */
  readonly onSpace?: (isFull: boolean) => void
  /** Unix time in ms; stored times come from this clock. */
  readonly nowMs: () => number
  /** Below this much free space the log refuses entries; the default leaves room for several full queues. */
  readonly minFreeBytes?: number
  /** Room that is written ahead of LMDB, for a folder that may meet a full disk; 0, the default, for none. */
  readonly headRoomBytes?: number
  /** A transaction that takes longer counts as dead; far above what slow disks need. */
  readonly stallFatalMs?: number
}

/**
 * The folder is left as it is.
 * @internal
 */
export class DataOfAnotherForm extends Error {
  override readonly name = 'DataOfAnotherForm'
}

export interface LmdbEnvironment {
  readonly nowMs: () => number
  readonly committer: Committer
  /** Keys and values are bytes; reads see stored data only. */
  openLog(name: string): Database<Buffer, Buffer>
  /** Keys and values are strings; reads see unstored writes too. */
  openTable(name: string): Table
  /**
   * Copies everything stored into an existing folder, synced to disk, while writes go on; writes made before the call are in the
   * copy. Empty pages are left out, and with them what was deleted.
   */
  copyTo(folder: string): Promise<void>
  /** Stores what is left, closes the files and releases the folder. Close the adapters first. */
  close(): Promise<void>
}

const DEFAULTS = { minFreeBytes: 256 * 1024 * 1024, headRoomBytes: 0, stallFatalMs: 30_000 }
const MAX_TABLES = 12
/** The name that LMDB itself gives the file. */
const DATA_FILE = 'data.mdb'
/** Where the form of everything in the folder is stored, beside the names of the tables. */
const FORM_KEY = 'form'
/** Of keys and values of the log and of the hot state. Until 0.1.0 is published, it is changed in place. */
const FORM = '1'
/** Address space, neither disk nor memory. A map that grows step by step is remapped each time and counted twice. */
const MAP_BYTES = 2 ** 36

/**
 * Opens (or creates) the environment in the folder `path` and locks it for this process.
 * @throws DataFolderInUse when another process has it open; DataOfAnotherForm
 */
export async function openLmdb(path: string, options: LmdbOptions): Promise<LmdbEnvironment> {
  const folder = resolve(path)
  const lock = await lockDataFolder(folder)
  try {
    const { open: openRoot } = await import('lmdb')
    // Without `overlappingSync: false` a restored volume can read back empty: lmdb then trusts a snapshot it never
    // synced.
    const root = openRoot({
      path: folder,
      noSubdir: false,
      overlappingSync: false,
      mapSize: MAP_BYTES,
      eventTurnBatching: false,
      maxDbs: MAX_TABLES,
      encoding: 'binary',
    })
    await mustHaveForm(root, folder)
    await syncFolder(folder)
    await syncFolder(dirname(folder))
    const databases: Database[] = [root]
    const opened = <D extends Database>(database: D): D => {
      databases.push(database)
      return database
    }
    const headRoomBytes = options.headRoomBytes ?? DEFAULTS.headRoomBytes
    const headRoom = headRoomBytes === 0 ? null : new HeadRoom(databases, join(folder, DATA_FILE), headRoomBytes)
    const committer = new Committer(root, {
      folder,
      headRoom,
      minFreeBytes: options.minFreeBytes ?? DEFAULTS.minFreeBytes,
      stallFatalMs: options.stallFatalMs ?? DEFAULTS.stallFatalMs,
      onFatal: options.onFatal,
      onSpace: options.onSpace ?? (() => undefined),
    })
    return {
      nowMs: options.nowMs,
      committer,
      openLog: (name) => opened(root.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary' })),
      openTable: (name) => openTable(opened(root.openDB<string, string>(name, { encoding: 'string' })), committer),
      async copyTo(target) {
        await committer.durable()
        const isCompact = true
        await root.backup(target, isCompact)
        await syncFolder(target)
      },
      async close() {
        await committer.close()
        headRoom?.close()
        if (!committer.hasFailed) await root.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** A new folder gets the form of this program. @throws DataOfAnotherForm */
async function mustHaveForm(root: RootDatabase, folder: string): Promise<void> {
  const stored: unknown = root.get(FORM_KEY)
  if (String(stored) === FORM) return
  if (!root.getKeys({ limit: 1 })[Symbol.iterator]().next().done) {
    await root.close()
    throw new DataOfAnotherForm(
      `${folder} holds data in another form: use an empty folder, or the program that made it`,
    )
  }
  await root.put(FORM_KEY, Buffer.from(FORM))
}

/** A new file survives a power cut only if the folder that names it is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
