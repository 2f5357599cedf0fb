/** Opens LMDB stores in temporary folders for the contract suites, with a clock that tests set. */

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'

export interface TestClock {
  nowMs: () => number
  set: (ms: number) => void
}

/** Starts in November 2026, in the middle of a minute. */
export function testClock(startMs = Date.UTC(2026, 10, 5, 12, 0, 30)): TestClock {
  let now = startMs
  return { nowMs: () => now, set: (ms) => (now = ms) }
}

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'whence-lmdb-'))
}

export async function deleteFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}

/** A failure that a test did not cause is an error. */
export function openTestEnvironment(folder: string, nowMs: () => number): Promise<LmdbEnvironment> {
  const onFatal = (error: Error): void => {
    setImmediate(() => {
      throw error
    })
  }
  return openLmdb(folder, { nowMs, onFatal, minFreeBytes: 0 })
}

/** Holds LMDB's write lock from another process; it is killed to give the lock back, as a crash would. */
export async function holdWriteLock(folder: string): Promise<() => Promise<void>> {
  const script = `
    import { open } from 'lmdb'
    const root = open({ path: ${JSON.stringify(folder)}, noSubdir: false, overlappingSync: false, maxDbs: 12 })
    root.transactionSync(() => {
      process.stdout.write('held')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)
    })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve())
    child.once('exit', (status) => reject(new Error(`the lock holder ended with ${status}`)))
  })
  return async () => {
    child.kill('SIGKILL')
    await ended
  }
}
