/** Whether the engine may be told to lower the priority of its threads for a while. */

import { getPriority, setPriority } from 'node:os'

/**
 * Tries it on the calling thread. The engine itself only looks whether the process has `CAP_SYS_NICE`, which says nothing in a user
 * namespace (an unprivileged container), and ends the process if the priority of a thread then cannot be raised again.
 */
export function mayRaisePriority(): boolean {
  const own = getPriority()
  try {
    setPriority(own - 1)
    setPriority(own)
    return true
  } catch {
    return false
  }
}
