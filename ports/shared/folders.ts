/** Makes folders for data and secrets, keeps other users out, and reports which folder cannot be made. */

import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Whatever the umask is: only the service's own user may read facts, copies of the catalog and secrets. */
const OWN_MODE = 0o700
const GROUP_AND_OTHERS = 0o077
const OTHERS = 0o007
const OTHERS_WRITE = 0o002
const SET_GROUP_ID = 0o2000
const PERMISSIONS = 0o7777

/** Files that this service puts into its folders. A folder that holds only other things may be anything, such as `/tmp`. */
const OUR_ENTRY =
  /^(audit\.json|catalog-.*\.json|chdb|data\.mdb|inbox|lmdb|secret|spool|tools|tools\.sock|whence\.lock)$/

/** `open`: other users can read it, and it is not ours to change. */
type FolderPrivacy = 'private' | 'open'

/**
 * Makes a folder and its missing parents, for this user only. Level by level: Node's own recursion never ends if a file
 * system refuses new names as if their parent were missing, as /proc does.
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
      // Another process may have created it meanwhile.
      if (code !== 'EEXIST') throw new Error(`the folder ${path} cannot be made (${code})`, { cause: error })
    }
  }
}

/**
 * Makes a folder that other users cannot read; an existing one of ours is closed to them. Mounts, and folders that are
 * not ours, stay as they are.
 * @throws Error if it cannot be made, or if it is not a mount and everyone may write to it: they could replace our files
 */
export function makePrivateFolder(path: string): FolderPrivacy {
  makeFolder(path)
  const { mode, uid, dev } = statSync(path)
  // kubelet hands over a volume through its group and this bit: then the group is this user's.
  const isHandedOver = (mode & SET_GROUP_ID) !== 0
  const excess = mode & (isHandedOver ? OTHERS : GROUP_AND_OTHERS)
  if (excess === 0) return 'private'
  const isMount = statSync(dirname(resolve(path))).dev !== dev
  if (!isMount && uid === process.getuid?.() && isOurFolder(path)) {
    chmodSync(path, mode & PERMISSIONS & ~excess)
    return 'private'
  }
  if (!isMount && (mode & OTHERS_WRITE) !== 0)
    throw new Error(`every user may write to the folder ${path}: choose one that only this user can write to`)
  return isHandedOver || (mode & OTHERS) === 0 ? 'private' : 'open'
}

function isOurFolder(folder: string): boolean {
  const names = readdirSync(folder)
  return names.length === 0 || names.some((name) => OUR_ENTRY.test(name))
}
