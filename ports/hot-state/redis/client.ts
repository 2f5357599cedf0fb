/** Creates the client of one Redis, or of the primary that its Sentinels name: no unbounded waits, and nothing is sent twice. */

import { readFileSync } from 'node:fs'

import { Redis } from 'ioredis'

import type { RedisAddress, RedisTls } from './url.ts'

const CONNECT_TIMEOUT_MS = 1_000
/** For the commands that the client sends itself when it connects; verbs have a shorter deadline. */
const COMMAND_TIMEOUT_MS = 1_000
const RETRY_MS = { first: 50, most: 1_000 }

/**
 * Not connected yet. Without a connection, commands are refused, not queued. `deadlineMs` is the longest deadline of a
 * verb; the client's own time-out must not cut it short.
 */
export function redisClient(address: RedisAddress, deadlineMs: number): Redis {
  const commandTimeout = Math.max(COMMAND_TIMEOUT_MS, deadlineMs)
  const client = new Redis({ ...COMMON, commandTimeout, ...loginOptions(address), ...connectionOptions(address) })
  // Each failed attempt emits an event; the next probe shows the result that matters.
  client.on('error', () => undefined)
  return client
}

const COMMON = {
  lazyConnect: true,
  protocol: 2 as const,
  disableClientInfo: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_TIMEOUT_MS,
  retryStrategy: retryInMs,
  // A server that became a replica accepts no writes: reconnect to find the primary.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
}

function retryInMs(attempt: number): number {
  const longest = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** Math.min(attempt, 10))
  return Math.ceil(longest * (0.5 + Math.random() / 2))
}

function loginOptions({ username, password, database }: RedisAddress) {
  return { db: database, ...(username === null ? {} : { username }), ...(password === null ? {} : { password }) }
}

function connectionOptions({ hosts, tls, sentinel }: RedisAddress) {
  const [host] = hosts
  if (host === undefined) throw new TypeError('an address has a host')
  const secured = tls === null ? {} : { tls: redisTlsOptions(tls) }
  if (sentinel === null) return { ...host, ...secured }
  return {
    sentinels: [...hosts],
    name: sentinel.name,
    role: 'master' as const,
    failoverDetector: true,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    sentinelRetryStrategy: retryInMs,
    ...(sentinel.username === null ? {} : { sentinelUsername: sentinel.username }),
    ...(sentinel.password === null ? {} : { sentinelPassword: sentinel.password }),
    ...secured,
    ...(tls === null ? {} : { enableTLSForSentinelMode: true, sentinelTLS: redisTlsOptions(tls) }),
  }
}

function redisTlsOptions({ ca, cert, key, servername }: RedisTls) {
  return {
    ...(ca === null ? {} : { ca: readFileSync(ca) }),
    ...(cert === null ? {} : { cert: readFileSync(cert) }),
    ...(key === null ? {} : { key: readFileSync(key) }),
    ...(servername === null ? {} : { servername }),
  }
}
