/** Reads a body of the dashboard's API: JSON, at most 64 KB, whole. */

import type { IncomingMessage } from 'node:http'

import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { firstFinding } from '../../domain/schema/check-schema.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { parseStrictJson, type JsonObject } from '../../domain/strict-json.ts'
import { checkHead, decodeBody, readBody } from '../../runtime/http/body.ts'

type ReadBody = { readonly kind: 'object'; readonly value: JsonObject } | Refusal

/** Null if the client disconnected. */
export async function readObject(req: IncomingMessage, schema: JsonSchema): Promise<ReadBody | null> {
  const refused = checkHead(req)
  if (refused !== null) return refused
  const body = await readBody(req, { mostBytes: LIMITS.dashboardBodyBytes })
  if (body.kind === 'aborted') return null
  if (body.isCut) return refuse('body_too_large')
  const text = decodeBody(body.bytes)
  const parsed = text === null ? null : parseStrictJson(text)
  if (parsed === null) return refuse('invalid_json')
  const finding = firstFinding(schema, parsed)
  if (finding !== null) return refuseField(finding.field, finding.message)
  return { kind: 'object', value: parsed }
}

/** The raw body, for a signature; null if the client disconnected. */
export async function readRawBody(
  req: IncomingMessage,
): Promise<{ readonly kind: 'raw'; readonly body: Buffer } | Refusal | null> {
  const body = await readBody(req, { mostBytes: LIMITS.paymentEventBytes })
  if (body.kind === 'aborted') return null
  return body.isCut ? refuse('body_too_large') : { kind: 'raw', body: body.bytes }
}
