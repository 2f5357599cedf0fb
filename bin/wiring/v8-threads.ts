/** Lets the threads that help V8 collect garbage and compile give way to the thread of the requests. */

import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Where the system shows a process its own threads: Linux only. */
const THREADS = '/proc/self/task'
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

function isHelper(thread: string): boolean {
  return HELPER.test(readFileSync(`${THREADS}/${thread}/comm`, 'utf8'))
}
