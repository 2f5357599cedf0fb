/**
 * Keeps a data folder to one process with a lock that the kernel releases when its holder ends, however it ends.
 *
 * Linux takes two locks. An abstract socket named after the folder's device and inode needs no installed program, and
 * holds within one network namespace. `flock(1)`, if it is installed, locks the open file it inherits; that lock
 * belongs to our descriptor, outlives the command and holds across containers that share a volume. On macOS, `open`
 * itself takes the lock. The code never checks whether a process ID is alive, so a recycled ID can neither lock out nor
 * let in anything; the ID in the file is only for the message.
 */

import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { open, readFile, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { makePrivateFolder } from '../folders.ts'

interface FolderLock {
  /** Releases the folder; a second call does nothing. */
  release(): Promise<void>
}

/** Another process (or another part of this one) uses the folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse'
}

const LOCK_FILE = 'whence.lock'
/** Darwin's `O_EXLOCK`, which Node does not name. */
const DARWIN_O_EXLOCK = 0x20
/** The holder writes its process ID right after locking; a reader in between retries this often. */
const HOLDER_READS = { count: 5, pauseMs: 20 }

type Taken = { readonly free: () => Promise<void> } | 'held' | 'unsupported'

/**
 * Locks `folder` for this process, creating it if need be.
 * @throws DataFolderInUse naming the folder and the holder's process ID
 */
export async function lockDataFolder(folder: string): Promise<FolderLock> {
  makePrivateFolder(folder)
  const path = join(folder, LOCK_FILE)
  const file = await openLockFile(path)
  const taken = file === 'held' ? 'held' : await takeLock(file, folder)
  if (taken === 'held' || file === 'held') {
    if (file !== 'held') await file.close()
    throw new DataFolderInUse(`${folder} is in use by ${await describeHolder(path)}`)
  }
  if (taken === 'unsupported') {
    await file.close()
    throw new Error(`${folder} cannot be locked: this platform offers no lock that ends with its holder`)
  }
  await file.truncate(0)
  await file.write(`${process.pid}\n`, 0)
  return releaseOnce(file, taken.free)
}

function releaseOnce(file: FileHandle, free: () => Promise<void>): FolderLock {
  let released: Promise<void> | null = null
  const release = async (): Promise<void> => {
    await file.truncate(0)
    await file.close()
    await free()
  }
  return { release: () => (released ??= release()) }
}

async function openLockFile(path: string): Promise<FileHandle | 'held'> {
  const flags = constants.O_RDWR | constants.O_CREAT
  if (process.platform !== 'darwin') return open(path, flags, 0o600)
  try {
    return await open(path, flags | DARWIN_O_EXLOCK | constants.O_NONBLOCK, 0o600)
  } catch (error) {
    if (errorCode(error) === 'EAGAIN') return 'held'
    throw error
  }
}

async function takeLock(file: FileHandle, folder: string): Promise<Taken> {
  if (process.platform === 'darwin') return { free: async () => undefined }
  if (process.platform !== 'linux') return 'unsupported'
  const socket = await takeWithSocket(folder)
  if (socket === 'held') return 'held'
  const flock = await takeWithFlock(file)
  if (flock === 'unsupported') return socket
  if (flock === 'held' && socket !== 'unsupported') await socket.free()
  return flock === 'held' || socket === 'unsupported' ? flock : socket
}

/** `flock` given a number locks that descriptor's open file and ends; status 1 means that the lock is taken. */
function takeWithFlock(file: FileHandle): Promise<Taken> {
  return new Promise((resolve) => {
    const child = spawn('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', file.fd] })
    child.once('error', () => resolve('unsupported'))
    child.once('exit', (status) => {
      if (status === 0) resolve({ free: async () => undefined })
      else resolve(status === 1 ? 'held' : 'unsupported')
    })
  })
}

async function takeWithSocket(folder: string): Promise<Taken> {
  const { dev, ino } = await stat(folder)
  const server = createServer((socket) => socket.destroy())
  server.unref()
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(errorCode(error) === 'EADDRINUSE' ? 'held' : 'unsupported'))
    server.listen(`\0whence-data-folder-${dev}-${ino}`, () => resolve({ free: () => closeServer(server) }))
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

async function describeHolder(path: string): Promise<string> {
  for (let read = 0; read < HOLDER_READS.count; read++) {
    const processId = (await readFile(path, 'utf8')).trim()
    if (processId !== '') return `process ${processId}`
    await sleep(HOLDER_READS.pauseMs)
  }
  return 'a process of unknown ID'
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
