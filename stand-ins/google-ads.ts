/**
 * A stand-in for Google's Data Manager API that follows its documented rules, independently of the builder of our
 * requests.
 *
 * Sources: google/ads/datamanager/v1/*.proto in googleapis/googleapis, and under developers.google.com/data-manager/api
 * devguides/limits, devguides/diagnostics, devguides/concepts/understand-errors (November 2026).
 */

import { Findings, isJson, isFilledText, parsed, type Json } from './checks.ts'
import { createGuard, startStandIn } from './server.ts'
import type { GuardedOptions, Judgement, SimulatedRequest, StandInServer } from './server.ts'

/** The later verdict on a request: the same for every event, or different for some of them. */
export interface GoogleVerdict {
  readonly requestStatus: 'PROCESSING' | 'SUCCESS' | 'PARTIAL_SUCCESS' | 'FAILED'
  /** Without its prefix, for example `TOO_RECENT_CLICK`. */
  readonly reasons?: readonly string[]
}

interface GoogleAdsOptions extends GuardedOptions {
  /** The default is success. */
  readonly judge?: (events: readonly Json[]) => GoogleVerdict
}

interface ReceivedEvents {
  readonly events: readonly Json[]
  readonly atMs: number
}

/** How long after acceptance a request is judged; until then it is PROCESSING. */
const JUDGED_AFTER_MS = 20 * 60_000
const MAX_EVENTS = 2_000
const MAX_DESTINATIONS = 10
const TOP_FIELDS = ['destinations', 'events', 'consent', 'validateOnly', 'encoding', 'encryptionInfo']
const DESTINATION_FIELDS = ['operatingAccount', 'loginAccount', 'linkedAccount', 'productDestinationId', 'reference']
const EVENT_FIELDS = (
  'eventTimestamp transactionId eventSource adIdentifiers consent conversionValue currency conversionCount userData ' +
  'lastUpdatedTimestamp eventDeviceInfo cartData customVariables userProperties experimentalFields ' +
  'destinationReferences thirdPartyUserData eventLocation'
).split(' ')
const SOURCES = ['WEB', 'APP', 'IN_STORE', 'PHONE', 'MESSAGE', 'OTHER']
const IDENTIFIERS =
  'gclid gbraid wbraid sessionAttributes dclid impressionId matchId mobileDeviceId landingPageDeviceInfo encryptedUserIds'.split(
    ' ',
  )
const CONSENTS = ['CONSENT_GRANTED', 'CONSENT_DENIED', 'CONSENT_STATUS_UNSPECIFIED']

/** Answers `events:ingest` and `requestStatus:retrieve`; a fault's key is the account, or for the latter `status`. */
export function startGoogleAdsStandIn(options: GoogleAdsOptions): Promise<StandInServer> {
  const taken = new Map<string, ReceivedEvents>()
  const guard = createGuard(options.guard)
  return startStandIn(options, (request) => {
    const address = `${request.method} ${request.url.pathname}`
    const isIngest = address === 'POST /v1/events:ingest'
    if (!isIngest && address !== 'GET /v1/requestStatus:retrieve') return null
    const key = isIngest ? operatingAccountOf(request) : 'status'
    const token = /^Bearer (.+)$/.exec(request.headers['authorization'] ?? '')?.[1] ?? ''
    if (!guard.isToken(token, key))
      return googleRefusal(key, 401, 'UNAUTHENTICATED', { reason: 'ACCESS_TOKEN_INVALID' })
    if (!guard.isOpen(key)) return googleRefusal(key, 403, 'PERMISSION_DENIED', { reason: 'PERMISSION_DENIED' })
    if (!guard.hasRoom(request.nowMs))
      return googleRefusal(key, 429, 'RESOURCE_EXHAUSTED', { reason: 'RATE_LIMIT_EXCEEDED' })
    return isIngest ? judgeIngest(request, key, taken) : judgeStatus(request, options, taken)
  })
}

/**
 * Everything wrong with the body of an ingest; one bad event is enough to refuse all of them.
 * @internal
 */
export function checkGoogleAdsRequest(body: string, nowMs: number): readonly string[] {
  const findings = new Findings()
  const top = parsed(body)
  if (top === null) return ['the body is no JSON object']
  findings.onlyKnown(top, TOP_FIELDS, '')
  const destinations = jsonList(top['destinations'])
  findings.expect(destinations.length >= 1 && destinations.length <= MAX_DESTINATIONS, 'destinations: 1 to 10')
  for (const [index, destination] of destinations.entries()) {
    checkDestination(destination, `destinations[${index}].`, findings)
  }
  const events = jsonList(top['events'])
  findings.expect(events.length >= 1 && events.length <= MAX_EVENTS, 'events: 1 to 2000')
  for (const [index, event] of events.entries()) checkGoogleAdsEvent(event, `events[${index}].`, nowMs, findings)
  const validateOnly = top['validateOnly']
  findings.expect(validateOnly === undefined || typeof validateOnly === 'boolean', 'validateOnly must be a boolean')
  return findings.all
}

function judgeIngest(request: SimulatedRequest, key: string, taken: Map<string, ReceivedEvents>): Judgement {
  const messages = checkGoogleAdsRequest(request.body, request.nowMs)
  if (messages.length > 0) return googleRefusal(key, 400, 'INVALID_ARGUMENT', { reason: 'INVALID_ARGUMENT', messages })
  const top = parsed(request.body)
  const requestId = `request-${taken.size + 1}`
  const events = jsonList(top?.['events'])
  if (top?.['validateOnly'] !== true) taken.set(requestId, { events, atMs: request.nowMs })
  return { key, messages, status: 200, body: { requestId } }
}

function judgeStatus(
  { url, nowMs }: SimulatedRequest,
  options: GoogleAdsOptions,
  taken: Map<string, ReceivedEvents>,
): Judgement {
  const request = taken.get(url.searchParams.get('requestId') ?? '')
  if (request === undefined) return googleRefusal('status', 404, 'NOT_FOUND', { reason: 'NOT_FOUND' })
  const isJudged = nowMs - request.atMs >= JUDGED_AFTER_MS
  const proper = options.judge?.(request.events) ?? { requestStatus: 'SUCCESS' }
  const { requestStatus, reasons = [] } = isJudged ? proper : { requestStatus: 'PROCESSING' }
  const errorCounts = reasons.map((reason) => ({ recordCount: '1', reason: `PROCESSING_ERROR_REASON_${reason}` }))
  const recordCount = String(request.events.length)
  const row = {
    requestStatus,
    ...(errorCounts.length === 0 ? {} : { errorInfo: { errorCounts } }),
    eventsIngestionStatus: { recordCount },
  }
  return { key: 'status', messages: [], status: 200, body: { requestStatusPerDestination: [row] } }
}

function operatingAccountOf(request: SimulatedRequest): string {
  const account = jsonList(parsed(request.body)?.['destinations'])[0]?.['operatingAccount']
  const id = isJson(account) ? account['accountId'] : ''
  return isFilledText(id) ? id : ''
}

function jsonList(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map((each: unknown) => (isJson(each) ? each : {})) : []
}

function checkDestination(destination: Json, path: string, findings: Findings): void {
  findings.onlyKnown(destination, DESTINATION_FIELDS, path)
  const id = destination['productDestinationId']
  findings.expect(isFilledText(id) && /^[0-9]+$/.test(id), `${path}productDestinationId: INVALID_CONVERSION_ACTION_ID`)
  findings.expect(destination['operatingAccount'] !== undefined, `${path}operatingAccount is required`)
  for (const name of ['operatingAccount', 'loginAccount', 'linkedAccount']) {
    const account = destination[name]
    if (account === undefined) continue
    const isWhole = isJson(account) && account['accountType'] === 'GOOGLE_ADS'
    const accountId = isJson(account) ? account['accountId'] : ''
    findings.expect(
      isWhole && isFilledText(accountId) && /^[0-9]+$/.test(accountId),
      `${path}${name} must be digits only`,
    )
  }
}

function checkGoogleAdsEvent(event: Json, path: string, nowMs: number, findings: Findings): void {
  findings.onlyKnown(event, EVENT_FIELDS, path)
  const time = event['eventTimestamp']
  const isTime = isFilledText(time) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(time)
  findings.expect(isTime, `${path}eventTimestamp: EVENT_TIME_INVALID`)
  if (isTime) findings.expect(Date.parse(time) <= nowMs + 60_000, `${path}eventTimestamp lies in the future`)
  findings.expect(event['eventSource'] !== undefined, `${path}eventSource: REQUIRED_FIELD_MISSING`)
  findings.oneOf(event['eventSource'], SOURCES, `${path}eventSource`)
  const id = event['transactionId']
  findings.expect(id === undefined || isFilledText(id), `${path}transactionId must be a text`)
  checkConsent(event['consent'], `${path}consent.`, findings)
  checkIdentifiers(event['adIdentifiers'], `${path}adIdentifiers.`, findings)
}

function checkConsent(consent: unknown, path: string, findings: Findings): void {
  if (consent === undefined) return
  if (!isJson(consent)) return void findings.expect(false, `${path} must be an object`)
  findings.onlyKnown(consent, ['adUserData', 'adPersonalization'], path)
  for (const [field, value] of Object.entries(consent)) findings.oneOf(value, CONSENTS, `${path}${field}`)
}

function checkIdentifiers(identifiers: unknown, path: string, findings: Findings): void {
  if (!isJson(identifiers)) return void findings.expect(false, `${path} NO_IDENTIFIERS_PROVIDED`)
  findings.onlyKnown(identifiers, IDENTIFIERS, path)
  const clicks = ['gclid', 'gbraid', 'wbraid'].filter((name) => identifiers[name] !== undefined)
  findings.expect(clicks.length === 1, `${path} one of gclid, gbraid and wbraid`)
  for (const [field, value] of Object.entries(identifiers))
    findings.expect(isFilledText(value), `${path}${field} is empty`)
  const attributes = identifiers['sessionAttributes']
  const isBase64 = attributes === undefined || (isFilledText(attributes) && /^[A-Za-z0-9+/_-]+=*$/.test(attributes))
  findings.expect(isBase64, `${path}sessionAttributes is no base64`)
}

function googleRefusal(
  key: string,
  code: number,
  status: string,
  { reason, messages = [] }: { readonly reason: string; readonly messages?: readonly string[] },
): Judgement {
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'datamanager.googleapis.com' }
  const fieldViolations = messages.map((description) => ({
    field: description.split(' ')[0] ?? '',
    description,
    reason,
  }))
  const bad = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }
  const details = messages.length === 0 ? [info] : [info, bad]
  return { key, messages, status: code, body: { error: { code, message: messages[0] ?? status, status, details } } }
}
