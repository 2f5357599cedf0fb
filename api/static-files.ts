/** Files that are the same for all clients, built once at start: hashed, compressed, with their cache rules. */

import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { RequestHandler } from 'express'
import { boundedParts } from '../common/bounded-parts.ts'
import { sha256Hex } from '../common/digest.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Headers } from './http/reply.ts'

export const CACHE_SHORT = 'public, max-age=300'
export const CACHE_FOREVER = 'public, max-age=31536000, immutable'

export interface StaticFile {
  readonly type: string
  readonly bytes: Buffer
  readonly sha256: string
  readonly headers: Headers
  readonly encodings: ReadonlyMap<'br' | 'gzip', Buffer>
}

/** The smallest parts of the SDK still become smaller. */
const COMPRESS_BYTES_MIN = 128
/** The SDK is small and often read, so it is compressed best; for a large file that would only delay the start. */
const BEST_BYTES_MAX = 12_000
const QUICK_QUALITY = 5

export function staticFile(file: {
  readonly type: string
  readonly content: string | Buffer
  readonly cache: string
  /** Pages of any origin may read it, as subresource integrity requires. */
  readonly isShared?: boolean
}): StaticFile {
  const bytes = Buffer.from(file.content)
  const sha256 = sha256Hex(bytes)
  return {
    type: file.type,
    bytes,
    sha256,
    headers: {
      'Cache-Control': file.cache,
      ETag: `"${sha256.slice(0, 32)}"`,
      'X-Content-Type-Options': 'nosniff',
      ...(file.isShared === true
        ? { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }
        : {}),
    },
    encodings: compressed(bytes),
  }
}

export function serveStatic(file: StaticFile): RequestHandler {
  return (req, res) => {
    const etag = String(file.headers['ETag'])
    if ((req.headers['if-none-match'] ?? '').includes(etag)) {
      res.writeHead(304, { ...file.headers, Vary: 'Accept-Encoding' })
      res.end()
      return
    }
    const encoding = chooseEncoding(req.headers['accept-encoding'], file)
    const bytes = encoding === null ? file.bytes : (file.encodings.get(encoding) ?? file.bytes)
    res.writeHead(200, {
      ...file.headers,
      Vary: 'Accept-Encoding',
      'Content-Type': file.type,
      'Content-Length': bytes.length,
      ...(encoding === null ? {} : { 'Content-Encoding': encoding }),
    })
    res.end(bytes)
  }
}

function compressed(bytes: Buffer): ReadonlyMap<'br' | 'gzip', Buffer> {
  if (bytes.length < COMPRESS_BYTES_MIN) return new Map()
  const best = {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: bytes.length <= BEST_BYTES_MAX ? constants.BROTLI_MAX_QUALITY : QUICK_QUALITY,
    },
  }
  return new Map([
    ['br', brotliCompressSync(bytes, best)],
    ['gzip', gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION })],
  ])
}

/**
 * Brotli before gzip; `q=0` refuses a coding (RFC 9110, section 12.5.3). Split, not matched by a pattern: a header may
 * be 16 KB of blanks.
 */
function chooseEncoding(accepted: string | undefined, file: StaticFile): 'br' | 'gzip' | null {
  const codings = new Set(
    (boundedParts(accepted ?? '', ',', LIMITS.headerParts) ?? [])
      .map((part) => part.split(';').map((word) => word.trim().toLowerCase()))
      .filter(([, quality = '']) => !/^q=0(\.0*)?$/.test(quality))
      .map(([name]) => name),
  )
  return (['br', 'gzip'] as const).find((coding) => codings.has(coding) && file.encodings.has(coding)) ?? null
}
