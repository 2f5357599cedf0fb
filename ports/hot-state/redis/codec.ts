/** How receipts, events and visits are named and encoded in Redis: as few raw bytes as keep them distinct. */

import { hash } from 'node:crypto'

import { BoundedMap } from '../../../common/bounded-map.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { issuedAtOfVisit } from '../../../domain/receipt.ts'

import type { Installation, MatchedVisit, Predecessor, ReceiptRef } from '../hot-state.ts'
import { DAY_MS } from '../../../domain/durations.ts'

const ID_BYTES = 16
/** Far more than the requests in flight need. */
const LATEST_HASHES = 1_000
const VISIT_BYTES = 16
const DAY_BYTES = 4
const TIME_BYTES = 6
const NOTHING = Buffer.alloc(0)
/** As in shared.lua. */
const AWAITS = 3
/** The kind and the time in front of a visit. */
const STAMP_BYTES = 7
/** Marks an unknown predecessor. */
const UNKNOWN_REF = Buffer.alloc(VISIT_BYTES)
const UNKNOWN_PREVIOUS = Buffer.alloc(ID_BYTES + DAY_BYTES + VISIT_BYTES)

/**
 * 16 bytes that identify a receipt: part of a SHA-256, since a visit ID alone may be looked up under another website or owner.
 */
export function receiptId({ organization, website, visitId, issuedAtMs }: ReceiptRef): Buffer {
  return shortHash(`${organization}/${website}/${visitId}/${issuedAtMs}`)
}

/** The UTC day of issue, counted from 1970. */
export function receiptDay({ issuedAtMs }: ReceiptRef): number {
  return Math.max(0, Math.floor(issuedAtMs / DAY_MS))
}

export function eventHash({ organization, website, eventId }: OwnedWebsite & { readonly eventId: string }): Buffer {
  return shortHash(`${organization}/${website}/${eventId}`)
}

export function installationKey(installation: OwnedWebsite & { readonly installationId: string }): Buffer {
  const { organization, website, installationId } = installation
  return shortHash(`${organization}/${website}/${installationId}`)
}

/** ID, day and reference of the receipt that another one replaces; empty for none, zeros if it is unknown. */
export function encodePrevious(previous: Predecessor): Buffer {
  if (previous === null) return NOTHING
  if (previous === 'unknown') return UNKNOWN_PREVIOUS
  const day = Buffer.alloc(DAY_BYTES)
  day.writeUInt32BE(receiptDay(previous))
  return Buffer.concat([receiptId(previous), day, encodeRef(previous)])
}

/** A receipt within one website: its visit ID, and its issue time if the visit ID carries another one. */
function encodeRef({ visitId, issuedAtMs }: ReceiptRef): Buffer {
  const visit = Buffer.from(visitId, 'hex')
  if (visit.length !== VISIT_BYTES) throw new TypeError('a visit ID has 32 hex digits')
  if (issuedAtOfVisit(visitId) === issuedAtMs) return visit
  const time = Buffer.alloc(TIME_BYTES)
  time.writeUIntBE(issuedAtMs, 0, TIME_BYTES)
  return Buffer.concat([visit, time])
}

/** Reads the reference at the end of a value of `encodePrevious`. */
export function decodePredecessor(of: OwnedWebsite, bytes: Buffer): Predecessor {
  return bytes.equals(UNKNOWN_REF) ? 'unknown' : decodeRef(of, bytes)
}

/** Null for no bytes. */
function decodeRef({ organization, website }: OwnedWebsite, bytes: Buffer): ReceiptRef | null {
  if (bytes.length === 0) return null
  const visitId = bytes.toString('hex', 0, VISIT_BYTES)
  const issuedAtMs = bytes.length === VISIT_BYTES ? issuedAtOfVisit(visitId) : bytes.readUIntBE(VISIT_BYTES, TIME_BYTES)
  return { organization, website, visitId, issuedAtMs }
}

export function encodeVisit(visit: MatchedVisit | null): Buffer {
  return visit === null ? NOTHING : Buffer.concat([Buffer.from([visit.gpc ? 1 : 0]), encodeRef(visit)])
}

/** The data of an installation in Redis; null for no bytes. */
export function decodeInstallation(of: OwnedWebsite, bytes: Buffer): Installation | null {
  if (bytes.length === 0) return null
  if (bytes[0] === AWAITS) return { kind: 'pending' }
  const ref = decodeRef(of, bytes.subarray(STAMP_BYTES + 1))
  return ref === null ? null : { kind: 'matched', visit: { ...ref, gpc: bytes[STAMP_BYTES] === 1 } }
}

/** Several verbs in turn name the same event and installation. */
const latestHashes = new BoundedMap<string, Buffer>(LATEST_HASHES)

function shortHash(text: string): Buffer {
  const known = latestHashes.get(text)
  if (known !== undefined) return known
  // As text first: a digest that comes as a buffer costs several times as much.
  const short = Buffer.from(hash('sha256', text, 'binary').slice(0, ID_BYTES), 'latin1')
  latestHashes.set(text, short)
  return short
}
