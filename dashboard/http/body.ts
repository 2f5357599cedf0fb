/** Reads a body of the dashboard's API: JSON, at most 64 KB, whole. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

import { boundedParts } from '../../common/bounded-parts.ts'
import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { firstFinding } from '../../domain/schema/check-schema.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { parseStrictJson, type JsonObject } from '../../domain/strict-json.ts'

type ReadBody = { readonly kind: 'object'; readonly value: JsonObject } | Refusal

/** Null if the client disconnected. */
export async function readObject(req: IncomingMessage, schema: JsonSchema): Promise<ReadBody | null> {
  const refused = refuseHead(req)
  if (refused !== null) return refused
  const bytes = await readBytes(req, LIMITS.dashboardBodyBytes)
  if (bytes === null) return null
  if (bytes === 'too large') return refuse('body_too_large')
  const parsed = isUtf8(bytes) ? parseStrictJson(bytes.toString('utf8')) : null
  if (parsed === null) return refuse('invalid_json')
  const finding = firstFinding(schema, parsed)
  if (finding !== null) return refuseField(finding.field, finding.message)
  return { kind: 'object', value: parsed }
}

/** The raw body, for a signature; empty if the client disconnected. */
export async function readRawBody(
  req: IncomingMessage,
): Promise<{ readonly kind: 'raw'; readonly body: Buffer } | Refusal | null> {
  const body = await readBytes(req, LIMITS.paymentEventBytes)
  if (body === null) return null
  return body === 'too large' ? refuse('body_too_large') : { kind: 'raw', body }
}

function refuseHead({ headers }: IncomingMessage): Refusal | null {
  const [type = '', ...parameters] = boundedParts(headers['content-type'] ?? '', ';', LIMITS.headerParts) ?? []
  const isPlain = parameters.every((each) => each === '' || each.toLowerCase() === 'charset=utf-8')
  if (type.toLowerCase() !== 'application/json' || !isPlain) return refuse('unsupported_media_type')
  return (headers['content-encoding'] ?? 'identity') === 'identity' ? null : refuse('unsupported_encoding')
}

/** Never more than the limit: reading stops there. */
function readBytes(req: IncomingMessage, most: number): Promise<Buffer | 'too large' | null> {
  if (Number(req.headers['content-length'] ?? 0) > most) return Promise.resolve('too large')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= most) chunks.push(chunk)
      else resolve('too large')
    })
    req.on('end', () => resolve(Buffer.concat(chunks)))
    req.on('error', () => resolve(null))
    req.on('close', () => resolve(null))
  })
}
