/** The body of a request that is a file: handed over piece by piece as it arrives, never as a whole. */

import type { IncomingMessage } from 'node:http'

import { refuse, type Refusal } from '../../domain/errors.ts'
import { isEncoded } from '../../runtime/http/body.ts'
import type { Upload, UploadRow } from '../api/route.ts'

/** The client disconnected in the middle; an answer would reach no one. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** Refuses what the head alone shows to be wrong. */
export function openUpload(
  req: IncomingMessage,
  { type, mostBytes }: UploadRow,
): { readonly kind: 'object'; readonly value: Upload } | Refusal {
  if (typeOf(req) !== type) return refuse('unsupported_media_type')
  if (isEncoded(req)) return refuse('unsupported_encoding')
  if (Number(req.headers['content-length'] ?? 0) > mostBytes) return refuse('body_too_large')
  return { kind: 'object', value: { read: (take) => readPieces(req, mostBytes, take) } }
}

/** Without parameters: the file itself shows its encoding. */
function typeOf(req: IncomingMessage): string {
  const [type = ''] = (req.headers['content-type'] ?? '').split(';', 1)
  return type.trim().toLowerCase()
}

async function readPieces(
  req: IncomingMessage,
  mostBytes: number,
  take: (bytes: Uint8Array) => boolean,
): Promise<Refusal | null> {
  let size = 0
  try {
    // The connection must outlive an early end: the answer goes through it.
    const pieces: AsyncIterable<Buffer> = req.iterator({ destroyOnReturn: false })
    for await (const bytes of pieces) {
      size += bytes.length
      if (size > mostBytes) return refuse('body_too_large')
      if (!take(bytes)) return null
    }
  } catch (error) {
    if (req.complete) throw error
    throw new ClientGone()
  }
  return null
}
