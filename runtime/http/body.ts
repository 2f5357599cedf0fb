/** Reads the body of a request as raw bytes, up to a limit, and checks its form before anything parses it. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { boundedParts } from '../../common/bounded-parts.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'

interface BodyBounds {
  readonly mostBytes: number
  /**
   * How long to wait for the beginning of a body that is announced as too large: it shows whom to record the refusal for. Absent: it is refused
   * at once, as it always is for a client that sends `Expect: 100-continue`, which has sent none.
   */
  readonly beginningMs?: number
}

export interface RawBody {
  readonly kind: 'body'
  /** What arrived, cut at the limit. */
  readonly bytes: Buffer
  /** The client sent or announced more. */
  readonly isCut: boolean
}

/** The client disconnected in the middle; the answer would reach no one. */
export interface Aborted {
  readonly kind: 'aborted'
  /** What had arrived, cut at the limit. */
  readonly bytes: Buffer
}

/** Content type and encoding, from the head alone. */
export function checkHead(req: IncomingMessage): Refusal | null {
  if (!isJsonType(req.headers['content-type'] ?? '')) return refuse('unsupported_media_type')
  return isEncoded(req) ? refuse('unsupported_encoding') : null
}

/** Whether the body is compressed; such a body is never unpacked. */
export function isEncoded(req: IncomingMessage): boolean {
  const encoding = req.headers['content-encoding']
  return encoding !== undefined && encoding.trim().toLowerCase() !== 'identity'
}

/** Never reads past the limit: a longer body comes back truncated, and the caller closes the connection. */
export function readBody(req: IncomingMessage, { mostBytes, beginningMs }: BodyBounds): Promise<RawBody | Aborted> {
  const isTooLarge = Number(req.headers['content-length'] ?? 0) > mostBytes
  if (isTooLarge && (beginningMs === undefined || req.headers.expect !== undefined)) {
    return Promise.resolve({ kind: 'body', bytes: Buffer.alloc(0), isCut: true })
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const arrived = (): Buffer => Buffer.concat(chunks, size).subarray(0, mostBytes)
    const cut = (): void => {
      req.pause()
      finish({ kind: 'body', bytes: arrived(), isCut: true })
    }
    const timer = isTooLarge ? setTimeout(cut, beginningMs) : undefined
    const finish = (body: RawBody | Aborted): void => {
      clearTimeout(timer)
      req.off('data', take).off('end', end).off('close', abort).off('error', abort)
      resolve(body)
    }
    const take = (chunk: Buffer): void => {
      chunks.push(chunk)
      size += chunk.length
      if (size > mostBytes) cut()
    }
    const end = (): void => {
      const [only] = chunks
      const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)
      finish({ kind: 'body', bytes, isCut: isTooLarge })
    }
    const abort = (): void => finish({ kind: 'aborted', bytes: arrived() })
    req.on('data', take).on('end', end).on('close', abort).on('error', abort)
  })
}

/**
 * `application/json`, with no parameter but `charset=utf-8`. Split, not matched by a pattern: a header may be 16 KB of
 * blanks.
 */
function isJsonType(header: string): boolean {
  if (header === 'application/json') return true
  const [type = '', ...parameters] = boundedParts(header.toLowerCase(), ';', LIMITS.headerParts) ?? []
  return type === 'application/json' && parameters.every((parameter) => parameter === '' || isUtf8Charset(parameter))
}

function isUtf8Charset(parameter: string): boolean {
  const [name = '', value = '', ...more] = parameter.split('=').map((part) => part.trim())
  return name === 'charset' && (value === 'utf-8' || value === '"utf-8"') && more.length === 0
}

/** The body as text; null if it is not UTF-8. A byte-order mark stays and is refused as JSON. */
export function decodeBody(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8') : null
}
