/**
 * Makes the one record of a request and appends it; the answer waits for it if something was accepted, but not for a
 * refusal.
 */

import type { Website } from '../../domain/catalog.ts'
import { LIMITS, PLAN_LIMITS, type RateRuleName } from '../../domain/limits.ts'
import { encodeRecord, recordKey } from '../../domain/records.ts'
import type { ActivityRecord, LogRecord, RecordTopic, RequestLog } from '../../domain/records.ts'
import { hashAdvertising, hashAdvertisingByName, mentionsGpc } from '../../domain/privacy/redact-gpc.ts'
import { redactBody, redactLine, type RedactOptions, type RedactedBody } from '../../domain/privacy/redact.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import { timeOrderedId } from '../../runtime/random.ts'
import { traced, traceparent } from '../../runtime/tracing.ts'
import type { ApiDeps } from '../deps.ts'
import { noteRecorded, type Exchange, type RequestContent } from './exchange.ts'
import { ownerOf } from './owner.ts'
import { createFloods } from '../http/floods.ts'
import { sha256Hex } from '../../common/digest.ts'

interface FactAppend {
  readonly topic: RecordTopic
  /** The record's own ID within its website: it decides the partition, so that repeats meet there. */
  readonly id: string
  readonly build: (request: RequestLog) => LogRecord
  /**
   * How long the request has waited for other things, in ms: the log then gets less time, so that the answer is not
   * late.
   */
  readonly waitedMs?: number
}

interface AcceptedRequest {
  readonly exchange: Exchange
  readonly website: Website
  /** The organisation is over its quota: the body is not kept. */
  readonly isUnrecorded?: boolean
}

export interface Recorder {
  /** Resolves when the record is durable; rejects with `LogUnavailable`. */
  readonly accept: (request: AcceptedRequest, fact: FactAppend | null) => Promise<void>
  /** Appends a refusal or a read without waiting; failures are counted. */
  readonly note: (exchange: Exchange, status: number, code: string) => void
  /** One activity entry: the first refusal in a window. */
  readonly limitReached: (website: Website, rule: RateRuleName) => void
  readonly activity: (entry: Pick<ActivityRecord, 'organization' | 'website' | 'type' | 'subject' | 'message'>) => void
}

const LINE_CHARS_MAX = 512
/** A healthy log always gets at least this long, however long the request has waited. */
const APPEND_MS_MIN = LIMITS.appendDeadlineMs / 4

/** Refusals that are sent before the limits have counted a request, or because of them. */
const UNBOUNDED_CODES: ReadonlySet<string> = new Set([
  'rate_limited',
  'method_not_allowed',
  'aborted',
  'request_timeout',
  'invalid_request',
  'headers_too_large',
])

export function createRecorder(deps: ApiDeps): Recorder {
  const floods = createFloods(deps.nowMs)
  const appendQuietly = (topic: RecordTopic, key: string, value: string, what: 'request_record' | 'activity'): void => {
    deps.eventLog.append(topic, [{ key, value }]).catch(() => deps.metrics.shed(what))
  }
  const activity: Recorder['activity'] = (entry) => {
    const atMs = deps.nowMs()
    const id = timeOrderedId(deps.randomness, atMs)
    const logRetentionDays = retentionOf(deps, entry.organization)
    const { number: catalogNumber } = deps.catalog()
    const record: ActivityRecord = { v: 1, kind: 'activity', id, atMs, ...entry, catalogNumber, logRetentionDays }
    appendQuietly('activity', recordKey(entry, id), encodeRecord(record), 'activity')
  }
  return {
    accept: ({ exchange, website, isUnrecorded }, fact) => {
      noteRecorded(exchange)
      const form = isUnrecorded === true ? 'withheld' : 'kept'
      const request = requestLog(exchange, { website, status: 200, code: '', form }, deps)
      const record: LogRecord = fact === null ? { v: 1, kind: 'request', request } : fact.build(request)
      const key = recordKey(request, fact?.id ?? request.id)
      const deadlineMs = Math.max(APPEND_MS_MIN, LIMITS.appendDeadlineMs - (fact?.waitedMs ?? 0))
      const topic = fact?.topic ?? 'requests'
      const value = encodeRecord(inTrace(record))
      return traced({ name: `append ${topic}`, kind: 'PRODUCER' }, () =>
        deps.eventLog.append(topic, [{ key, value }], { deadlineMs }),
      )
    },
    note: (exchange, status, code) => {
      noteRecorded(exchange)
      const isUnbounded = UNBOUNDED_CODES.has(code)
      if (isUnbounded && !floods.takesRecord()) return deps.metrics.shed('request_record')
      const isDigest = isUnbounded && exchange.content.bytes.length > 0 && !floods.takesBody(exchange.addressHash)
      const form = isDigest ? 'digest' : 'kept'
      const request = requestLog(exchange, { website: ownerOf(exchange, deps), status, code, form }, deps)
      const value = encodeRecord({ v: 1, kind: 'request', request })
      appendQuietly('requests', recordKey(request, request.id), value, 'request_record')
    },
    activity,
    limitReached: (website, rule) =>
      activity({
        organization: website.organization.id,
        website: website.id,
        type: 'rate_limit_reached',
        subject: rule,
        message: `The rate limit "${rule}" was reached.`,
      }),
  }
}

function inTrace<R extends LogRecord>(record: R): R {
  const parent = traceparent()
  return parent === undefined ? record : { ...record, traceparent: parent }
}

interface NotedAnswer {
  /** As far as it is known. */
  readonly website: Website | null
  /** 0 if the client left before there was one. */
  readonly status: number
  readonly code: string
  /** What is kept of the body: `digest` is its length and its hash. */
  readonly form: 'kept' | 'digest' | 'withheld'
}

function requestLog(exchange: Exchange, answer: NotedAnswer, deps: ApiDeps): RequestLog {
  const { website } = answer
  const redact: RedactOptions = { hash: deps.keys.logHash, hasKey: deps.keys.hasKey, nowMs: exchange.receivedAtMs }
  const clean = (text: string): string => redactLine(text, LINE_CHARS_MAX, redact)
  return {
    id: exchange.id,
    receivedAtMs: exchange.receivedAtMs,
    durationMs: Math.round((performance.now() - exchange.startedMs) * 10) / 10,
    website: website?.id ?? '',
    organization: website?.organization.id ?? '',
    method: exchange.method,
    path: clean(exchange.path),
    status: answer.status,
    code: answer.code,
    origin: clean(exchange.origin ?? ''),
    userAgent: clean(exchange.userAgent),
    addressHash: exchange.addressHash,
    ...loggedBody(exchange, answer.form, redact),
    bodyBytes: exchange.content.bytes.length,
    logRetentionDays: website?.organization.logRetentionDays ?? LIMITS.logRetentionDays.min,
  }
}

function loggedBody(exchange: Exchange, form: NotedAnswer['form'], redact: RedactOptions): RedactedBody {
  if (form === 'withheld') return { body: '', bodyForm: 'withheld', isRedacted: false }
  const isDigest = form === 'digest' || (exchange.content.isEncoded && exchange.content.bytes.length > 0)
  return isDigest ? digestOf(exchange.content) : keptBody(exchange, redact)
}

function digestOf({ bytes }: RequestContent): RedactedBody {
  return { body: `sha256:${sha256Hex(bytes)}`, bodyForm: 'digest', isRedacted: false }
}

/** The members that contain receipts and tokens. */
const RECEIPT_MEMBERS = ['receipt', 'receipts', 'previous_receipt', 'handoff'] as const

/** Their values, if the body could be read. */
function sentReceipts(body: JsonObject | null): Pick<RedactOptions, 'sentReceipts'> {
  if (body === null) return {}
  const texts = new Set<string>()
  for (const name of RECEIPT_MEMBERS) {
    const sent = body[name]
    for (const text of Array.isArray(sent) ? sent : [sent]) if (typeof text === 'string') texts.add(text)
  }
  return { sentReceipts: texts }
}

function keptBody(exchange: Exchange, redact: RedactOptions): RedactedBody {
  const { bytes, isCut, text, body } = exchange.content
  const raw = text ?? bytes.toString('latin1')
  const allowed = withoutAdvertising(raw, exchange, redact)
  const kept = redactBody(
    { text: text === null ? null : allowed, latin1: () => allowed, isCut },
    {
      ...redact,
      ...sentReceipts(body),
      toBase64: (latin1) => Buffer.from(latin1, 'latin1').toString('base64'),
    },
  )
  return { ...kept, isRedacted: kept.isRedacted || allowed !== raw }
}

/** Under Global Privacy Control advertising identities are replaced by hashes, in refused bodies too. */
function withoutAdvertising(raw: string, exchange: Exchange, { hash }: RedactOptions): string {
  const { body } = exchange.content
  if (body !== null) return saysGpc(exchange) ? hashAdvertising(raw, body, hash) : raw
  return saysGpc(exchange) || mentionsGpc(raw) ? hashAdvertisingByName(raw, hash) : raw
}

/** Global Privacy Control, from the body or the browser's header. */
export function saysGpc(exchange: Exchange): boolean {
  return exchange.hasGpcHeader || exchange.content.body?.['gpc'] === true
}

function retentionOf(deps: ApiDeps, organization: string): number {
  return deps.catalog().organizations.get(organization)?.logRetentionDays ?? PLAN_LIMITS.Free.logRetentionDays
}
