/**
 * A stand-in for TikTok's Events API 1.3 that follows the rules on which help pages and connectors agree, independently
 * of the builder of our requests. Almost every answer is HTTP 200, with the verdict inside.
 *
 * Sources: ads.tiktok.com/help (Events API, event deduplication), README and business logic of tiktok_ads in
 * rudderlabs/rudder-transformer, stape-io/tiktok-tag (November 2026).
 */

import { Findings, isJson, isFilledText, parsed, type Json } from './checks.ts'
import { createGuard, startStandIn } from './server.ts'
import type { GuardedOptions, Judgement, StandInServer } from './server.ts'
import { DAY_S } from '../domain/durations.ts'

const MAX_EVENTS = 1_000
const TOP_FIELDS = ['event_source', 'event_source_id', 'data', 'test_event_code', 'partner_name']
const EVENT_FIELDS = 'event event_time event_id user properties page app ad lead limited_data_use'.split(' ')
const USER_FIELDS = (
  'ttclid ttp ip user_agent locale external_id email phone first_name last_name zip_code city state country ' +
  'idfa idfv gaid att_status'
).split(' ')

/** Answers the event address of version 1.3; a fault's key is the pixel code. */
export function startTiktokStandIn(options: GuardedOptions): Promise<StandInServer> {
  const guard = createGuard(options.guard)
  return startStandIn(options, (request) => {
    if (request.method !== 'POST' || request.url.pathname !== '/open_api/v1.3/event/track/') return null
    const source = parsed(request.body)?.['event_source_id']
    const key = isFilledText(source) ? source : ''
    const token = request.headers['access-token'] ?? ''
    if (!guard.isToken(token, key)) return tiktokAnswer(key, 40_105, 'Access token is incorrect or has been revoked')
    if (!guard.isOpen(key)) return tiktokAnswer(key, 40_001, 'No permission to operate this pixel')
    if (!guard.hasRoom(request.nowMs)) return tiktokAnswer(key, 40_100, 'Too many requests')
    const messages = checkTiktokRequest(request.body, request.nowMs)
    return messages.length > 0 ? tiktokAnswer(key, 40_002, messages[0] ?? '', messages) : tiktokAnswer(key, 0, 'OK')
  })
}

/**
 * Everything wrong with a request's body.
 * @internal
 */
export function checkTiktokRequest(body: string, nowMs: number): readonly string[] {
  const findings = new Findings()
  const top = parsed(body)
  if (top === null) return ['the body is no JSON object']
  findings.onlyKnown(top, TOP_FIELDS, '')
  findings.expect(top['event_source'] !== undefined, 'event_source is required')
  findings.oneOf(top['event_source'], ['web', 'app', 'offline', 'crm'], 'event_source')
  findings.expect(isFilledText(top['event_source_id']), 'event_source_id is required')
  const events: unknown = top['data']
  if (!Array.isArray(events) || events.length < 1 || events.length > MAX_EVENTS) {
    return [...findings.all, 'data must hold 1 to 1000 events']
  }
  for (const [index, event] of events.entries()) {
    if (isJson(event)) checkTiktokEvent(event, `data[${index}].`, nowMs, findings)
    else findings.all.push(`data[${index}] is no object`)
  }
  return findings.all
}

function checkTiktokEvent(event: Json, path: string, nowMs: number, findings: Findings): void {
  findings.onlyKnown(event, EVENT_FIELDS, path)
  findings.expect(isFilledText(event['event']), `${path}event is required`)
  const id = event['event_id']
  findings.expect(id === undefined || isFilledText(id), `${path}event_id is not a valid string`)
  const atS = event['event_time']
  const isTime = typeof atS === 'number' && Number.isInteger(atS)
  findings.expect(isTime, `${path}event_time must be whole seconds`)
  if (isTime) {
    const agoS = nowMs / 1_000 - atS
    // The strictest of what connectors say: no limit is documented with certainty.
    findings.expect(agoS > -60 && agoS <= 7 * DAY_S, `${path}event_time is out of range`)
  }
  const limited = event['limited_data_use']
  findings.expect(limited === undefined || typeof limited === 'boolean', `${path}limited_data_use must be a boolean`)
  const page = event['page']
  findings.expect(page === undefined || (isJson(page) && isFilledText(page['url'])), `${path}page.url is empty`)
  checkTiktokUser(event['user'], `${path}user`, findings)
}

function checkTiktokUser(user: unknown, path: string, findings: Findings): void {
  if (!isJson(user)) return void findings.expect(false, `${path} is required`)
  findings.onlyKnown(user, USER_FIELDS, `${path}.`)
  findings.expect(Object.keys(user).length > 0, `${path} holds nothing to match by`)
  for (const [field, value] of Object.entries(user)) findings.expect(isFilledText(value), `${path}.${field} is empty`)
}

function tiktokAnswer(key: string, code: number, message: string, messages: readonly string[] = []): Judgement {
  return { key, messages, status: 200, body: { code, message, request_id: '20261120', data: {} } }
}
