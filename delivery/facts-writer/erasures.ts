/** What has been erased, which every writer of facts must know before it writes. */

import { sha256Hex } from '../../common/digest.ts'
import { referenceHash } from '../../domain/logs/references.ts'
import { websiteOfRecord, withoutErased } from '../../domain/logs/names.ts'
import type { LogRecord } from '../../domain/records.ts'
import type { ErasedName } from '../../ports/facts/erasure/names.ts'
import type { Facts } from '../../ports/facts/facts.ts'

/** An installation, a visit or an event by the digest under which it is remembered as erased. */
export function erasedName(website: string, id: string): ErasedName {
  return { website, digest: sha256Hex(`${website}\n${id}`), reference: referenceHash(id) }
}

export interface Erasures {
  /**
   * Reads what was erased since the last call; called before each batch. An erasure waits until everything then on the log has
   * been written, so every later batch knows about it. Rejects with `FactsUnavailable`.
   */
  readonly refresh: () => Promise<void>
  /** The parts of a record that may be kept: null if it names something that was erased. */
  readonly kept: (record: LogRecord) => LogRecord | null
}

/** How many there have been; it changes with each. Rejects like `Facts`. */
export async function countErasures(facts: Pick<Facts, 'run'>): Promise<number> {
  const [row] = await facts.run('erasureCount', {})
  return row?.rows ?? 0
}

export function createErasures(facts: Pick<Facts, 'run'>): Erasures {
  let known = 0
  let digests: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  return {
    refresh: async () => {
      const rows = await countErasures(facts)
      if (rows === known) return
      const byWebsite = Map.groupBy(await facts.run('erasures', {}), ({ website }) => website)
      digests = new Map([...byWebsite].map(([website, own]) => [website, new Set(own.map(({ digest }) => digest))]))
      known = rows
    },
    kept: (record) => {
      const website = websiteOfRecord(record)
      const own = digests.get(website)
      return own === undefined ? record : withoutErased(record, (id) => own.has(erasedName(website, id).digest))
    },
  }
}
