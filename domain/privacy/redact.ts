/**
 * What the request logs may keep of a request: the exact body, with receipts and tokens replaced by keyed hashes.
 *
 * A receipt is recognised by its form, not by its place: any run of 43 base64url characters, and inside longer runs
 * (click IDs are long runs too) any place where the bytes contain a key ID in use and a plausible time. Escapes are
 * undone first, so that `\u0041...` or `%41...` hide nothing.
 */

import { LIMITS } from '../limits.ts'
import type { BodyForm, OwnedWebsite } from '../model.ts'
import { isIssueTime, readReceipt, readToken, TOKEN_PREFIX, type ReceiptKeys } from '../receipt.ts'

export interface RedactOptions {
  /** Keyed hash of a receipt or token, hex digits. */
  readonly hash: (value: string) => string
  /** Key IDs whose receipts exist. */
  readonly hasKey: (keyId: number) => boolean
  readonly nowMs: number
  /** Called with 43 characters that look like a receipt or an unprefixed token; if absent, the look is enough. */
  readonly isGenuine?: (text: string) => boolean
  /**
   * The texts in the places of receipts and tokens, for a body that could be read. Other runs of that length then count
   * as receipts only if they look issued. If absent, the length is enough.
   */
  readonly sentReceipts?: ReadonlySet<string>
}

export interface RedactedBody {
  readonly body: string
  readonly bodyForm: BodyForm
  readonly isRedacted: boolean
}

const TOKEN_LENGTH = 47
/** By character code. */
const IS_BASE64URL = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_-]/.test(String.fromCharCode(code)) ? 1 : 0,
)
const UNESCAPE_ROUNDS = 4
/** One random text in 80,000 looks issued. If a request holds more of them than this, each counts as genuine. */
const LOOK_ALIKES_MAX = 8
/** A truncated body may end inside a receipt or token; from this length on its beginning is hashed too. */
const CUT_RUN = /[A-Za-z0-9_-]{16,}$/

/**
 * Text with every receipt and token in it replaced by `hmac:` and their keyed hash.
 * @internal
 */
export function redactText(text: string, options: RedactOptions): string {
  let result = ''
  let kept = 0
  let start = 0
  while (start + LIMITS.receiptChars <= text.length) {
    // Jumps from the last character of the shortest run that counts, so that most of a text is skipped.
    const gap = lastGap(text, start, start + LIMITS.receiptChars)
    if (gap !== -1) {
      start = gap + 1
      continue
    }
    const end = endOfRun(text, start + LIMITS.receiptChars)
    result += text.slice(kept, start) + redactRun(text.slice(start, end), options)
    kept = end
    start = end + 1
  }
  return kept === 0 ? text : result + text.slice(kept)
}

/** The last character in between that ends a run; -1 if there is none. */
function lastGap(text: string, start: number, end: number): number {
  let index = end - 1
  while (index >= start && isBase64url(text.charCodeAt(index))) index--
  return index < start ? -1 : index
}

function endOfRun(text: string, start: number): number {
  let index = start
  while (index < text.length && isBase64url(text.charCodeAt(index))) index++
  return index
}

function isBase64url(code: number): boolean {
  return code < IS_BASE64URL.length && IS_BASE64URL[code] === 1
}

/**
 * The body for the request log. `text` is null if the bytes are not UTF-8; then `latin1`, the bytes read one by one, is
 * searched and kept as base64. `isCut`: the client sent more than is kept.
 */
export function redactBody(
  body: { readonly text: string | null; readonly latin1: () => string; readonly isCut: boolean },
  options: RedactOptions & { readonly toBase64: (latin1: string) => string },
): RedactedBody {
  const raw = body.text ?? body.latin1()
  if (raw === '') return { body: '', bodyForm: 'none', isRedacted: false }
  const kept = body.isCut ? redactEnd(raw, options) : raw
  const redacted = withoutPasswords(redactText(kept, options))
  if (mayHideSecrets(redacted)) {
    const plain = unescapeAll(redacted)
    const cleared = withoutPasswords(redactText(plain, options))
    // The body loses its exact form only if escapes did hide something.
    if (cleared !== plain) return { body: cleared.toWellFormed(), bodyForm: 'unescaped', isRedacted: true }
  }
  const isRedacted = redacted !== raw
  if (body.text === null) return { body: options.toBase64(redacted), bodyForm: 'base64', isRedacted }
  return { body: redacted, bodyForm: 'text', isRedacted }
}

/** The keys that distinguish a genuine receipt from text that looks like one. */
export type RedactKeys = ReceiptKeys & { readonly logHash: (value: string) => string }

/**
 * Cleans text that becomes a fact: well-formed, and without genuine receipts of this website and its siblings. The look
 * alone is not enough here: providers' identifiers are long runs too and must reach them unchanged.
 */
export function factCleaner(
  keys: RedactKeys,
  owned: OwnedWebsite,
  nowMs: number,
  siblings: readonly OwnedWebsite[] = [],
): (text: string) => string {
  const isOf = (of: OwnedWebsite, text: string): boolean =>
    readReceipt(keys, of, text) !== null || readToken(keys, of, TOKEN_PREFIX + text) !== null
  let looksLeft = LOOK_ALIKES_MAX
  const options: RedactOptions = {
    hash: keys.logHash,
    hasKey: keys.hasKey,
    nowMs,
    isGenuine: (text) =>
      isOf(owned, text) || --looksLeft < 0 || siblings.some((of) => of.website !== owned.website && isOf(of, text)),
  }
  return (text) =>
    text.length < LIMITS.receiptChars ? text.toWellFormed() : clearedLine(text, (plain) => redactText(plain, options))
}

/** One line of a request's head, at most `charsMax` long: its escapes are undone if they hid something. */
export function redactLine(text: string, charsMax: number, options: RedactOptions): string {
  // Hashes before truncating: otherwise half a receipt could remain that no longer looks like one.
  return clearedLine(text, (plain) => withoutPasswords(redactText(plain, options))).slice(0, charsMax)
}

function clearedLine(text: string, clear: (plain: string) => string): string {
  const plain = mayHideSecrets(text) ? unescapeAll(text) : text
  const cleared = clear(plain)
  return (cleared === plain ? text : cleared).toWellFormed()
}

/** User names and passwords of addresses, wherever these stand. The slashes may be written either way, as in browsers. */
const USER_INFO = /(:[\\/]{1,8})(?:\\[^/]|[^/?#"\s\\])*@/g

/** Each is replaced by the same mark: a hash of a password could be tried out by whoever has the key. */
function withoutPasswords(text: string): string {
  return text.includes('@') ? text.replace(USER_INFO, '$1***@') : text
}

/** Searches only the last characters: a pattern that is anchored only at the end would try every position. */
function redactEnd(text: string, options: RedactOptions): string {
  const end = text.slice(-TOKEN_LENGTH)
  return text.slice(0, text.length - end.length) + end.replace(CUT_RUN, (run) => mark(run, options))
}

function redactRun(run: string, options: RedactOptions): string {
  const isBare = run.length === LIMITS.receiptChars || (run.length === TOKEN_LENGTH && run.startsWith(TOKEN_PREFIX))
  if (isBare && options.isGenuine === undefined && isReceiptByLength(run, options)) return mark(run, options)
  let result = ''
  let kept = 0
  let index = 0
  while (index + LIMITS.receiptChars <= run.length) {
    if (holdsReceipt(run, index, options)) {
      // The dot ends the hash, so that it does not form a longer run with what follows.
      result += `${run.slice(kept, index)}${mark(run.slice(index, index + LIMITS.receiptChars), options)}.`
      index += LIMITS.receiptChars
      kept = index
    } else index++
  }
  return result + run.slice(kept)
}

function isReceiptByLength(run: string, { sentReceipts }: RedactOptions): boolean {
  return sentReceipts === undefined || run.startsWith(TOKEN_PREFIX) || sentReceipts.has(run)
}

function holdsReceipt(run: string, start: number, options: RedactOptions): boolean {
  if (!looksIssued(run, start, options)) return false
  return options.isGenuine?.(run.slice(start, start + LIMITS.receiptChars)) ?? true
}

function mark(value: string, options: RedactOptions): string {
  return `hmac:${options.hash(value)}`
}

/** Whether the next 43 characters would decode to a key ID in use and a possible issue time. */
function looksIssued(run: string, start: number, options: RedactOptions): boolean {
  const flags = (sextet(run, start) << 2) | (sextet(run, start + 1) >> 4)
  if (!options.hasKey(flags & 0b1111)) return false
  let timeMs = sextet(run, start + 1) & 0b1111
  for (let index = 2; index < 9; index++) timeMs = timeMs * 64 + sextet(run, start + index)
  timeMs = timeMs * 4 + (sextet(run, start + 9) >> 4)
  return isIssueTime(timeMs, options.nowMs)
}

function sextet(run: string, index: number): number {
  const code = run.charCodeAt(index)
  if (code === 0x2d) return 62
  if (code === 0x5f) return 63
  if (code < 0x3a) return code + 4
  return code < 0x5b ? code - 65 : code - 71
}

function mayHideSecrets(text: string): boolean {
  return text.includes('\\') || text.includes('%') || text.includes('\0')
}

/** Undoes JSON and percent escapes, also escapes of escapes; removes NUL bytes, with which UTF-16 hides ASCII. */
function unescapeAll(text: string): string {
  let plain = text
  for (let round = 0; round < UNESCAPE_ROUNDS; round++) {
    const next = plain
      .replaceAll('\0', '')
      .replace(
        /\\u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})|\\(["\\/])/g,
        (whole, unit?: string, byte?: string, mark?: string) => {
          if (mark !== undefined) return mark
          const code = parseInt(unit ?? byte ?? '', 16)
          // Undoes only what can be part of a receipt or of another escape; the rest keeps its form.
          return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : whole
        },
      )
    if (next === plain) return plain
    plain = next
  }
  return plain
}
