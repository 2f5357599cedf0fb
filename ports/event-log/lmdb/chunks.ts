/**
 * The form of entries in LMDB: one value (a chunk) holds many entries of one topic.
 *
 * Key: topic, a zero byte, the first entry's offset (6 bytes), the time of the append in Unix ms (6 bytes), so that
 * keys alone show what is old enough to delete. Value: format (1 byte), count (4 bytes), then per entry the lengths of
 * key (2 bytes) and value (4 bytes) and both in UTF-8; numbers are big-endian. One value per entry doubled the CPU time
 * at 64 appends in flight, and cut the rate to a third at 1,024 (bench/event-log.ts).
 */

import type { Entry, StoredEntry } from '../event-log.ts'

export interface Chunk {
  readonly firstOffset: number
  /** Offset after the last entry. */
  readonly endOffset: number
  readonly entries: readonly StoredEntry[]
}

/** A chunk as LMDB stores it. */
interface StoredChunk {
  readonly key: Buffer
  readonly value: Buffer
}

const FORMAT = 1
const HEAD_BYTES = 5
const ENTRY_HEAD_BYTES = 6
const OFFSET_BYTES = 6
const TIME_BYTES = 6
const MAX_KEY_BYTES = 0xffff

/** Bytes an entry takes within a chunk. */
export function entryBytes({ key, value }: Entry): number {
  return ENTRY_HEAD_BYTES + Buffer.byteLength(key) + Buffer.byteLength(value)
}

/** Puts entries into one value; `bytes` is the sum of their `entryBytes`. */
export function encodeChunk(entries: readonly Entry[], bytes: number): Buffer {
  // Not from the pool: lmdb reads the memory from another thread, and registers each separate slab once.
  const chunk = Buffer.allocUnsafeSlow(HEAD_BYTES + bytes)
  chunk[0] = FORMAT
  chunk.writeUInt32BE(entries.length, 1)
  let at = HEAD_BYTES
  for (const { key, value } of entries) {
    const keyBytes = chunk.write(key, at + ENTRY_HEAD_BYTES)
    const valueBytes = chunk.write(value, at + ENTRY_HEAD_BYTES + keyBytes)
    chunk.writeUInt16BE(keyBytes, at)
    chunk.writeUInt32BE(valueBytes, at + 2)
    at += ENTRY_HEAD_BYTES + keyBytes + valueBytes
  }
  return chunk
}

/** Reads a chunk back; throws on an unknown format. */
export function decodeChunk({ key, value }: StoredChunk): Chunk {
  if (value[0] !== FORMAT) throw new Error(`log chunk of unknown format ${value[0]}`)
  const { firstOffset, appendedAtMs } = chunkPlace(key)
  const endOffset = firstOffset + value.readUInt32BE(1)
  const entries: StoredEntry[] = []
  let at = HEAD_BYTES
  for (let offset = firstOffset; offset < endOffset; offset++) {
    const keyAt = at + ENTRY_HEAD_BYTES
    const valueAt = keyAt + value.readUInt16BE(at)
    const endAt = valueAt + value.readUInt32BE(at + 2)
    entries.push({
      key: value.toString('utf8', keyAt, valueAt),
      value: value.toString('utf8', valueAt, endAt),
      offset,
      appendedAtMs,
    })
    at = endAt
  }
  return { firstOffset, endOffset, entries }
}

/** Offset after the chunk's last entry. */
export function endOf({ key, value }: StoredChunk): number {
  return chunkPlace(key).firstOffset + value.readUInt32BE(1)
}

/** True if the entry's key fits its length field. */
export function isKeyShort({ key }: Entry): boolean {
  return key.length <= MAX_KEY_BYTES / 3 || Buffer.byteLength(key) <= MAX_KEY_BYTES
}

export function chunkKey(topic: string, firstOffset: number, appendedAtMs: number): Buffer {
  const time = Buffer.alloc(TIME_BYTES)
  time.writeUIntBE(Math.max(0, Math.trunc(appendedAtMs)), 0, TIME_BYTES)
  return Buffer.concat([seekKey(topic, firstOffset), time])
}

/** Sorts before every key of a chunk that begins at the offset or later, and equals none. */
export function seekKey(topic: string, offset: number): Buffer {
  const prefixBytes = Buffer.byteLength(topic) + 1
  const key = Buffer.alloc(prefixBytes + OFFSET_BYTES)
  key.write(topic)
  key.writeUIntBE(offset, prefixBytes, OFFSET_BYTES)
  return key
}

export function topicOf(key: Buffer): string {
  return key.toString('utf8', 0, key.length - TIME_BYTES - OFFSET_BYTES - 1)
}

/** What a chunk's key contains. */
export function chunkPlace(key: Buffer): { readonly firstOffset: number; readonly appendedAtMs: number } {
  const timeAt = key.length - TIME_BYTES
  return {
    firstOffset: key.readUIntBE(timeAt - OFFSET_BYTES, OFFSET_BYTES),
    appendedAtMs: key.readUIntBE(timeAt, TIME_BYTES),
  }
}

/** Keys of a topic range from the first up to, but not including, the second. */
export function topicBounds(topic: string): { readonly start: Buffer; readonly end: Buffer } {
  return { start: Buffer.from(`${topic}\0`), end: Buffer.from(`${topic}\x01`) }
}
