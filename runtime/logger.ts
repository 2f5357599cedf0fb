/** Process diagnostics: one line per outcome, values as fields, and no secrets. */

import { isatty } from 'node:tty'

import pino from 'pino'

import { objectOf, memberOf } from '../domain/strict-json.ts'
import { printable, printableJson } from '../common/printable.ts'
import { couldBeReceipt } from '../domain/receipt.ts'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

type LogFields = Readonly<Record<string, unknown>>

/** Takes fields and a fixed lower-case message, or only a message. An error goes under the field `err`. */
interface LogMethod {
  (fields: LogFields, message: string): void
  (message: string): void
}

export interface Logger {
  readonly debug: LogMethod
  readonly info: LogMethod
  readonly warn: LogMethod
  readonly error: LogMethod
  /** The same logger with fields that every line carries. */
  readonly child: (fields: LogFields) => Logger
}

/** JSON for machines, text for people; `auto` chooses text if standard error is a terminal. */
export const LOG_FORMATS = ['auto', 'json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

interface LoggerOptions {
  readonly program: string
  readonly level: LogLevel
  /** Default `auto`. */
  readonly format?: LogFormat
  /** Receives whole lines; by default they go to standard error. */
  readonly write?: (line: string) => void
  /** Called for each warning or error with a field `task`: a round of work in the background has failed. */
  readonly onTaskFailure?: (task: string) => void
}

/** Longest text that a field keeps: an engine's error may carry a whole batch. */
const MAX_TEXT_CHARS = 2_000
const MAX_DEPTH = 6
const MAX_MEMBERS = 100

const SECRET_NAMES =
  /(secret|password|passphrase|credential|authorization|cookie|receipt|handoff|token|apikey|privatekey|rawpacket)/
/** Client addresses are personal; the service's own addresses use other names. */
const ADDRESS_NAMES = new Set(['ip', 'ips', 'address', 'clientip', 'clientaddress', 'remoteaddress', 'xforwardedfor'])
/** Fields that only sound secret: they hold counts, names and hashes. */
const PLAIN_NAMES = /(hash|count|name|names|file|ref|bytes|ms)$/

/** Handoff tokens, and runs of 43 base64url characters, among which are receipts. */
const TOKEN_TEXT = /wht_[A-Za-z0-9_-]{20,}/g
const RECEIPT_TEXT = /(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g
/** A scheme of any length would be tried from each of its letters. */
const URL_USER = /([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/@"']+@/gi
const SECRET_QUERY = /([?&](?:api_secret|access_token|client_secret|refresh_token|token|code)=)[^&\s"']+/gi

export function createLogger(options: LoggerOptions): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: { program: options.program },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  }
  const standardError = options.write === undefined ? pino.destination({ dest: 2, sync: true }) : null
  const write = options.write ?? ((line: string) => void standardError?.write(line))
  const format = options.format ?? 'auto'
  const isText = format === 'text' || (format === 'auto' && standardError !== null && isatty(2))
  const inner = pino(settings, { write: (line: string) => write(isText ? textLine(line) : printableJson(line)) })
  return wrap(inner, options.onTaskFailure ?? (() => undefined))
}

/**
 * A line of JSON as readable text: time, level, message, fields. Values from outside cannot control a terminal.
 * @internal
 */
export function textLine(line: string): string {
  const { time, level, msg, program: _, ...fields } = objectOf(JSON.parse(line))
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(name, value)}`)
  const head = [String(time).slice(11, 19), String(level).toUpperCase().padEnd(5), String(msg)].join(' ')
  return `${printable([head, ...shown].join('  '))}\n`
}

/** Quoted only if its end would not be clear otherwise. */
function fieldText(name: string, value: unknown): string {
  if (typeof value === 'string') return /^[^\s"]+$/.test(value) ? value : JSON.stringify(value)
  const message = memberOf(value, 'message')
  return JSON.stringify(name === 'err' && typeof message === 'string' ? message : value)
}

/** A logger that drops everything; for tests and tools that print their own messages. */
export const SILENT_LOGGER: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT_LOGGER,
}

/**
 * A copy of a value that is safe to log: secrets replaced by name and by form, errors reduced, size bounded.
 * @internal
 */
export function redactValue(value: unknown, name = '', depth = 0): unknown {
  if (isPlain(value)) return value
  if (isSecretName(name)) return '[redacted]'
  if (typeof value === 'string') return withoutSecrets(value)
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'object' && value !== null ? redactObject(value, depth) : `[${typeof value}]`
}

/**
 * A text without receipts, tokens, user names in addresses and secrets in queries, cut to a bounded length.
 * @internal
 */
export function withoutSecrets(text: string): string {
  const bounded = text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text
  return bounded
    .replaceAll(TOKEN_TEXT, '[token]')
    .replaceAll(RECEIPT_TEXT, (run) => (couldBeIssued(run) ? '[receipt]' : run))
    .replaceAll(URL_USER, '$1[redacted]@')
    .replaceAll(SECRET_QUERY, '$1[redacted]')
}

/** Other runs of that length are names and identifiers, of files for example, which whoever reads a line needs. */
function couldBeIssued(run: string): boolean {
  return couldBeReceipt({ hasKey: () => true }, run, Date.now())
}

function redactObject(value: object, depth: number): unknown {
  if (value instanceof Error) return redactError(value, depth)
  if (depth >= MAX_DEPTH) return '[deep]'
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => redactValue(item, '', depth + 1))
  const members = Object.entries(value).slice(0, MAX_MEMBERS)
  return Object.fromEntries(members.map(([key, member]) => [key, redactValue(member, key, depth + 1)]))
}

function isPlain(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number'
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  return ADDRESS_NAMES.has(plain) || (SECRET_NAMES.test(plain) && !PLAIN_NAMES.test(plain))
}

/** Only the fields that every error has: libraries attach whole requests and packets. */
function redactError(error: Error, depth: number): object {
  const code = memberOf(error, 'code')
  return {
    type: error.name,
    message: withoutSecrets(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: withoutSecrets(error.stack ?? ''),
    ...(error.cause === undefined || depth >= MAX_DEPTH ? {} : { cause: redactValue(error.cause, '', depth + 1) }),
  }
}

function wrap(inner: pino.Logger, onTaskFailure: (task: string) => void): Logger {
  const telling = (log: LogMethod) => (first: LogFields | string, message?: string) => {
    if (typeof first === 'string') return log(first)
    if (typeof first['task'] === 'string') onTaskFailure(first['task'])
    log(first, message ?? '')
  }
  return {
    debug: method(inner, 'debug'),
    info: method(inner, 'info'),
    warn: telling(method(inner, 'warn')),
    error: telling(method(inner, 'error')),
    child: (fields) => wrap(inner.child(objectOf(redactValue(fields))), onTaskFailure),
  }
}

function method(inner: pino.Logger, level: 'debug' | 'info' | 'warn' | 'error'): LogMethod {
  return (first: LogFields | string, message?: string) => {
    if (!inner.isLevelEnabled(level)) return
    if (typeof first === 'string') inner[level](withoutSecrets(first))
    else inner[level](objectOf(redactValue(first)), withoutSecrets(message ?? ''))
  }
}
