/**
 * A stand-in for X's Conversion API that follows its documented rules, independently of the builder of our requests.
 *
 * Sources: docs.x.com/x-ads-api/measurement/web-conversions and the pages on rate limits and error codes beside it, and
 * the README of stape-io/twitter-tag for the pixel token (November 2026).
 */

import { isList } from '../domain/guards.ts'
import { Findings, isJson, isFilledText, parsed, type Json } from './checks.ts'
import { createGuard, startStandIn } from './server.ts'
import type { GuardedOptions, Judgement, StandInServer } from './server.ts'

const MAX_CONVERSIONS = 500
const FIELDS =
  'conversion_time event_id identifiers conversion_id value price_currency number_items description contents'.split(' ')
const IDENTIFIERS = ['twclid', 'hashed_email', 'hashed_phone_number', 'ip_address', 'user_agent']

interface XStandInOptions extends GuardedOptions {
  /** Events of the account; by default every well-formed one. */
  readonly isEvent?: (eventId: string) => boolean
}

/** Answers `POST /12/measurement/conversions/<pixel>`; a fault's key is the pixel. */
export function startXStandIn(options: XStandInOptions): Promise<StandInServer> {
  const guard = createGuard(options.guard)
  return startStandIn(options, (request) => {
    const key = /^\/12\/measurement\/conversions\/([^/]+)$/.exec(request.url.pathname)?.[1]
    if (request.method !== 'POST' || key === undefined) return null
    const token = request.headers['x-pixel-token'] ?? ''
    if (!guard.isToken(token, key)) return xRefusal(key, 401, 'UNAUTHORIZED_ACCESS')
    if (!/^[a-z0-9]+$/.test(key) || !guard.isOpen(key)) return xRefusal(key, 404, 'NOT_FOUND')
    if (!guard.hasRoom(request.nowMs)) {
      const reset = String(Math.ceil(request.nowMs / 60_000) * 60)
      return { ...xRefusal(key, 429, 'TOO_MANY_REQUESTS'), headers: { 'x-account-rate-limit-reset': reset } }
    }
    const messages = checkXRequest(request.body, request.nowMs)
    if (messages.length > 0) return xRefusal(key, 400, 'INVALID_PARAMETER', messages)
    const conversions = conversionsOf(request.body)
    const isKnown = conversions.every(
      (each) => isJson(each) && (options.isEvent?.(isFilledText(each['event_id']) ? each['event_id'] : '') ?? true),
    )
    if (!isKnown) return xRefusal(key, 404, 'NOT_FOUND')
    const data = { conversions_processed: conversions.length, debug_id: 'd1' }
    return { key, messages, status: 200, body: { request: { params: { account_id: 'a1' } }, data } }
  })
}

/**
 * Everything wrong with a request's body; one bad conversion is enough to refuse all of them.
 * @internal
 */
export function checkXRequest(body: string, nowMs: number): readonly string[] {
  const findings = new Findings()
  const top = parsed(body)
  if (top === null) return ['the body is no JSON object']
  findings.onlyKnown(top, ['conversions'], '')
  const conversions = conversionsOf(body)
  findings.expect(conversions.length >= 1 && conversions.length <= MAX_CONVERSIONS, 'conversions must be 1 to 500')
  for (const [index, conversion] of conversions.entries()) {
    if (isJson(conversion)) checkConversion(conversion, `conversions[${index}].`, nowMs, findings)
    else findings.all.push(`conversions[${index}] is no object`)
  }
  return findings.all
}

function conversionsOf(body: string): readonly unknown[] {
  const conversions = parsed(body)?.['conversions']
  return isList(conversions) ? conversions : []
}

function checkConversion(conversion: Json, path: string, nowMs: number, findings: Findings): void {
  findings.onlyKnown(conversion, FIELDS, path)
  const time = conversion['conversion_time']
  const isTime = isFilledText(time) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:?\d\d)$/.test(time)
  findings.expect(isTime, `${path}conversion_time must have milliseconds and a zone`)
  if (isTime) findings.expect(Date.parse(time) <= nowMs + 60_000, `${path}conversion_time lies in the future`)
  const eventId = conversion['event_id']
  const isEvent = isFilledText(eventId) && /^([a-z0-9]+|tw-[a-z0-9]+-[a-z0-9]+)$/.test(eventId)
  findings.expect(isEvent, `${path}event_id is not a single event tag`)
  const id = conversion['conversion_id']
  findings.expect(id === undefined || isFilledText(id), `${path}conversion_id must be a text`)
  const items = conversion['number_items']
  findings.expect(items === undefined || (Number.isInteger(items) && Number(items) > 0), `${path}number_items`)
  checkXIdentifiers(conversion['identifiers'], `${path}identifiers`, findings)
}

function checkXIdentifiers(identifiers: unknown, path: string, findings: Findings): void {
  if (!isList(identifiers) || identifiers.length === 0) {
    return void findings.expect(false, `${path}: at least one is required`)
  }
  for (const identifier of identifiers) {
    if (!isJson(identifier)) {
      findings.all.push(`${path}: each is an object`)
      continue
    }
    findings.onlyKnown(identifier, IDENTIFIERS, `${path}.`)
    findings.expect(Object.values(identifier).every(isFilledText), `${path}: an empty identifier`)
    checkHashes(identifier, path, findings)
  }
  const hasCompany = identifiers.some((each) => isJson(each) && ('twclid' in each || 'hashed_email' in each))
  const isLoneAddress = identifiers.some((each) => isJson(each) && ('ip_address' in each || 'user_agent' in each))
  findings.expect(!isLoneAddress || hasCompany, `${path}: address and user agent need another identifier`)
}

function checkHashes(identifier: Json, path: string, findings: Findings): void {
  for (const field of ['hashed_email', 'hashed_phone_number']) {
    const value = identifier[field]
    const isHash = value === undefined || /^[0-9a-f]{64}$/.test(isFilledText(value) ? value : '')
    findings.expect(isHash, `${path}.${field} is no SHA-256`)
  }
}

/** X's error messages name the parameter and repeat its value. */
function xRefusal(key: string, status: number, code: string, messages: readonly string[] = []): Judgement {
  const errors = messages.length === 0 ? [{ code, message: code, parameter: '' }] : []
  const named = messages.map((message) => ({ code, message, parameter: message.split(' ')[0] ?? '' }))
  return { key, messages, status, body: { errors: [...errors, ...named], request: { params: {} } } }
}
