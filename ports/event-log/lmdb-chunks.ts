/**
 * How entries lie in LMDB: one value (a chunk) holds many entries of one topic.
 *
 * Key: topic, a zero byte, the first entry's offset (6 bytes, big-endian). Value: format (1 byte), time in Unix ms
 * (8 bytes, a double), count (4 bytes), then per entry the lengths of key (2 bytes) and value (4 bytes) and both in
 * UTF-8; numbers are big-endian. One value per entry cost twice the CPU at 64 appends in flight and held 1,024 in
 * flight to a third of the rate (bench/event-log.ts).
 */

import type { Entry, StoredEntry } from './event-log.ts'

export interface Chunk {
  readonly firstOffset: number
  /** Offset after the last entry. */
  readonly endOffset: number
  readonly appendedAtMs: number
  readonly entries: readonly StoredEntry[]
}

const FORMAT = 1
const HEAD_BYTES = 13
const ENTRY_HEAD_BYTES = 6
const OFFSET_BYTES = 6
const MAX_KEY_BYTES = 0xffff

/** Bytes an entry takes within a chunk. */
export function entryBytes({ key, value }: Entry): number {
  return ENTRY_HEAD_BYTES + Buffer.byteLength(key) + Buffer.byteLength(value)
}

/** Puts entries into one value; `bytes` is the sum of their `entryBytes`. */
export function encodeChunk(entries: readonly Entry[], bytes: number, appendedAtMs: number): Buffer {
  // Not from the pool: lmdb reads the memory from another thread, and a slab of its own is registered there once.
  const chunk = Buffer.allocUnsafeSlow(HEAD_BYTES + bytes)
  chunk[0] = FORMAT
  chunk.writeDoubleBE(appendedAtMs, 1)
  chunk.writeUInt32BE(entries.length, 9)
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

/** Reads a value back; throws on a format this version does not know. */
export function decodeChunk(chunk: Buffer, firstOffset: number): Chunk {
  if (chunk[0] !== FORMAT) throw new Error(`log chunk of unknown format ${chunk[0]}`)
  const appendedAtMs = chunk.readDoubleBE(1)
  const count = chunk.readUInt32BE(9)
  const entries: StoredEntry[] = []
  let at = HEAD_BYTES
  for (let index = 0; index < count; index++) {
    const keyAt = at + ENTRY_HEAD_BYTES
    const valueAt = keyAt + chunk.readUInt16BE(at)
    const endAt = valueAt + chunk.readUInt32BE(at + 2)
    entries.push({
      key: chunk.toString('utf8', keyAt, valueAt),
      value: chunk.toString('utf8', valueAt, endAt),
      offset: firstOffset + index,
      appendedAtMs,
    })
    at = endAt
  }
  return { firstOffset, endOffset: firstOffset + count, appendedAtMs, entries }
}

/** What `decodeChunk` would say of its place and time, without its entries. */
export function chunkSpan(chunk: Buffer, firstOffset: number): Omit<Chunk, 'entries'> {
  return { firstOffset, endOffset: firstOffset + chunk.readUInt32BE(9), appendedAtMs: chunk.readDoubleBE(1) }
}

/** True where the entry's key fits its length field. */
export function isKeyShort({ key }: Entry): boolean {
  return key.length <= MAX_KEY_BYTES / 3 || Buffer.byteLength(key) <= MAX_KEY_BYTES
}

export function chunkKey(topic: string, firstOffset: number): Buffer {
  const prefixBytes = Buffer.byteLength(topic) + 1
  const key = Buffer.alloc(prefixBytes + OFFSET_BYTES)
  key.write(topic)
  key.writeUIntBE(firstOffset, prefixBytes, OFFSET_BYTES)
  return key
}

export function topicOfKey(key: Buffer): string {
  return key.toString('utf8', 0, key.length - OFFSET_BYTES - 1)
}

export function offsetOfKey(key: Buffer): number {
  return key.readUIntBE(key.length - OFFSET_BYTES, OFFSET_BYTES)
}

/** Keys of a topic lie from the first up to but without the second. */
export function topicBounds(topic: string): { readonly start: Buffer; readonly end: Buffer } {
  return { start: Buffer.from(`${topic}\0`), end: Buffer.from(`${topic}\x01`) }
}
