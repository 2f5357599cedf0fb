/** Reads a collection body as raw bytes, at most 16 KB, and says what it is before anything looks inside. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { refuse, type Refusal } from '../domain/errors.ts'
import { LIMITS } from '../domain/limits.ts'

export interface RawBody {
  readonly kind: 'body'
  /** What arrived, cut at the limit. */
  readonly bytes: Buffer
  /** The client sent or announced more. */
  readonly isCut: boolean
}

/** The client went away in the middle; there is nobody to answer. */
export interface Aborted {
  readonly kind: 'aborted'
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i

/** Content type and encoding, from the head alone. */
export function checkHead(req: IncomingMessage): Refusal | null {
  if (!JSON_TYPE.test(req.headers['content-type'] ?? '')) return refuse('unsupported_media_type')
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return refuse('unsupported_encoding')
  return null
}

/** Never reads past the limit: what is longer comes back cut, and the caller closes the connection. */
export function readBody(req: IncomingMessage): Promise<RawBody | Aborted> {
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > LIMITS.bodyBytes) return Promise.resolve({ kind: 'body', bytes: Buffer.alloc(0), isCut: true })
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = (body: RawBody | Aborted): void => {
      req.off('data', take).off('end', end).off('close', abort).off('error', abort)
      resolve(body)
    }
    const take = (chunk: Buffer): void => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= LIMITS.bodyBytes) return
      req.pause()
      finish({ kind: 'body', bytes: Buffer.concat(chunks, size).subarray(0, LIMITS.bodyBytes), isCut: true })
    }
    const end = (): void => {
      const [only] = chunks
      const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)
      finish({ kind: 'body', bytes, isCut: false })
    }
    const abort = (): void => finish({ kind: 'aborted' })
    req.on('data', take).on('end', end).on('close', abort).on('error', abort)
  })
}

/** The body as text; null where it is not UTF-8. A byte-order mark stays and is refused as JSON. */
export function decodeBody(bytes: Buffer): string | null {
  return isUtf8(bytes) ? bytes.toString('utf8') : null
}
