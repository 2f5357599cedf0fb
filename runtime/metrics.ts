/** The metrics registry of a process, and the small server that Prometheus reads. */

import { createServer } from 'node:http'

import { limitConnections, portOf, type ConnectionTimes, type PeerShare } from './connections.ts'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'

import type { Logger } from './logger.ts'

/** How a part tells operators what it does. */
export interface Telemetry {
  readonly logger: Logger
  /** Absent: nothing is counted. */
  readonly registry?: Registry | undefined
}

export interface ListenAddress {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
}

interface StatusParts {
  /** True by default. */
  readonly isReady?: () => boolean
  /** State of the process and its parts; may name objects of the configuration, never secrets. */
  readonly status?: () => object
  /** The peer that a connection counts for; its whole address by default. */
  readonly peerOf?: PeerShare['peerOf']
  /** Other times than those here; set by tests. */
  readonly connectionTimes?: Partial<ConnectionTimes>
}

export interface MetricsServer {
  readonly port: number
  readonly close: () => Promise<void>
}

const MAX_HEADER_BYTES = 8 * 1024
const REQUEST_TIMEOUT_MS = 5_000
const MOST_CONNECTIONS = 256
/** Prometheus and the kubelet need a few each; other clients must not get in their way. */
const MOST_OF_ONE_PEER = 32
const CONNECTION_TIMES = {
  firstRequestMs: REQUEST_TIMEOUT_MS + 1_000,
  idleMs: 65_000,
  idleInCrowdMs: 5_000,
  writeMs: 10_000,
} as const

/** A registry with Node's own metrics and one series that names the version. Parts register their metrics on it. */
export function createRegistry(program: string, version: string): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const info = new Gauge({
    name: 'whence_info',
    help: 'Always 1; the labels hold program and version.',
    labelNames: ['program', 'version'],
    registers: [registry],
  })
  info.set({ program, version }, 1)
  return registry
}

/** Counts rounds of work in the background that failed, by task. */
export function taskFailures(registry: Registry): (task: string) => void {
  const failures = new Counter({
    name: 'whence_task_failures_total',
    help: 'Rounds of work in the background that failed and are tried again.',
    labelNames: ['task'],
    registers: [registry],
  })
  return (task) => failures.inc({ task })
}

/**
 * Serves `GET /metrics`; `/live`, always 200 if the process answers at all; `/ready`, 200 or 503 by `isReady`; and
 * `/status`, JSON for people. Everything else is 404. Rejects if the address is in use.
 */
export async function serveMetrics(
  registry: Registry,
  listen: ListenAddress,
  {
    isReady = () => true,
    status = () => ({}),
    peerOf = (address) => address ?? null,
    connectionTimes,
  }: StatusParts = {},
): Promise<MetricsServer> {
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
  }
  const server = createServer(limits, (request, response) => {
    const path = request.method === 'GET' || request.method === 'HEAD' ? request.url : null
    if (path === '/live' || path === '/ready') {
      const isWell = path === '/live' || isReady()
      response
        .writeHead(isWell ? 200 : 503, { 'content-type': 'text/plain; charset=utf-8' })
        .end(isWell ? 'yes\n' : 'no\n')
      return
    }
    if (path === '/status') {
      const text = `${JSON.stringify(status(), null, 2)}\n`
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(text)
      return
    }
    if (path !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('not found\n')
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  const peers = { most: MOST_OF_ONE_PEER, peerOf }
  const times = { ...CONNECTION_TIMES, ...connectionTimes }
  limitConnections(server, { max: MOST_CONNECTIONS, peers, times })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: portOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
