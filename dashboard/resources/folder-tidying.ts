/**
 * Keeps the folder that the dashboard writes free of what nothing needs: Secrets that no object refers to any more, by the rule that
 * the operator of a cluster has, and what a crash left of writes.
 */

import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { every, type Repetition } from '../../common/every.ts'
import { memberOf } from '../../domain/strict-json.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { DASHBOARD_SECRET_TYPE } from '../../domain/resources/envelope.ts'
import { createUnusedSecrets, secretReferences, type UnusedSecret } from '../../domain/resources/secret-use.ts'
import { isManifestName, isWritten, WRITTEN_PREFIX } from '../../runtime/catalog/manifests.ts'
import type { FolderCatalog, FolderView } from '../../runtime/catalog/source.ts'
import type { Logger } from '../../runtime/logger.ts'
import { fileOf } from './folder-inventory.ts'
import { REMOVED, TEMPORARY, TIME_DIGITS } from './folder-writer.ts'
import type { ResourceWriter } from './writer.ts'
import { readManifest } from '../../domain/resources/envelope.ts'

interface FolderTidyingParts {
  readonly catalog: Pick<FolderCatalog, 'latest' | 'problems' | 'refresh'>
  readonly writer: Pick<ResourceWriter, 'read' | 'remove'>
  readonly nowMs: () => number
  readonly logger: Logger
}

const EVERY_MS = 5 * MINUTE_MS

interface FolderTidying {
  /** Deletes the Secrets that are due; resolves with their number. It is called regularly. */
  readonly removeUnused: () => Promise<number>
  readonly close: Repetition['close']
}

/** To be started before anything writes there. */
export async function startFolderTidying(
  parts: FolderTidyingParts & { readonly written: string },
): Promise<FolderTidying> {
  await removeLeftovers(parts.written).catch((error: unknown) =>
    parts.logger.warn({ err: error }, 'what a crash left in the folder of the dashboard was not deleted'),
  )
  const removeUnused = createUnusedRemoval(parts)
  // The time of a Secret counts from when it was first seen without use.
  const { close } = every(EVERY_MS, async () => void (await removeUnused()), {
    onFailure: (error) =>
      parts.logger.warn({ err: error, task: 'delete_unused_secrets' }, 'unused Secrets were not deleted'),
  })
  return { removeUnused, close }
}

function createUnusedRemoval({ catalog, writer, nowMs, logger }: FolderTidyingParts): () => Promise<number> {
  const unused = createUnusedSecrets()
  return async () => {
    // An object that cannot be read may refer to a Secret.
    if (!isWholeFolder(catalog)) {
      unused.startOver()
      return 0
    }
    const { made, referred } = secretsInFolder(catalog.latest())
    let deleted = 0
    const due = unused.due(made, referred, nowMs())
    // What was written a moment ago may refer to one of them.
    if (due.length > 0 && !((await catalog.refresh()) && isWholeFolder(catalog))) return 0
    for (const { uid, ...secret } of due) {
      const [namespace = '', name = ''] = secret.key.split('/')
      const stored = await writer.read({ kind: 'Secret', namespace, name })
      // Somebody may have referred to it while others were deleted.
      if (stored?.managedBy !== null || secretsInFolder(catalog.latest()).referred.has(secret.key)) continue
      if ((await writer.remove(stored, stored.version)).kind !== 'written') continue
      logger.info({ secret: secret.key, file: uid }, 'deleted a Secret of the dashboard that nothing refers to')
      deleted += 1
    }
    return deleted
  }
}

function isWholeFolder({ latest, problems }: FolderTidyingParts['catalog']): boolean {
  const isUnread = problems().some(({ reason }) => reason === 'InvalidYaml' || reason === 'FolderUnreadable')
  return !isUnread && latest().compilation.isAccepted
}

/** Of any object that refers to Secrets, whether or not it was accepted. */
function secretsInFolder({ objects }: FolderView): {
  readonly made: readonly UnusedSecret[]
  readonly referred: ReadonlySet<string>
} {
  const made: UnusedSecret[] = []
  const referred = new Set<string>()
  for (const { value, locate } of objects) {
    const { kind, namespace, name, spec } = readManifest(value)
    for (const reference of secretReferences(spec)) referred.add(`${namespace}/${reference.name}`)
    if (kind !== 'Secret' || memberOf(value, 'type') !== DASHBOARD_SECRET_TYPE || name === '') continue
    const file = fileOf(locate(''))
    if (!isWritten(file)) continue
    const createdAtMs = Number(file.slice(WRITTEN_PREFIX.length).slice(0, TIME_DIGITS))
    if (Number.isFinite(createdAtMs)) made.push({ key: `${namespace}/${name}`, uid: file, createdAtMs })
  }
  return { made, referred }
}

/** Files that were never put in place, which may hold credentials, and such that only say that an object was deleted. */
async function removeLeftovers(written: string): Promise<void> {
  for (const name of await readdir(written).catch(() => [])) {
    const path = join(written, name)
    const isLeft = TEMPORARY.test(name) || (isManifestName(name) && (await isRemoved(path)))
    if (isLeft) await rm(path, { force: true })
  }
}

async function isRemoved(path: string): Promise<boolean> {
  return (await stat(path)).size === REMOVED.length && (await readFile(path, 'utf8')) === REMOVED
}
