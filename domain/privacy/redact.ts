/**
 * What of a request may stand in the request logs: the exact body, with receipts and tokens replaced by keyed hashes.
 *
 * A receipt is recognised by its form, not by where it stands: any run of 43 base64url characters, and inside longer
 * runs (click IDs are long runs too) any place where the bytes say a key ID in use and a plausible time. Escapes are
 * undone before looking, so that `\u0041...` or `%41...` hide nothing.
 */

import { LIMITS } from '../limits.ts'
import type { WebsiteId } from '../model.ts'
import { isIssueTime, readReceipt, readToken, TOKEN_PREFIX, type ReceiptKeys } from '../receipt.ts'
import type { RequestLog } from '../records.ts'

export interface RedactOptions {
  /** Keyed hash of a receipt or token, hex digits. */
  readonly hash: (value: string) => string
  /** Key IDs whose receipts exist. */
  readonly hasKey: (keyId: number) => boolean
  readonly nowMs: number
  /** Asked for 43 characters that look like a receipt or a token without its prefix; without it the look is enough. */
  readonly isGenuine?: (text: string) => boolean
  /**
   * What stands where receipts and tokens belong, of a body that could be read. Other runs of just their length are then no
   * receipts for their length alone: they must look issued. Without it the length is enough.
   */
  readonly sentReceipts?: ReadonlySet<string>
}

export interface RedactedBody {
  readonly body: string
  readonly bodyForm: RequestLog['bodyForm']
  readonly isRedacted: boolean
}

const TOKEN_LENGTH = 47
/** By character code. */
const IS_BASE64URL = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_-]/.test(String.fromCharCode(code)) ? 1 : 0,
)
const UNESCAPE_ROUNDS = 4
/** By chance one text in 80,000 looks issued. Of a request that holds more of them than this each counts as genuine. */
const LOOK_ALIKES_MAX = 8
/** A cut body may end inside a receipt or token; from this length on its beginning is hashed too. */
const CUT_RUN = /[A-Za-z0-9_-]{16,}$/

/** Text with every receipt and token in it replaced by `hmac:` and their keyed hash. */
export function redactText(text: string, options: RedactOptions): string {
  let result = ''
  let kept = 0
  let start = 0
  while (start + LIMITS.receiptChars <= text.length) {
    // From the last character of the shortest run that counts: most of a text is passed over without a look.
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

/** Where the last character in between lies that ends a run; -1 where there is none. */
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
 * The body as the request log keeps it. `text` is null where the bytes are not UTF-8; then `latin1`, the bytes read one
 * by one, is searched and kept as base64. `isCut` says that the client sent more than is kept.
 */
export function redactBody(
  body: { readonly text: string | null; readonly latin1: () => string; readonly isCut: boolean },
  options: RedactOptions & { readonly toBase64: (latin1: string) => string },
): RedactedBody {
  const raw = body.text ?? body.latin1()
  if (raw === '') return { body: '', bodyForm: 'none', isRedacted: false }
  const kept = body.isCut ? redactEnd(raw, options) : raw
  const redacted = redactText(kept, options)
  if (mayHideSecrets(redacted)) {
    const plain = unescapeAll(redacted)
    const cleared = redactText(plain, options)
    // Only escapes that really hid something cost the body its exact form.
    if (cleared !== plain) return { body: cleared.toWellFormed(), bodyForm: 'unescaped', isRedacted: true }
  }
  const isRedacted = redacted !== raw
  if (body.text === null) return { body: options.toBase64(redacted), bodyForm: 'base64', isRedacted }
  return { body: redacted, bodyForm: 'text', isRedacted }
}

/** The keys that tell a genuine receipt from letters that look like one. */
export type RedactKeys = ReceiptKeys & { readonly logHash: (value: string) => string }

/**
 * Cleans text that becomes a fact: well-formed, and without genuine receipts of this website and its siblings. The look alone is not
 * enough here: identifiers of providers are long runs of letters too and must reach them as they came.
 */
export function factCleaner(
  keys: RedactKeys,
  website: WebsiteId,
  nowMs: number,
  siblings: readonly WebsiteId[] = [],
): (text: string) => string {
  const isOf = (id: WebsiteId, text: string): boolean =>
    readReceipt(keys, id, text) !== null || readToken(keys, id, TOKEN_PREFIX + text) !== null
  let looksLeft = LOOK_ALIKES_MAX
  const options: RedactOptions = {
    hash: keys.logHash,
    hasKey: keys.hasKey,
    nowMs,
    isGenuine: (text) =>
      isOf(website, text) || --looksLeft < 0 || siblings.some((id) => id !== website && isOf(id, text)),
  }
  return (text) => (text.length < LIMITS.receiptChars ? text.toWellFormed() : redactLine(text, Infinity, options))
}

/** One line of a request's head, at most `charsMax` long: its escapes are undone where they hid something. */
export function redactLine(text: string, charsMax: number, options: RedactOptions): string {
  const plain = mayHideSecrets(text) ? unescapeAll(text) : text
  const cleared = redactText(plain, options)
  // First hashed, then cut: the cut must not leave half a receipt that no longer looks like one.
  return (cleared === plain ? text : cleared).slice(0, charsMax).toWellFormed()
}

/** Only the last characters are looked at: a pattern that is anchored at the end alone would try every place of the text. */
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
      // The dot ends the hash, so that what follows does not grow into a run of its own.
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

/** Whether 43 characters from here on would decode to a key ID in use and an issue time that can be. */
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

/** Undoes JSON and percent escapes, also escapes of escapes; NUL bytes go, which is how UTF-16 hides ASCII. */
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
          // Only what can be part of a receipt, or of a further escape, is undone; the rest keeps its form.
          return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : whole
        },
      )
    if (next === plain) return plain
    plain = next
  }
  return plain
}
