/** What has been erased, which every writer of facts must know before it writes. */

import { sha256Hex } from '../../common/digest.ts'
import { referenceHash } from '../../domain/logs/references.ts'
import { momentOfRecord, ownerOfRecord, withoutErased } from '../../domain/logs/names.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { ownerKey, type LogRecord } from '../../domain/records.ts'
import { isErasedWhole, type ErasedName } from '../../ports/facts/erasure/names.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'

/** An installation, a visit or an event by the digest under which it is remembered as erased. */
export function erasedName({ organization, website }: OwnedWebsite, id: string): ErasedName {
  const digest = sha256Hex(`${organization}\n${website}\n${id}`)
  return { organization, website, digest, reference: referenceHash(id) }
}

export interface Erasures {
  /**
   * Reads what was erased since the last call; called before each batch. An erasure waits until everything then on the log has
   * been written, so every later batch knows about it. Rejects with `FactsUnavailable`.
   */
  readonly refresh: () => Promise<void>
  /** The parts of a record that may be kept: null if it names something that was erased. */
  readonly kept: (record: LogRecord) => LogRecord | null
  /** Whether one of these IDs was erased. */
  readonly haveErased: (owner: OwnedWebsite, ids: readonly string[]) => boolean
}

/** How many there have been; it changes with each. Rejects like `Facts`. */
export async function countErasures(facts: FactsReader): Promise<number> {
  const [row] = await facts.run('erasureCount', {})
  return row?.rows ?? 0
}

export function createErasures(facts: FactsReader): Erasures {
  let known = 0
  let digests: ReadonlyMap<string, ReadonlySet<string>> = new Map()
  /** Until when organisations were erased as a whole, Unix ms. */
  let wholes: ReadonlyMap<string, number> = new Map()
  const haveErased = (owner: OwnedWebsite, ids: readonly string[]): boolean => {
    const own = digests.get(ownerKey(owner))
    return own !== undefined && ids.some((id) => own.has(erasedName(owner, id).digest))
  }
  return {
    haveErased,
    refresh: async () => {
      const rows = await countErasures(facts)
      if (rows === known) return
      const all = await facts.run('erasures', {})
      wholes = new Map(all.filter(isErasedWhole).map((row) => [row.organization, row.erased_at_ms]))
      const byOwner = Map.groupBy(all, ownerKey)
      digests = new Map([...byOwner].map(([owner, own]) => [owner, new Set(own.map(({ digest }) => digest))]))
      known = rows
    },
    kept: (record) => {
      const owner = ownerOfRecord(record)
      if (momentOfRecord(record) <= (wholes.get(owner.organization) ?? -1)) return null
      return digests.has(ownerKey(owner)) ? withoutErased(record, (id) => haveErased(owner, [id])) : record
    },
  }
}
