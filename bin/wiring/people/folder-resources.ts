/** What the embedded program keeps in its folder of manifests: members, organisations, and who changed what. */

import { join } from 'node:path'

import { startFolderAudit } from '../../../dashboard/resources/folder-audit.ts'
import { folderDirectory } from '../../../dashboard/resources/folder-directory.ts'
import { folderInventory } from '../../../dashboard/resources/folder-inventory.ts'
import { startFolderTidying } from '../../../dashboard/resources/folder-tidying.ts'
import { folderWriter } from '../../../dashboard/resources/folder-writer.ts'
import { hotStatePins } from '../../../dashboard/sign-in/pins.ts'
import type { LogWriter } from '../../../ports/event-log/event-log.ts'
import type { OnceVerbs } from '../../../ports/hot-state/session-verbs.ts'
import type { FolderCatalog } from '../../../runtime/catalog/source.ts'
import type { Keyring } from '../../../runtime/keyring.ts'
import { createRandomness } from '../../../runtime/random.ts'
import type { SettingsNamed } from '../../../runtime/settings/settings-of.ts'
import type { Process } from '../process.ts'
import type { DashboardResources } from './dashboard.ts'

interface Places extends SettingsNamed<'manifests' | 'dashboardFolder'> {
  /** Where `${NAME}` inside Secrets is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export function folderResources(
  { manifests: folder, dashboardFolder: written, env }: Places,
  catalog: FolderCatalog,
  hotState: OnceVerbs,
  nowMs: () => number,
): DashboardResources {
  const { content, repairs, refresh } = catalog
  return {
    directory: folderDirectory(catalog),
    inventory: folderInventory(catalog, nowMs),
    writer: folderWriter({ folder, written, env, catalog: { content, repairs, refresh }, nowMs }),
    pins: hotStatePins(hotState),
  }
}

/** To be started before anything writes there. */
export async function startTidying(
  { lifecycle, logger, nowMs }: Process,
  written: string,
  catalog: FolderCatalog,
  { writer }: DashboardResources,
): Promise<void> {
  await lifecycle.start(
    'tidying of the folder',
    () => startFolderTidying({ catalog, writer, nowMs, logger, written }),
    (tidying) => tidying.close(),
  )
}

/** Records who changed what. */
export async function startAudit(
  { lifecycle, logger, nowMs }: Process,
  data: string,
  catalog: FolderCatalog,
  { eventLog, keys }: { readonly eventLog: LogWriter; readonly keys: Keyring },
): Promise<void> {
  const { changeHash } = keys
  const file = join(data, 'audit.json')
  await lifecycle.start(
    'audit',
    () =>
      startFolderAudit({
        catalog,
        file,
        eventLog,
        changeHash,
        stamps: { nowMs, randomness: createRandomness() },
        logger,
      }),
    (audit) => audit.close(),
  )
}
