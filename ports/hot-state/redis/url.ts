/**
 * Reads the address of a Redis: one server, or the Sentinels that know its address.
 *
 * `redis://user:password@host:6379/0`, `rediss://…` for TLS. With `?sentinel=NAME` the hosts (several, separated by
 * commas) are Sentinels and NAME is the primary they watch. Further parameters: `sentinel-user`, `sentinel-password`;
 * with TLS `ca`, `cert` and `key` (paths of PEM files) and `servername`.
 */

interface RedisHost {
  readonly host: string
  readonly port: number
}

/** Paths of PEM files, not their contents. */
export interface RedisTls {
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  readonly servername: string | null
}

export interface RedisAddress {
  /** Exactly one without Sentinel. */
  readonly hosts: readonly RedisHost[]
  readonly username: string | null
  readonly password: string | null
  readonly database: number
  readonly tls: RedisTls | null
  readonly sentinel: {
    readonly name: string
    readonly username: string | null
    readonly password: string | null
  } | null
}

/** The text is not a Redis address. The message says why and never repeats the text, which may hold a password. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError'
}

const SHAPE = /^(rediss?):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/
const HOST = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/
const PORTS = { server: 6_379, sentinel: 26_379 }
const MAX_PORT = 65_535
const MAX_DATABASE = 65_535
const SENTINEL_PARAMETERS = ['sentinel', 'sentinel-user', 'sentinel-password']
const TLS_PARAMETERS = ['ca', 'cert', 'key', 'servername']

/** @throws RedisUrlError */
export function parseRedisUrl(text: string): RedisAddress {
  const match = SHAPE.exec(text)
  if (match === null) throw new RedisUrlError('must look like redis://user:password@host:6379/0')
  const [, scheme, credentials = '', hostList = '', path = '', query = ''] = match
  const parameters = parseQuery(query, scheme === 'rediss')
  const name = parameters.get('sentinel') ?? null
  const hosts = hostList.split(',').map((host) => parseHost(host, name === null ? PORTS.server : PORTS.sentinel))
  if (name === null && hosts.length > 1) throw new RedisUrlError('names several hosts, which needs ?sentinel=NAME')
  return {
    hosts,
    ...parseCredentials(credentials),
    database: parseDatabase(path),
    tls: scheme === 'rediss' ? redisTlsOf(parameters) : null,
    sentinel: name === null ? null : { name, ...sentinelCredentials(parameters) },
  }
}

function parseQuery(query: string, isTls: boolean): ReadonlyMap<string, string> {
  const known = isTls ? [...SENTINEL_PARAMETERS, ...TLS_PARAMETERS] : SENTINEL_PARAMETERS
  const parameters = new Map<string, string>()
  for (const part of query.split('&').filter((text) => text !== '')) {
    const [name = '', ...rest] = part.split('=')
    const value = decode(rest.join('='))
    if (!known.includes(name)) throw new RedisUrlError(`has a parameter that is not one of ${known.join(', ')}`)
    if (value === '' || parameters.has(name)) throw new RedisUrlError(`gives ${name} no value, or twice`)
    parameters.set(name, value)
  }
  if (!parameters.has('sentinel') && [...parameters.keys()].some((name) => SENTINEL_PARAMETERS.includes(name))) {
    throw new RedisUrlError('has credentials for Sentinel without ?sentinel=NAME')
  }
  if (parameters.has('cert') !== parameters.has('key')) throw new RedisUrlError('gives one of cert and key alone')
  return parameters
}

function parseHost(text: string, fallbackPort: number): RedisHost {
  const match = HOST.exec(text)
  if (match === null) throw new RedisUrlError('has a host that is not HOST or HOST:PORT')
  const port = match[3] === undefined ? fallbackPort : Number(match[3])
  if (port === 0 || port > MAX_PORT) throw new RedisUrlError(`has a port that is not from 1 to ${MAX_PORT}`)
  return { host: match[1] ?? match[2] ?? '', port }
}

/** `user:password`, or `:password` for the default user. */
function parseCredentials(text: string): { username: string | null; password: string | null } {
  if (text === '') return { username: null, password: null }
  const colon = text.indexOf(':')
  if (colon < 0) throw new RedisUrlError('names a user without a password')
  const username = decode(text.slice(0, colon))
  const password = decode(text.slice(colon + 1))
  if (password === '') throw new RedisUrlError('has an empty password')
  return { username: username === '' ? null : username, password }
}

function parseDatabase(path: string): number {
  if (path === '') return 0
  const database = /^\d{1,5}$/.test(path) ? Number(path) : Number.NaN
  if (!(database <= MAX_DATABASE)) throw new RedisUrlError('has a path that is not the number of a database')
  return database
}

function redisTlsOf(parameters: ReadonlyMap<string, string>): RedisTls {
  const value = (name: string): string | null => parameters.get(name) ?? null
  return { ca: value('ca'), cert: value('cert'), key: value('key'), servername: value('servername') }
}

function sentinelCredentials(parameters: ReadonlyMap<string, string>): {
  username: string | null
  password: string | null
} {
  return { username: parameters.get('sentinel-user') ?? null, password: parameters.get('sentinel-password') ?? null }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RedisUrlError('has a % that begins no escape')
  }
}
