/** Makes folders for data and secrets, keeps other users out of them, and says plainly which one cannot be made. */

import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Whatever the umask is: facts, copies of the catalog and secrets are for the service's own user. */
const OWN_MODE = 0o700
const GROUP_AND_OTHERS = 0o077
const OTHERS = 0o007
const OTHERS_WRITE = 0o002
const SET_GROUP_ID = 0o2000
const PERMISSIONS = 0o7777

/** What lies in folders of ours: one that holds other things alone may be anything, `/tmp` for example. */
const OUR_ENTRY = /^(catalog-.*\.json|chdb|data\.mdb|inbox|lmdb|secret|spool|tools|tools\.sock|whence\.lock)$/

/** `open`: other users can look into it, and it is not ours to change. */
export type FolderPrivacy = 'private' | 'open'

/**
 * Makes a folder and those above it that are missing, for this user alone. Level by level: Node's own recursion never ends
 * where a file system refuses new names as if their parent were missing, which /proc does.
 * @throws Error that names the folder and the system's code
 */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let folder = resolve(path); !existsSync(folder); folder = dirname(folder)) missing.push(folder)
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, { mode: OWN_MODE })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      // Another process may have made it in between.
      if (code !== 'EEXIST') throw new Error(`the folder ${path} cannot be made (${code})`, { cause: error })
    }
  }
}

/**
 * Makes a folder that other users cannot look into; one that is there and ours is closed to them. What is mounted belongs to
 * whoever mounts it and stays as it is, as does what is not ours.
 * @throws Error where it cannot be made, or is no mount and everybody may write to it: they could put theirs in place of ours
 */
export function makePrivateFolder(path: string): FolderPrivacy {
  makeFolder(path)
  const { mode, uid, dev } = statSync(path)
  // kubelet hands a volume over by its group and this bit: then the group is us.
  const isHandedOver = (mode & SET_GROUP_ID) !== 0
  const excess = mode & (isHandedOver ? OTHERS : GROUP_AND_OTHERS)
  if (excess === 0) return 'private'
  const isMount = statSync(dirname(resolve(path))).dev !== dev
  if (!isMount && uid === process.getuid?.() && isOurs(path)) {
    chmodSync(path, mode & PERMISSIONS & ~excess)
    return 'private'
  }
  if (!isMount && (mode & OTHERS_WRITE) !== 0)
    throw new Error(`everybody may write to the folder ${path}: name one that is for this user alone`)
  return isHandedOver || (mode & OTHERS) === 0 ? 'private' : 'open'
}

function isOurs(folder: string): boolean {
  const names = readdirSync(folder)
  return names.length === 0 || names.some((name) => OUR_ENTRY.test(name))
}
