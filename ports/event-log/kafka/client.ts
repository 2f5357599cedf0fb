/** Makes kafkajs clients for this service: no logging, no Nagle delay, bounded waits. */

import { readFileSync } from 'node:fs'
import net from 'node:net'
import tls from 'node:tls'

import type { ISocketFactory, Kafka, KafkaConfig, KafkaMessage } from 'kafkajs'
import kafkajs from 'kafkajs'

import type { StoredEntry } from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import { likeliestFirst } from './brokers.ts'
import { mendKafkajs } from './patches.ts'
import type { KafkaSasl, KafkaSettings, KafkaTls } from './url.ts'

const KEEP_ALIVE_MS = 60_000
const CONNECT_MS = 1_000
const AUTHENTICATE_MS = 5_000

/** Time-out of consumers' and admin requests, in ms; fetches, joins and new topics have longer ones. */
export const QUESTION_MS = 5_000

interface KafkaClientOptions {
  /** How long one request may take before it counts as lost, in ms. */
  readonly requestMs: number
}

/** Clients share no connections. Throws if a TLS file cannot be read. */
export function kafkaClient(settings: KafkaSettings, { requestMs }: KafkaClientOptions): Kafka {
  mendKafkajs()
  const config: KafkaConfig = {
    clientId: 'whence',
    brokers: () => likeliestFirst(settings.brokers),
    connectionTimeout: CONNECT_MS,
    authenticationTimeout: AUTHENTICATE_MS,
    requestTimeout: requestMs,
    logLevel: kafkajs.logLevel.NOTHING,
    socketFactory,
    // This service retries by itself, because it knows who still waits.
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
  }
  if (settings.sasl !== null) config.sasl = saslOptions(settings.sasl)
  if (settings.tls !== null) config.ssl = kafkaTlsOptions(settings.tls)
  return new kafkajs.Kafka(config)
}

/** Errors of the client library never leave this adapter. */
export function logUnavailable(message: string, error: unknown): LogUnavailable {
  if (error instanceof LogUnavailable) return error
  const why = error instanceof Error ? error.message : String(error)
  return new LogUnavailable(`${message}: ${why}`, { cause: error })
}

export function storedEntry({ offset, key, value, timestamp }: KafkaMessage): StoredEntry {
  return {
    key: key?.toString() ?? '',
    value: value?.toString() ?? '',
    offset: Number(offset),
    appendedAtMs: Number(timestamp),
  }
}

const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const name = net.isIP(bare) === 0 ? { servername: bare } : {}
  const socket = hasTls(ssl)
    ? tls.connect({ host: bare, port, ...name, ...ssl }, onConnect)
    : net.connect({ host: bare, port }, onConnect)
  // kafkajs leaves Nagle's algorithm on, which doubles the slowest answers at many connections.
  socket.setNoDelay(true)
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  // If a broker hangs, kafkajs ends one socket many times and adds a listener each time.
  socket.setMaxListeners(0)
  return socket
}

/** The declared type says that it is always present, but kafkajs passes null without TLS. */
function hasTls(ssl: tls.ConnectionOptions | null | undefined): ssl is tls.ConnectionOptions {
  return ssl !== null && ssl !== undefined
}

function saslOptions({ mechanism, username, password }: KafkaSasl): NonNullable<KafkaConfig['sasl']> {
  if (mechanism === 'plain') return { mechanism, username, password }
  if (mechanism === 'scram-sha-256') return { mechanism, username, password }
  return { mechanism, username, password }
}

function kafkaTlsOptions({ caFile, certFile, keyFile }: KafkaTls): tls.ConnectionOptions {
  const options: tls.ConnectionOptions = { rejectUnauthorized: true }
  if (caFile !== null) options.ca = [readFileSync(caFile)]
  if (certFile !== null) options.cert = readFileSync(certFile)
  if (keyFile !== null) options.key = readFileSync(keyFile)
  return options
}
