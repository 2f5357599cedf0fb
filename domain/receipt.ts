/**
 * Receipts and handoff tokens: 32 bytes that prove themselves, so that a forged one costs no look-up.
 *
 * Layout: flags and key ID (1), issue time in ms (6, big-endian), random (5), origin tag (4), MAC (16). A token is its
 * visit's first 16 bytes with the token bit set, under another key, so requesting it twice gives the same token.
 * `docs/receipts.md` and `test/vectors/receipts.json` describe it for other implementations.
 */

import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { LIMITS } from './limits.ts'
import type { OwnedWebsite, VisitId } from './model.ts'

const BODY_BYTES = 16
const TAG_START = 12
const MAC_BYTES = 16
const KEY_ID_BITS = 0b0000_1111
/** All that a receipt can carry. */
export const KEY_IDS: readonly number[] = Array.from({ length: KEY_ID_BITS + 1 }, (_, keyId) => keyId)

const RECEIPT_FLAGS = { token: 0x80, handoffOnly: 0x40, unrecorded: 0x20, gpc: 0x10 } as const
export const TOKEN_PREFIX = 'wht_'
/** What looks like a receipt or a token, genuine or not. */
export const RECEIPT_OR_TOKEN = /^(wht_)?[A-Za-z0-9_-]{43}$/

/** The keyed computations behind receipts; `runtime/keyring.ts` holds the keys and truncates the outputs. */
export interface ReceiptKeys {
  /** Key ID of the secret that signs new receipts. */
  readonly currentKeyId: number
  /** Whether a secret of this key ID is still read. */
  readonly hasKey: (keyId: number) => boolean
  /** 16 bytes over the organisation's ID, a zero byte, the website ID, a zero byte and `body`. */
  readonly mac: (use: 'receipt' | 'token', keyId: number, of: OwnedWebsite, body: Uint8Array) => Uint8Array
  /** 4 bytes over the organisation's ID, a zero byte, the website ID, a zero byte and the origin. */
  readonly originTag: (keyId: number, of: OwnedWebsite, origin: string) => Uint8Array
}

interface NewReceipt extends OwnedWebsite {
  readonly origin: string
  readonly issuedAtMs: number
  /** Exactly 5 random bytes. */
  readonly random: Uint8Array
  readonly isHandoffOnly: boolean
  readonly isUnrecorded: boolean
  readonly gpc: boolean
}

/** The content of a genuine receipt or token. */
export interface ReceiptClaims {
  readonly visitId: VisitId
  readonly issuedAtMs: number
  readonly keyId: number
  readonly isHandoffOnly: boolean
  readonly isUnrecorded: boolean
  readonly gpc: boolean
  /** The first 16 bytes, unchanged. */
  readonly body: Uint8Array
}

export function issueReceipt(
  keys: ReceiptKeys,
  receipt: NewReceipt,
): { readonly text: string; readonly claims: ReceiptClaims } {
  const body = new Uint8Array(BODY_BYTES)
  body[0] =
    keys.currentKeyId |
    (receipt.isHandoffOnly ? RECEIPT_FLAGS.handoffOnly : 0) |
    (receipt.isUnrecorded ? RECEIPT_FLAGS.unrecorded : 0) |
    (receipt.gpc ? RECEIPT_FLAGS.gpc : 0)
  writeTime(body, receipt.issuedAtMs)
  body.set(receipt.random, 7)
  body.set(keys.originTag(keys.currentKeyId, receipt, receipt.origin), TAG_START)
  return { text: seal(keys, 'receipt', receipt, body), claims: claimsOf(body) }
}

/** The token of a visit; `gpc` marks it as requested under Global Privacy Control, and the visit's own mark stays. */
export function issueToken(keys: ReceiptKeys, of: OwnedWebsite, claims: ReceiptClaims, gpc: boolean): string {
  const body = Uint8Array.from(claims.body)
  body[0] = (body[0] ?? 0) | RECEIPT_FLAGS.token | (gpc ? RECEIPT_FLAGS.gpc : 0)
  return TOKEN_PREFIX + seal(keys, 'token', of, body)
}

/** Null for anything that was not signed for this website of this organisation, in canonical spelling. */
export function readReceipt(keys: ReceiptKeys, of: OwnedWebsite, text: string): ReceiptClaims | null {
  const claims = open(keys, 'receipt', of, text)
  return claims !== null && ((claims.body[0] ?? 0) & RECEIPT_FLAGS.token) === 0 ? claims : null
}

export function readToken(keys: ReceiptKeys, of: OwnedWebsite, text: string): ReceiptClaims | null {
  if (!text.startsWith(TOKEN_PREFIX)) return null
  const claims = open(keys, 'token', of, text.slice(TOKEN_PREFIX.length))
  return claims !== null && ((claims.body[0] ?? 0) & RECEIPT_FLAGS.token) !== 0 ? claims : null
}

/** A token without its prefix; a receipt as it is. */
export function sealedPart(text: string): string {
  return text.startsWith(TOKEN_PREFIX) ? text.slice(TOKEN_PREFIX.length) : text
}

/** The visit that a receipt or token names, whether or not it is genuine; null if the text does not have the form of one. */
export function visitIdIn(text: string): VisitId | null {
  const sealed = sealedPart(text)
  if (sealed.length !== LIMITS.receiptChars) return null
  const bytes = decodeBase64url(sealed)
  return bytes === null ? null : visitIdOf(bytes.subarray(0, BODY_BYTES))
}

/** Before this service existed, so that other numbers rarely pass for an issue time. */
const FIRST_ISSUE_MS = Date.UTC(2025, 0, 1)

/** Whether a key in use could have issued this text at a possible time. A cheap check before a MAC is computed. */
export function couldBeReceipt(keys: Pick<ReceiptKeys, 'hasKey'>, text: string, nowMs: number): boolean {
  if (text.length !== LIMITS.receiptChars) return false
  const bytes = decodeBase64url(text)
  return bytes !== null && keys.hasKey((bytes[0] ?? 0) & KEY_ID_BITS) && isIssueTime(readTime(bytes), nowMs)
}

export function isIssueTime(timeMs: number, nowMs: number): boolean {
  return timeMs >= FIRST_ISSUE_MS && timeMs <= nowMs + LIMITS.clockSkewMs
}

/** Whether the receipt's visit came from this origin. */
export function isFromOrigin(keys: ReceiptKeys, of: OwnedWebsite, claims: ReceiptClaims, origin: string): boolean {
  const tag = keys.originTag(claims.keyId, of, origin)
  return isEqual(tag, claims.body.subarray(TAG_START))
}

/**
 * How IDs of recorded visits begin, before their issue time: the key ID, with or without the mark of handoff-only ones.
 * An ID carries no other mark.
 */
export const VISIT_ID_PREFIXES: readonly string[] = [0, RECEIPT_FLAGS.handoffOnly].flatMap((flags) =>
  KEY_IDS.map((keyId) => (flags | keyId).toString(16).padStart(2, '0')),
)

/** A time as visit IDs carry it after their first byte: 12 hex digits. @throws RangeError if it is none */
export function visitIdTime(timeMs: number): string {
  if (!Number.isSafeInteger(timeMs) || timeMs < 0 || timeMs >= 2 ** 48) throw new RangeError('no time of a visit')
  return timeMs.toString(16).padStart(12, '0')
}

/** A visit ID carries its issue time: bytes 1 to 6. */
export function issuedAtOfVisit(visitId: VisitId): number {
  return parseInt(visitId.slice(2, 14), 16)
}

export function expiresAtMs(issuedAtMs: number): number {
  return issuedAtMs + LIMITS.receiptLifetimeMs
}

/** A receipt matches until its 30 days are over, including the last millisecond. */
export function isExpired(issuedAtMs: number, nowMs: number): boolean {
  return nowMs > expiresAtMs(issuedAtMs)
}

function seal(keys: ReceiptKeys, use: 'receipt' | 'token', of: OwnedWebsite, body: Uint8Array): string {
  const bytes = new Uint8Array(BODY_BYTES + MAC_BYTES)
  bytes.set(body)
  bytes.set(keys.mac(use, (body[0] ?? 0) & KEY_ID_BITS, of, body), BODY_BYTES)
  return encodeBase64url(bytes)
}

function open(keys: ReceiptKeys, use: 'receipt' | 'token', of: OwnedWebsite, text: string): ReceiptClaims | null {
  if (text.length !== LIMITS.receiptChars) return null
  const bytes = decodeBase64url(text)
  if (bytes === null) return null
  const body = bytes.subarray(0, BODY_BYTES)
  const keyId = (body[0] ?? 0) & KEY_ID_BITS
  if (!keys.hasKey(keyId)) return null
  const isGenuine = isEqual(keys.mac(use, keyId, of, body), bytes.subarray(BODY_BYTES))
  return isGenuine ? claimsOf(body) : null
}

function claimsOf(body: Uint8Array): ReceiptClaims {
  const flags = body[0] ?? 0
  return {
    visitId: visitIdOf(body),
    issuedAtMs: readTime(body),
    keyId: flags & KEY_ID_BITS,
    isHandoffOnly: (flags & RECEIPT_FLAGS.handoffOnly) !== 0,
    isUnrecorded: (flags & RECEIPT_FLAGS.unrecorded) !== 0,
    gpc: (flags & RECEIPT_FLAGS.gpc) !== 0,
    body,
  }
}

function visitIdOf(body: Uint8Array): VisitId {
  let text = hexByte((body[0] ?? 0) & ~(RECEIPT_FLAGS.token | RECEIPT_FLAGS.gpc))
  for (let index = 1; index < BODY_BYTES; index++) text += hexByte(body[index] ?? 0)
  return text
}

function hexByte(byte: number): string {
  return byte < 16 ? `0${byte.toString(16)}` : byte.toString(16)
}

function writeTime(body: Uint8Array, timeMs: number): void {
  let rest = timeMs
  for (let index = 6; index >= 1; index--) {
    body[index] = rest % 256
    rest = Math.floor(rest / 256)
  }
}

function readTime(body: Uint8Array): number {
  let timeMs = 0
  for (let index = 1; index <= 6; index++) timeMs = timeMs * 256 + (body[index] ?? 0)
  return timeMs
}

/** Takes the same time wherever two tags first differ. */
function isEqual(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index++) difference |= (left[index] ?? 0) ^ (right[index] ?? 0)
  return difference === 0
}
