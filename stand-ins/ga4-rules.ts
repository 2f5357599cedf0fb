/**
 * Checks a Measurement Protocol request against Google's documented rules; shares no code with the builder of our
 * requests.
 *
 * Sources: developers.google.com/analytics/devguides/collection/protocol/ga4, pages reference (fields, reserved names),
 * sending-events (limitations) and validating-events (codes).
 */

import { isJson, parsed, type Json } from './checks.ts'

export interface ValidationMessage {
  readonly fieldPath: string
  readonly description: string
  readonly validationCode:
    | 'VALUE_INVALID'
    | 'VALUE_REQUIRED'
    | 'NAME_INVALID'
    | 'NAME_RESERVED'
    | 'VALUE_OUT_OF_BOUNDS'
    | 'EXCEEDED_MAX_ENTITIES'
    | 'NAME_DUPLICATED'
}

interface Ga4Hit {
  readonly query: URLSearchParams
  readonly body: string
  readonly nowMs: number
}

const MAX = {
  bodyBytes: 130_000,
  events: 25,
  params: 25,
  nameChars: 40,
  valueChars: 100,
  userProperties: 25,
  propertyNameChars: 24,
  propertyValueChars: 36,
  ageMs: 72 * 3_600_000,
} as const

/** Two processes on one machine share a clock; more than this ahead is in the future. */
const AHEAD_MS = 1_000

const LONGER_VALUES: Readonly<Record<string, number>> = { page_title: 300, page_referrer: 420, page_location: 1_000 }

const RESERVED_EVENTS: ReadonlySet<string> = new Set(
  (
    'ad_activeview ad_click ad_exposure ad_query ad_reward adunit_exposure app_background app_clear_data ' +
    'app_exception app_install app_remove app_store_refund app_store_subscription_cancel ' +
    'app_store_subscription_convert app_store_subscription_renew app_update app_upgrade dynamic_link_app_open ' +
    'dynamic_link_app_update dynamic_link_first_open error firebase_campaign firebase_in_app_message_action ' +
    'firebase_in_app_message_dismiss firebase_in_app_message_impression first_open first_visit in_app_purchase ' +
    'notification_dismiss notification_foreground notification_open notification_receive notification_send ' +
    'os_update session_start session_start_with_rollout user_engagement'
  ).split(' '),
)
const RESERVED_EVENT_PREFIXES = ['_', 'firebase_', 'ga_', 'google_', 'gtag.']
const RESERVED_PARAMS: ReadonlySet<string> = new Set(['firebase_conversion'])
const RESERVED_PARAM_PREFIXES = ['_', 'firebase_', 'ga_', 'google_', 'gtag.']
const RESERVED_PROPERTIES: ReadonlySet<string> = new Set([
  'first_open_time',
  'first_visit_time',
  'last_deep_link_referrer',
  'user_id',
  'first_open_after_install',
])
const FIELDS: ReadonlySet<string> = new Set([
  'client_id',
  'user_id',
  'timestamp_micros',
  'user_properties',
  'user_data',
  'consent',
  'non_personalized_ads',
  'user_location',
  'ip_override',
  'device',
  'user_agent',
  'validation_behavior',
  'events',
])

type AddMessage = (fieldPath: string, validationCode: ValidationMessage['validationCode'], description: string) => void

/** Everything wrong with it, in the form of the validation server's answers; empty if it is valid. */
export function checkGa4Hit(hit: Ga4Hit): ValidationMessage[] {
  const messages: ValidationMessage[] = []
  const report: AddMessage = (fieldPath, validationCode, description) => {
    messages.push({ fieldPath, description, validationCode })
  }
  checkQuery(hit.query, report)
  if (Buffer.byteLength(hit.body) >= MAX.bodyBytes)
    report('', 'VALUE_OUT_OF_BOUNDS', 'The body must be smaller than 130 kB.')
  const body = parsed(hit.body)
  if (body === null) report('', 'VALUE_INVALID', 'The body is not a JSON object.')
  else checkBody(body, hit.nowMs, report)
  return messages
}

function checkQuery(query: URLSearchParams, report: AddMessage): void {
  const measurementId = query.get('measurement_id') ?? ''
  if (measurementId === '') report('measurement_id', 'VALUE_REQUIRED', 'A measurement_id is required for web streams.')
  else if (!/^G-[A-Z0-9]+$/.test(measurementId)) report('measurement_id', 'VALUE_INVALID', 'Not a measurement ID.')
  if ((query.get('api_secret') ?? '') === '') report('api_secret', 'VALUE_REQUIRED', 'An api_secret is required.')
}

function checkBody(body: Json, nowMs: number, report: AddMessage): void {
  for (const field of Object.keys(body)) {
    if (!FIELDS.has(field)) report(field, 'VALUE_INVALID', `There is no field [${field}].`)
  }
  const clientId = body['client_id']
  if (clientId === undefined || clientId === '') report('client_id', 'VALUE_REQUIRED', 'A client_id is required.')
  else if (typeof clientId !== 'string' || !/^([1-9]\d*\.[1-9]\d*|(?!GA\d\.)\S{16,256})$/.test(clientId)) {
    report('client_id', 'VALUE_INVALID', 'Must be two positive integers joined by a dot, or a unique ID.')
  }
  checkTime('timestamp_micros', body['timestamp_micros'], nowMs, report)
  checkGa4Consent(body['consent'], report)
  checkUserProperties(body['user_properties'], report)
  const behavior = body['validation_behavior']
  if (behavior !== undefined && behavior !== 'RELAXED' && behavior !== 'ENFORCE_RECOMMENDATIONS') {
    report('validation_behavior', 'VALUE_INVALID', 'Must be RELAXED or ENFORCE_RECOMMENDATIONS.')
  }
  checkGa4Events(body['events'], nowMs, report)
}

function checkGa4Events(events: unknown, nowMs: number, report: AddMessage): void {
  if (!Array.isArray(events) || events.length === 0) {
    return report('events', 'VALUE_REQUIRED', 'At least one event is required.')
  }
  if (events.length > MAX.events) report('events', 'EXCEEDED_MAX_ENTITIES', 'At most 25 events are accepted.')
  for (const [index, event] of events.entries()) {
    const path = `events[${index}]`
    if (!isJson(event)) {
      report(path, 'VALUE_INVALID', 'An event is an object.')
      continue
    }
    checkName(path, event['name'], { reserved: RESERVED_EVENTS, prefixes: RESERVED_EVENT_PREFIXES }, report)
    checkParams(`${path}.params`, event['params'] ?? {}, nowMs, report)
  }
}

interface NameRules {
  readonly reserved: ReadonlySet<string>
  readonly prefixes: readonly string[]
}

function checkName(path: string, name: unknown, rules: NameRules, report: AddMessage): void {
  if (typeof name !== 'string' || name === '') return report(path, 'VALUE_REQUIRED', 'A name is required.')
  if (name.length > MAX.nameChars) report(path, 'NAME_INVALID', 'A name has at most 40 characters.')
  if (rules.reserved.has(name) || rules.prefixes.some((prefix) => name.startsWith(prefix))) {
    return report(path, 'NAME_RESERVED', `[${name}] is reserved.`)
  }
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
    report(path, 'NAME_INVALID', `[${name}] must begin with a letter and have only letters, digits and underscores.`)
  }
}

function checkParams(path: string, params: unknown, nowMs: number, report: AddMessage): void {
  if (!isJson(params)) return report(path, 'VALUE_INVALID', 'Parameters are an object.')
  const names = Object.keys(params)
  if (names.length > MAX.params) report(path, 'EXCEEDED_MAX_ENTITIES', 'At most 25 parameters are accepted.')
  for (const name of names) {
    const at = `${path}.${name}`
    checkName(at, name, { reserved: RESERVED_PARAMS, prefixes: RESERVED_PARAM_PREFIXES }, report)
    checkParamValue(at, name, params[name], report)
  }
  checkTime(`${path}.timestamp_micros`, params['timestamp_micros'], nowMs, report)
  const sessionId = params['session_id']
  if (sessionId !== undefined && !/^[1-9]\d*$/.test(scalarText(sessionId))) {
    report(`${path}.session_id`, 'VALUE_INVALID', 'Must be a positive integer.')
  }
  const engagement = params['engagement_time_msec']
  if (engagement !== undefined && !/^[1-9]\d*$/.test(scalarText(engagement))) {
    report(`${path}.engagement_time_msec`, 'VALUE_INVALID', 'Must be a positive number.')
  }
}

function checkParamValue(path: string, name: string, value: unknown, report: AddMessage): void {
  if (name === 'items' && Array.isArray(value)) return
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return report(path, 'VALUE_INVALID', 'A parameter is a text or a number.')
  }
  if (String(value).length > (LONGER_VALUES[name] ?? MAX.valueChars)) {
    report(path, 'VALUE_OUT_OF_BOUNDS', 'The value is too long.')
  }
}

function checkTime(path: string, micros: unknown, nowMs: number, report: AddMessage): void {
  if (micros === undefined) return
  const atMs = Number(scalarText(micros)) / 1_000
  if (!Number.isInteger(atMs * 1_000) || atMs <= 0) return report(path, 'VALUE_INVALID', 'Must be Unix microseconds.')
  if (nowMs - atMs > MAX.ageMs) report(path, 'VALUE_OUT_OF_BOUNDS', 'Must not be more than 72 hours back.')
  if (atMs - nowMs > AHEAD_MS) report(path, 'VALUE_OUT_OF_BOUNDS', 'Must not be in the future.')
}

function checkGa4Consent(consent: unknown, report: AddMessage): void {
  if (consent === undefined) return
  if (!isJson(consent)) return report('consent', 'VALUE_INVALID', 'Must be an object.')
  for (const [field, value] of Object.entries(consent)) {
    const isKnown = field === 'ad_user_data' || field === 'ad_personalization'
    const isAnswer = value === 'GRANTED' || value === 'DENIED'
    if (!isKnown || !isAnswer) report(`consent.${field}`, 'VALUE_INVALID', 'Must be GRANTED or DENIED.')
  }
}

function checkUserProperties(properties: unknown, report: AddMessage): void {
  if (properties === undefined) return
  if (!isJson(properties)) return report('user_properties', 'VALUE_INVALID', 'Must be an object.')
  const entries = Object.entries(properties)
  if (entries.length > MAX.userProperties) report('user_properties', 'EXCEEDED_MAX_ENTITIES', 'At most 25 are taken.')
  for (const [name, property] of entries) {
    const path = `user_properties.${name}`
    checkName(path, name, { reserved: RESERVED_PROPERTIES, prefixes: RESERVED_PARAM_PREFIXES }, report)
    if (name.length > MAX.propertyNameChars) report(path, 'NAME_INVALID', 'A property name has at most 24 characters.')
    const value = isJson(property) ? scalarText(property['value']) : ''
    if (value.length > MAX.propertyValueChars) report(path, 'VALUE_OUT_OF_BOUNDS', 'At most 36 characters.')
  }
}

function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
