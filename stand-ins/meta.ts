/**
 * A stand-in for Meta's Conversions API that follows its documented rules, independently of the builder of our
 * requests.
 *
 * Sources, under developers.facebook.com: documentation/ads-commerce/conversions-api/parameters/server-event and
 * fbp-and-fbc, docs/marketing-api/conversions-api/using-the-api and /support (November 2026).
 */

import { isList } from '../domain/guards.ts'
import { Findings, isJson, isFilledText, parsed, type Json } from './checks.ts'
import { createGuard, startStandIn } from './server.ts'
import type { GuardedOptions, Judgement, SimulatedRequest, StandInServer } from './server.ts'
import { DAY_S } from '../domain/durations.ts'

/** Versions of the Graph API in November 2026: each is in force for about two years, and three come out in a year. */
const VERSIONS = { oldest: 21, newest: 26 }
const MAX_EVENTS = 1_000
const ACTION_SOURCES =
  'website app email phone_call chat physical_store system_generated business_messaging other'.split(' ')
const TOP_FIELDS = ['data', 'test_event_code', 'access_token', 'partner_agent', 'namespace_id']
const EVENT_FIELDS = (
  'event_name event_time event_id action_source event_source_url user_data custom_data opt_out referrer_url ' +
  'data_processing_options data_processing_options_country data_processing_options_state app_data ' +
  'original_event_data attribution_data'
).split(' ')
const USER_FIELDS = (
  'fbc fbp client_ip_address client_user_agent subscription_id fb_login_id lead_id madid anon_id ctwa_clid ' +
  'em ph fn ln ge db ct st zp country external_id'
).split(' ')

/** Answers `POST /v<number>/<pixel>/events`; a fault's key is the pixel. */
export function startMetaStandIn(options: GuardedOptions): Promise<StandInServer> {
  const guard = createGuard(options.guard)
  return startStandIn(options, (request) => {
    const [, version, pixel] = /^\/v([0-9]+)\.0\/([0-9]+)\/events$/.exec(request.url.pathname) ?? []
    if (request.method !== 'POST' || pixel === undefined) return null
    const code = versionProblem(Number(version))
    if (code !== null)
      return metaRefusal(pixel, { code, status: 400, messages: ['The version of the API in the address.'] })
    const token = tokenOf(request)
    if (!guard.isToken(token, pixel)) return metaRefusal(pixel, { code: 190, status: 401, messages: [] })
    // A missing pixel and one that the token may not see get the same answer.
    if (!guard.isOpen(pixel)) return metaRefusal(pixel, { code: 100, subcode: 33, status: 400, messages: [] })
    if (!guard.hasRoom(request.nowMs))
      return metaRefusal(pixel, { code: 80_004, status: 400, messages: [], isTransient: true })
    const events = eventsOf(request)
    const { messages, subcode } = checkEvents(request)
    if (messages.length > 0) return metaRefusal(pixel, { code: 100, subcode, status: 400, messages })
    return {
      key: pixel,
      messages,
      status: 200,
      body: { events_received: events.length, messages: [], fbtrace_id: 'A1' },
    }
  })
}

/** Null for a version that is in force; otherwise the code for one that is over, or does not exist yet. */
function versionProblem(version: number): number | null {
  if (version < VERSIONS.oldest) return 2_635
  return version > VERSIONS.newest ? 2_500 : null
}

/**
 * Everything wrong with a request's body; one bad event is enough to refuse all of them.
 * @internal
 */
export function checkMetaRequest(body: string, nowMs: number): readonly string[] {
  return checkEvents({ body, nowMs }).messages
}

function tokenOf({ headers, url, body }: SimulatedRequest): string {
  const bearer = /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1]
  const inBody = parsed(body)?.['access_token']
  return bearer ?? url.searchParams.get('access_token') ?? (isFilledText(inBody) ? inBody : '')
}

function eventsOf({ body }: { readonly body: string }): readonly unknown[] {
  const data = parsed(body)?.['data']
  return isList(data) ? data : []
}

function checkEvents(request: { readonly body: string; readonly nowMs: number }): {
  messages: readonly string[]
  subcode: number | undefined
} {
  const findings = new Findings()
  const top = parsed(request.body)
  if (top === null) return { messages: ['the body is no JSON object'], subcode: undefined }
  findings.onlyKnown(top, TOP_FIELDS, '')
  const events = eventsOf(request)
  findings.expect(events.length >= 1 && events.length <= MAX_EVENTS, 'data must hold 1 to 1000 events')
  let subcode: number | undefined
  for (const [index, event] of events.entries()) {
    const path = `data[${index}].`
    if (!isJson(event)) findings.all.push(`${path} is no object`)
    else subcode = checkMetaEvent(event, path, request.nowMs, findings) ?? subcode
  }
  return { messages: findings.all, subcode }
}

function checkMetaEvent(event: Json, path: string, nowMs: number, findings: Findings): number | null {
  findings.onlyKnown(event, EVENT_FIELDS, path)
  findings.expect(isFilledText(event['event_name']), `${path}event_name is required`)
  findings.expect(event['event_id'] === undefined || isFilledText(event['event_id']), `${path}event_id must be a text`)
  findings.expect(event['action_source'] !== undefined, `${path}action_source is required`)
  findings.oneOf(event['action_source'], ACTION_SOURCES, `${path}action_source`)
  checkDataProcessing(event, path, findings)
  const isOld = !checkMetaTime(event['event_time'], path, nowMs, findings)
  const user = event['user_data']
  if (!isJson(user)) findings.all.push(`${path}user_data is required`)
  const isMalformed = isJson(user) && !checkUser(user, path, nowMs, findings)
  if (event['action_source'] === 'website') {
    const isWhole = isFilledText(event['event_source_url']) && isJson(user) && isFilledText(user['client_user_agent'])
    findings.expect(isWhole, `${path}website events need event_source_url and client_user_agent`)
  }
  if (isOld) return 2_804_003
  return isMalformed ? 2_804_001 : null
}

function checkMetaTime(value: unknown, path: string, nowMs: number, findings: Findings): boolean {
  const nowS = nowMs / 1_000
  const isNumber = typeof value === 'number' && Number.isInteger(value)
  if (!findings.expect(isNumber, `${path}event_time must be whole seconds`) || !isNumber) return true
  findings.expect(value <= nowS + 60, `${path}event_time lies in the future`)
  return findings.expect(nowS - value <= 7 * DAY_S, `${path}event_time is more than 7 days back`)
}

function checkUser(user: Json, path: string, nowMs: number, findings: Findings): boolean {
  findings.onlyKnown(user, USER_FIELDS, `${path}user_data.`)
  findings.expect(Object.values(user).some(isFilledText), `${path}user_data holds nothing to match by`)
  const fbc = user['fbc']
  const fbp = user['fbp']
  const createdMs = Number(/^fb\.\d+\.(\d{13})\.[^\s.][^\s]*$/.exec(isFilledText(fbc) ? fbc : '')?.[1])
  const isFbc = fbc === undefined || (nowMs - createdMs <= 90 * DAY_S * 1_000 && createdMs <= nowMs + 60_000)
  const isFbp = fbp === undefined || /^fb\.\d+\.\d+\.\d+(\.[^\s.]+)?$/.test(isFilledText(fbp) ? fbp : '')
  const isFbcRight = findings.expect(isFbc, `${path}user_data.fbc is malformed, older than 90 days or from the future`)
  return findings.expect(isFbp, `${path}user_data.fbp is malformed`) && isFbcRight
}

function checkDataProcessing(event: Json, path: string, findings: Findings): void {
  const options = event['data_processing_options']
  if (options === undefined) return
  const isKnown = Array.isArray(options) && (options.length === 0 || (options.length === 1 && options[0] === 'LDU'))
  findings.expect(isKnown, `${path}data_processing_options must be [] or ["LDU"]`)
  if (!Array.isArray(options) || options.length === 0) return
  const country = event['data_processing_options_country']
  const state = event['data_processing_options_state']
  const isPlace = (country === 0 && state === 0) || (country === 1 && (state === 0 || state === 1_000))
  findings.expect(isPlace, `${path}data_processing_options need country and state`)
}

interface MetaRefusal {
  readonly code: number
  readonly subcode?: number | undefined
  readonly status: number
  readonly messages: readonly string[]
  readonly isTransient?: boolean
}

/** Meta's error messages repeat what was sent, as the real ones do. */
function metaRefusal(key: string, { code, subcode, status, messages, isTransient = false }: MetaRefusal): Judgement {
  const error = {
    message: messages[0] ?? 'The request was refused.',
    type: 'OAuthException',
    code,
    ...(subcode === undefined ? {} : { error_subcode: subcode }),
    is_transient: isTransient,
    fbtrace_id: 'A1',
  }
  return { key, messages, status, body: { error } }
}
