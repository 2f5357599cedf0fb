/** Writes answers: one head and one body each. The only place that turns a refusal into HTTP. */

import type { ServerResponse } from 'node:http'
import { ERRORS, type Refusal } from '../../domain/errors.ts'
import { refusalJson, retryHeader } from '../../runtime/http/refusal.ts'

export type Headers = Readonly<Record<string, string | number>>

const BASE_HEADERS = { 'X-Content-Type-Options': 'nosniff' } as const
const NO_STORE = { 'Cache-Control': 'no-store' } as const

/** A 200 with a JSON body that no cache may keep. */
export function sendJson(res: ServerResponse, value: unknown, headers: Headers = NO_STORE): void {
  sendText(res, { status: 200, type: 'application/json; charset=utf-8', text: JSON.stringify(value), headers })
}

interface TextAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly headers: Headers
}

export function sendText(res: ServerResponse, answer: TextAnswer): void {
  res.writeHead(answer.status, {
    ...BASE_HEADERS,
    ...answer.headers,
    'Content-Type': answer.type,
    'Content-Length': Buffer.byteLength(answer.text),
  })
  res.end(answer.text)
}

/** The contract's error form: `error` and further members that help the caller. Returns the status. */
export function sendRefusal(res: ServerResponse, refusal: Refusal, headers: Headers = {}): number {
  const { status } = ERRORS[refusal.code]
  sendText(res, {
    status,
    type: 'application/json; charset=utf-8',
    text: refusalJson(refusal),
    headers: { ...NO_STORE, ...headers, ...retryHeader(refusal) },
  })
  return status
}
