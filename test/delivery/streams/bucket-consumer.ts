/** A consumer of a bucket: reads the objects below its folder in the order in which they were written. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

import type { ReceivedRecord } from './receiver.ts'

export interface BucketContents {
  readonly objects: number
  /** All lines, those that came again too. */
  readonly records: readonly ReceivedRecord[]
}

/** An object that is written again is equal, and comes before all that follow it, so the last time it was written counts. */
export async function readBucket(folder: string): Promise<BucketContents> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ndjson.gz'))
    .map(({ parentPath, name }) => join(parentPath, name))
  const times = new Map<string, bigint>()
  for (const file of files) times.set(file, (await stat(file, { bigint: true })).mtimeNs)
  const inOrder = files.toSorted((a, b) => ((times.get(a) ?? 0n) < (times.get(b) ?? 0n) ? -1 : 1))
  const records: ReceivedRecord[] = []
  for (const file of inOrder) {
    const lines = gunzipSync(await readFile(file))
      .toString()
      .trimEnd()
      .split('\n')
    records.push(...lines.map((line) => JSON.parse(line) as ReceivedRecord))
  }
  return { objects: files.length, records }
}

/** The first of each ID, in order. */
export function heldOnce(records: readonly ReceivedRecord[]): readonly ReceivedRecord[] {
  const seen = new Set<string>()
  return records.filter(({ id }) => !seen.has(id) && seen.add(id) !== undefined)
}
