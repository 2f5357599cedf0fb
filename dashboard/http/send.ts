/** Sends what a handler of the dashboard's API answered, or why it did not. */

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { memberOf } from '../../domain/strict-json.ts'
import { ERRORS, type Refusal } from '../../domain/errors.ts'
import { refusalJson, retryHeader } from '../../runtime/http/refusal.ts'
import type { Logger } from '../../runtime/logger.ts'
import { PROBLEM_HEADERS, problemPage, wantsPage } from '../pages/problem-page.ts'
import type { Answer, HandlerOutcome, StreamAnswer, WrittenAnswer } from './call.ts'
import type { Directory } from '../resources/directory.ts'
import type { CookieRules } from './cookies.ts'
import { watchRight } from './watch-right.ts'

const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
} as const

interface OwnHeaders {
  readonly 'X-Request-Id': string
  readonly Allow?: string
  readonly 'WWW-Authenticate'?: string
  readonly 'X-Robots-Tag'?: string
}

/** Resolves once everything is sent or the client is gone. */
export async function sendStream(
  res: ServerResponse,
  { contentType, headers: own, chunks, mayGoOn, onEnd }: StreamAnswer,
  headers: OwnHeaders,
  { logger, directory }: { readonly logger: Logger; readonly directory: Directory },
): Promise<number> {
  res.writeHead(200, { ...COMMON_HEADERS, ...headers, ...own, 'Content-Type': contentType })
  if (res.req.method === 'HEAD') res.end()
  else if (!res.destroyed) {
    res.flushHeaders()
    // Prepares at most one chunk ahead: a client that does not read causes no work.
    const watch = watchRight(mayGoOn, directory)
    await pipeline(Readable.from(chunks, { highWaterMark: 1 }), res, { signal: watch.ended }).catch(
      (error: unknown) => {
        const reason: unknown = watch.ended.aborted ? watch.ended.reason : error
        // The client has left by itself.
        if (memberOf(reason, 'code') === 'ERR_STREAM_PREMATURE_CLOSE') return
        logger.error({ err: reason, request: headers['X-Request-Id'] }, 'an answer of the dashboard was cut off')
      },
    )
    watch.close()
  }
  onEnd?.()
  return 200
}

export function sendOutcome(
  res: ServerResponse,
  outcome: Exclude<HandlerOutcome, StreamAnswer>,
  headers: OwnHeaders,
  cookies: CookieRules,
): number {
  const { status, json, more } = outcome.kind === 'refused' ? refusalParts(outcome, res) : answerParts(outcome, cookies)
  const isPage = outcome.kind === 'refused' && wantsPage(res.req) && isOfPeople(res.req.url)
  const text = isPage
    ? problemPage({ code: outcome.code, requestId: headers['X-Request-Id'], isShared: isShared(res.req.url) })
    : (json ?? '')
  const type = isPage ? PROBLEM_HEADERS : json === undefined ? {} : JSON_TYPE
  res.writeHead(status, { ...COMMON_HEADERS, ...headers, ...more, ...type, 'Content-Length': Buffer.byteLength(text) })
  res.end(res.req.method === 'HEAD' ? undefined : text)
  return status
}

/** What programs read answers them in their way, even in a browser. */
function isOfPeople(url = ''): boolean {
  return url.startsWith('/api/') || isShared(url)
}

/** Whether it is below the addresses of links. */
export function isShared(url = ''): boolean {
  return url.startsWith('/share/')
}

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' }

interface SentParts {
  readonly status: number
  /** The body; undefined if there is none. */
  readonly json: string | Uint8Array | undefined
  readonly more: Readonly<Record<string, string | string[]>>
}

function refusalParts(refusal: Refusal, res: ServerResponse): SentParts {
  // An unread body would otherwise be taken for the next request.
  const connection = res.req.complete ? {} : { Connection: 'close' }
  const more = { ...retryHeader(refusal), ...connection }
  return { status: ERRORS[refusal.code].status, json: refusalJson(refusal), more }
}

function answerParts(outcome: Answer | WrittenAnswer, cookies: CookieRules): SentParts {
  const { status, location, etag, keptS } = outcome
  const lines = cookieLines(outcome, cookies)
  const target = location === undefined ? {} : { Location: location }
  const version = etag === undefined ? {} : { ETag: `"${etag}"` }
  const cache = keptS === undefined ? {} : { 'Cache-Control': `private, max-age=${keptS}` }
  const json =
    outcome.kind === 'written' ? outcome.json : outcome.body === undefined ? undefined : JSON.stringify(outcome.body)
  return {
    status,
    json,
    more: { ...target, ...version, ...cache, ...(lines.length === 0 ? {} : { 'Set-Cookie': lines }) },
  }
}

function cookieLines({ cookies = {} }: Pick<Answer, 'cookies'>, rules: CookieRules): string[] {
  const own = (['session', 'browser'] as const).flatMap((name) => {
    const change = cookies[name]
    return change === undefined ? [] : [rules.write(name, change)]
  })
  return [...own, ...[...(cookies.attempts ?? [])].map(([id, change]) => rules.writeAttempt(id, change))]
}
