/** The registry of a process, and the small server that lets Prometheus read it. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

export interface ListenAddress {
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
}

export interface MetricsServer {
  readonly port: number
  readonly close: () => Promise<void>
}

const MAX_HEADER_BYTES = 8 * 1024
const REQUEST_TIMEOUT_MS = 5_000
const MAX_CONNECTIONS = 64

/** A registry with Node's own metrics and one line that names the version. Parts register their metrics on it. */
export function createRegistry(program: string, version: string): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const info = new Gauge({
    name: 'whence_info',
    help: 'Always 1; program and version stand in the labels.',
    labelNames: ['program', 'version'],
    registers: [registry],
  })
  info.set({ program, version }, 1)
  return registry
}

/** Serves `GET /metrics`; everything else is 404. Rejects when the address is taken. */
export async function serveMetrics(registry: Registry, listen: ListenAddress): Promise<MetricsServer> {
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
  }
  const server = createServer(limits, (request, response) => {
    const isMetrics = request.url === '/metrics' && (request.method === 'GET' || request.method === 'HEAD')
    if (!isMetrics) {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('not found\n')
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(listen.port, listen.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
