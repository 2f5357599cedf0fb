/** Gives the catalogs of a folder their numbers, and keeps the last one in a file beside the data. */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'

import { nextCatalogNumber } from '../../domain/published/catalog-number.ts'
import type { Logger } from '../logger.ts'

/** Its name in the folder of data. */
export const CATALOG_NUMBER_FILE = 'catalog-number'

interface NumberingOptions {
  /** Null or absent: nothing is kept, and the clock alone says how numbers grow from one process to the next. */
  readonly numberFile?: string | null
  readonly nowMs: () => number
  readonly logger: Logger
}

interface CatalogNumbers {
  /** The number of a catalog that comes into force now. It is on disk before any work can carry it. */
  readonly next: () => number
}

export function catalogNumbers({ numberFile: file = null, nowMs, logger }: NumberingOptions): CatalogNumbers {
  let last = file === null ? 0 : readNumber(file)
  return {
    next: () => {
      last = nextCatalogNumber(last, nowMs())
      if (file !== null) keepNumber(file, last, logger)
      return last
    },
  }
}

/** 0 if there is none yet, or none that can be read: the clock is then the number. */
function readNumber(file: string): number {
  try {
    const number = Number(readFileSync(file, 'utf8'))
    return Number.isSafeInteger(number) && number > 0 ? number : 0
  } catch {
    return 0
  }
}

/** A catalog is in force whether or not this succeeds: only after a step back of the clock would it be missed. */
function keepNumber(file: string, number: number, logger: NumberingOptions['logger']): void {
  try {
    const descriptor = openSync(`${file}.new`, 'w', 0o600)
    try {
      writeSync(descriptor, `${number}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(`${file}.new`, file)
  } catch (error) {
    logger.warn({ err: error }, 'the number of the catalog could not be kept on disk')
  }
}
