/** The folder that a process keeps its data in. */

import { makePrivateFolder } from '../../ports/shared/folders.ts'
import type { Logger } from '../../runtime/logger.ts'

/**
 * Makes it, or closes it to other users; warns if it is open and not ours to close.
 * @throws Error that names the folder
 */
export function openDataFolder(folder: string, logger: Logger): void {
  if (makePrivateFolder(folder) === 'open')
    logger.warn({ folder }, 'other users can read the data folder, which is mounted or not ours: close it to them')
}
