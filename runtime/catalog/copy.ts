/** Keeps the last good catalog in a file, so that a process can start while the cluster's API is away. */

import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import { makePrivateFolder } from '../../ports/folders.ts'
import type { Logger } from '../logger.ts'

/** A whole catalog as the cluster holds it, without credentials. */
export interface KeptCatalog {
  readonly version: string
  readonly shards: readonly string[]
}

export interface CatalogCopy {
  /** Null where there is none that can be read. */
  readonly read: () => Promise<KeptCatalog | null>
  /** Writes it soon; of several in short order only the last. */
  readonly keep: (catalog: KeptCatalog) => void
  /** Resolves once what was to be kept is kept. */
  readonly close: () => Promise<void>
}

/** Busy clusters change often; a copy that is a second old does as well. */
const REST_MS = 1_000
/** Of a large catalog that changes all the time a still older one: writing takes a hundredth of the time. */
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

/** By a new file that takes the old one's name, so that a crash leaves one of the two. */
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
    const value = JSON.parse(await readFile(file, 'utf8')) as Partial<KeptCatalog> | null
    const { version, shards } = value ?? {}
    return typeof version === 'string' && Array.isArray(shards) ? { version, shards } : null
  } catch {
    return null
  }
}
