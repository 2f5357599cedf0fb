/**
 * Parsers of single settings: from text to a value or a reason. Reasons complete "NAME …" and never repeat the text.
 */

import ipaddr from 'ipaddr.js'

import { isObject } from '../../domain/strict-json.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'
import { parseClickHouseUrl } from '../../ports/facts/engine/clickhouse-url.ts'
import { parseRedisUrl, RedisUrlError } from '../../ports/hot-state/redis/url.ts'
import { isBrand, isPlainBase, isPlainOrigin, unusable } from '../../domain/host.ts'
import { PLANS } from '../../domain/model.ts'
import { LOG_FORMATS, LOG_LEVELS } from '../logger.ts'
import type { LogFormat, LogLevel } from '../logger.ts'
import type { ListenAddress } from '../metrics.ts'

type ParsedSetting<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string }
export type SettingParser<T> = (text: string) => ParsedSetting<T>

/** The address of an engine; the scheme picks the adapter. */
export interface EngineUrl {
  /** Without its colon: `lmdb`, `chdb`, `kafka`, `redis`, `rediss`, `http`, `https`. */
  readonly scheme: string
  /** The whole text; may carry a password. */
  readonly url: string
  /** The part after the scheme: for `lmdb:` and `chdb:` the folder. */
  readonly location: string
}

const MAX_PORT = 65_535
const MAX_TEXT_CHARS = 4_096

/** Where the example website listens; without a port, on that of its Website in the manifests. */
export const parseExampleSite: SettingParser<{ readonly host: string; readonly port: number | null }> = (text) => {
  if (!/^[A-Za-z][A-Za-z0-9.-]*$|^\d+\.\d+\.\d+\.\d+$/.test(text)) return parseListen(text)
  return accepted({ host: text, port: null })
}

export const parseListen: SettingParser<ListenAddress> = (text) => {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)|\*?):(\d{1,5})$/.exec(text)
  if (match === null) return unusable('must be HOST:PORT, as in 127.0.0.1:8080 or [::1]:8080')
  const port = Number(match[3])
  if (port > MAX_PORT) return unusable(`has a port above ${MAX_PORT}`)
  return accepted({ host: match[1] ?? match[2] ?? '::', port })
}

/** An address to which paths are added: http or https, without user name, query and fragment; no slash at its end. */
export const parseBaseUrl: SettingParser<string> = (text) => {
  const url = plainHttpUrl(text)
  const base = url === null ? '' : url.origin + withoutSlashes(url.pathname)
  if (base === '') return unusable('must be an address such as https://whence.acme.dev')
  // It is used in shell scripts, URLs and pages.
  return isPlainBase(base)
    ? accepted(base)
    : unusable('must have a plain host, and a path of letters, digits and . _ ~ - % alone')
}

/** Only scheme, host and port: the provider's documented path is added. */
export const parseOriginUrl: SettingParser<string> = (text) => {
  const url = plainHttpUrl(text)
  if (url === null || url.pathname !== '/' || !isPlainOrigin(url.origin)) {
    return unusable('must be scheme, host and port alone, as in http://127.0.0.1:8090')
  }
  return accepted(url.origin)
}

/** A parser of engine URLs that accepts these schemes. */
export function parseEngineUrl(schemes: readonly string[]): SettingParser<EngineUrl> {
  return (text) => {
    const match = /^([a-z]+):(.+)$/.exec(text)
    const scheme = match?.[1] ?? ''
    const location = match?.[2] ?? ''
    if (!schemes.includes(scheme)) {
      return unusable(`must begin with ${schemes.map((name) => `${name}:`).join(' or ')}`)
    }
    const why = addressProblem(scheme, text)
    return why === null ? accepted({ scheme, url: text, location }) : unusable(why)
  }
}

/** The adapters' own parsers, so that an address that would fail at the start is reported with everything else. */
function addressProblem(scheme: string, text: string): string | null {
  if (scheme === 'lmdb' || scheme === 'chdb') return null
  if (!text.startsWith(`${scheme}://`)) return `must be an address such as ${scheme}://127.0.0.1`
  if (scheme === 'redis' || scheme === 'rediss') return redisProblem(text)
  const parsed = scheme === 'kafka' ? parseKafkaUrl(text) : parseClickHouseUrl(text)
  return parsed.ok ? null : parsed.why
}

function redisProblem(text: string): string | null {
  try {
    parseRedisUrl(text)
    return null
  } catch (error) {
    if (error instanceof RedisUrlError) return error.message
    throw error
  }
}

/** A folder or file; not checked here. */
export const parsePath: SettingParser<string> = (text) =>
  text.includes('\0') || text.length > MAX_TEXT_CHARS ? unusable('is not a path') : accepted(text)

/** Networks in CIDR notation or single addresses, separated by commas. */
export const parseNetworks: SettingParser<readonly string[]> = (text) => {
  const networks = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const wrong = networks.findIndex((network) => !ipaddr.isValidCIDR(network) && !isAddress(network))
  if (wrong >= 0) return unusable(`entry ${wrong + 1} is not a network, as in 10.0.0.0/8`)
  return accepted(networks)
}

/** Used in URLs and, in capitals, in names of shell variables. */
export const parseBrand: SettingParser<string> = (text) =>
  isBrand(text)
    ? accepted(text)
    : unusable('must be lower-case words joined by single hyphens, begins with a letter and has at most 31 characters')

export const parseLogLevel: SettingParser<LogLevel> = parseChoice(LOG_LEVELS)

export const parseLogFormat: SettingParser<LogFormat> = parseChoice(LOG_FORMATS)

/** Prices as `/api/limits` shows them: a JSON object with the plans' names as keys. */
export const parsePrices: SettingParser<Readonly<Record<string, unknown>>> = (text) => {
  const hint = `must be a JSON object with keys among ${PLANS.join(', ')}`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unusable(hint)
  }
  if (!isObject(value)) return unusable(hint)
  const plans: readonly string[] = PLANS
  if (!Object.keys(value).every((key) => plans.includes(key))) return unusable(hint)
  return accepted(value)
}

export const parseSecret: SettingParser<string> = (text) =>
  text.length > MAX_TEXT_CHARS ? unusable(`has more than ${MAX_TEXT_CHARS} characters`) : accepted(text)

/** A whole number from `min` to `max`. */
export function parseCount({ min, max }: { readonly min: number; readonly max: number }): SettingParser<number> {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return count >= min && count <= max ? accepted(count) : unusable(`must be a whole number from ${min} to ${max}`)
  }
}

/** One of these words. */
export function parseChoice<T extends string>(choices: readonly T[]): SettingParser<T> {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text)
    return choice === undefined ? unusable(`must be one of ${choices.join(', ')}`) : accepted(choice)
  }
}

/** A URL with its user name and password masked, and nothing else changed. */
export function maskUrl(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/@]*@/, '$1***@')
}

function plainHttpUrl(text: string): URL | null {
  if (!/^https?:\/\/[^\s@?#\\]+$/i.test(text) || !URL.canParse(text)) return null
  return new URL(text)
}

/** Not by a pattern, which takes the square of the number of slashes. */
function withoutSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

function isAddress(text: string): boolean {
  return ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text)
}

function accepted<T>(value: T): ParsedSetting<T> {
  return { ok: true, value }
}
