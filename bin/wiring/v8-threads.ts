/** Lets other threads give way to the thread of the requests: those that help V8 collect garbage and compile, and the thread of reads. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Where the system shows a process its own threads: Linux only. */
const THREADS = '/proc/self/task'
const THIS_THREAD = '/proc/thread-self'
/** As Node names them. */
const HELPER = /^V8Worker/
/** Of nice: beside one busy thread, four of them then get a third of a core; otherwise they get most of it. */
const LATER = 10
const LOWEST = 19

/**
 * V8 has four of them, however few cores there are: on one core, marking a heap kept requests waiting for 140 ms. If another core is
 * free, they are as fast as before. Does nothing if the system shows no threads or does not let a process change their priority.
 */
export function yieldV8Threads(): void {
  try {
    const priority = Math.min(getPriority() + LATER, LOWEST)
    for (const thread of readdirSync(THREADS)) if (isHelper(thread)) setPriority(Number(thread), priority)
  } catch {
    return
  }
}

/** The calling thread, which is not that of the requests, gives way to it, too. Linux only. */
export function yieldThisThread(): void {
  try {
    const thread = Number(readlinkSync(THIS_THREAD).split('/').at(-1))
    setPriority(thread, Math.min(getPriority(thread) + LATER, LOWEST))
  } catch {
    return
  }
}

function isHelper(thread: string): boolean {
  return HELPER.test(readFileSync(`${THREADS}/${thread}/comm`, 'utf8'))
}
