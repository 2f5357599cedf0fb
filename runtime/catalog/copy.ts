/** Saves the last good catalog in a file, so that a process can start while the cluster's API is unreachable. */

import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import { makePrivateFolder } from '../../ports/shared/folders.ts'
import type { Logger } from '../logger.ts'
import { isNumber, isText, listOf, parsedAs, shapeOf } from '../../domain/guards.ts'

/** A whole catalog as the cluster holds it, without credentials. */
interface KeptCatalog {
  readonly version: string
  readonly number: number
  readonly shards: readonly string[]
}

const isKept = shapeOf<KeptCatalog>({ version: isText, number: isNumber, shards: listOf(isText) })

interface CatalogCopy {
  /** Null if there is no readable one. */
  readonly read: () => Promise<KeptCatalog | null>
  /** Writes it soon; of several in quick succession only the last. */
  readonly keep: (catalog: KeptCatalog) => void
  /** Resolves once everything is saved. */
  readonly close: () => Promise<void>
}

/** Busy clusters change often; a copy that is a second old is good enough. */
const REST_MS = 1_000
/** A large catalog that keeps changing is saved less often: writing takes at most a hundredth of the time. */
const REST = 100
const MAX_REST_MS = 60_000

export function createCatalogCopy(file: string, logger: Logger): CatalogCopy {
  let waiting: KeptCatalog | null = null
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let tookMs = 0
  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    const catalog = waiting
    waiting = null
    if (catalog === null) return
    writing = writing.then(async () => {
      const startedAtMs = performance.now()
      await replace(file, JSON.stringify(catalog), logger)
      tookMs = performance.now() - startedAtMs
    })
  }
  return {
    read: () => readCopy(file),
    keep: (catalog) => {
      waiting = catalog
      timer ??= setTimeout(write, Math.min(MAX_REST_MS, Math.max(REST_MS, REST * tookMs)))
    },
    close: () => {
      write()
      return writing
    },
  }
}

/** Writes a new file and renames it over the old one, so that a crash leaves one of the two. */
async function replace(file: string, text: string, logger: Logger): Promise<void> {
  try {
    makePrivateFolder(dirname(file))
    await writeFile(`${file}.new`, text, { mode: 0o600 })
    await rename(`${file}.new`, file)
  } catch (error) {
    logger.warn({ err: error }, 'catalog could not be kept on disk')
  }
}

async function readCopy(file: string): Promise<KeptCatalog | null> {
  try {
    return parsedAs(isKept, await readFile(file, 'utf8'))
  } catch {
    return null
  }
}
