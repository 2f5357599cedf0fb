/**
 * What a line of Logs is found by: the IDs that its record names, and the keyed hashes of receipts in its body. They are
 * stored as numbers, because a number takes a quarter of the room of an ID.
 */

import { LIMITS } from '../limits.ts'
import type { LogRecord, RequestLog } from '../records.ts'

const FIRST_SEED = 0x811c9dc5
const FIRST_FACTOR = 0x01000193
const SECOND_SEED = 0x9e3779b9
const SECOND_FACTOR = 0x85ebca77
const HIGH_BITS = 21

/** 53 bits of a hash of a text, which JavaScript and ClickHouse hold exactly. Two texts may share one: not for secrets. */
export function referenceHash(text: string): number {
  let first: number = FIRST_SEED
  let second: number = SECOND_SEED
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    first = Math.imul(first ^ unit, FIRST_FACTOR)
    second = Math.imul(second ^ unit, SECOND_FACTOR)
  }
  return (mixed(second ^ first) >>> (32 - HIGH_BITS)) * 2 ** 32 + mixed(first)
}

/** Spreads each bit over all 32. */
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** The most references of a line: an install with the most receipts has this many, a hash and a visit for each. */
const MOST_REFERENCES = 2 * LIMITS.receiptsPerInstall + 4

/** Hashes of what a request's line is found by, without repeats; none for records without a request. */
export function referencesOf(record: LogRecord): readonly number[] {
  if (!('request' in record)) return []
  const found: number[] = []
  for (const texts of [namesInRecord(record), receiptHashes(record.request.body)]) {
    for (const text of texts) {
      if (found.length === MOST_REFERENCES) return found
      if (text === null || text === '') continue
      const hash = referenceHash(text)
      if (!found.includes(hash)) found.push(hash)
    }
  }
  return found
}

function namesInRecord(record: Extract<LogRecord, { readonly request: RequestLog }>): readonly (string | null)[] {
  switch (record.kind) {
    case 'visit':
      return [record.visit.visitId]
    case 'activation':
      return [record.visitId, record.revokedVisitId]
    case 'handoff':
      return [record.visitId]
    case 'install': {
      const { eventId, installationId, visitId, verdicts } = record.install
      return [eventId, installationId, visitId, ...verdicts.map((each) => each.visitId)]
    }
    case 'request':
      return idsInBody(record.request)
  }
}

const NAMES = /"(?:event_id|installation_id)"\s*:\s*"([A-Za-z0-9_.:-]{1,128})"/g

/** A refused or repeated event left no fact: its IDs are read from its body. */
export function idsInBody({ bodyForm, body }: RequestLog): readonly string[] {
  const mayNameOne = bodyForm !== 'base64' && body.includes('_id"')
  return mayNameOne ? [...body.matchAll(NAMES)].map(([, id = '']) => id) : []
}

const MARK = 'hmac:'
const HASH_CHARS = 32

function receiptHashes(body: string): readonly string[] {
  const hashes: string[] = []
  for (let at = body.indexOf(MARK); at !== -1; at = body.indexOf(MARK, at + HASH_CHARS)) {
    hashes.push(body.slice(at + MARK.length, at + MARK.length + HASH_CHARS))
  }
  return hashes
}
