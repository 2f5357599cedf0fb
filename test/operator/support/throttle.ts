/** A server in front of the API server that, while there is a storm, answers everything with 429 and Retry-After. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'

import { testCertificate } from '../../../fixtures/engines/certificate.ts'
import type { KubeServer } from '../../../fixtures/engines/kube.ts'

export interface Throttle {
  readonly port: number
  /** Requests that were refused so far. */
  readonly refused: () => number
  /** True: from now on everything is refused; running requests continue. */
  readonly storm: (isStorm: boolean) => void
  readonly close: () => Promise<void>
}

const RETRY_AFTER_S = 1
const REFUSAL = JSON.stringify({ kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'too many requests' })

/** `caFile` is written: what clients check its certificate against. */
export async function openThrottle(kube: KubeServer, caFile: string): Promise<Throttle> {
  const { certPem: cert, keyPem: key } = testCertificate([], ['127.0.0.1'])
  await writeFile(caFile, cert)
  const ca = readFileSync(kube.caFile)
  let isStorm = false
  let refused = 0
  const forward = (asked: IncomingMessage, answer: ServerResponse): void => {
    const { method, url, headers } = asked
    const sent = request(`${kube.url}${url ?? ''}`, { method, headers, ca, agent: false })
    sent.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      answer.flushHeaders()
      response.pipe(answer)
      response.on('error', () => answer.destroy())
    })
    sent.on('error', () => answer.destroy())
    answer.on('close', () => sent.destroy())
    asked.on('error', () => sent.destroy())
    asked.pipe(sent)
  }
  const server = createServer({ cert, key }, (asked, answer) => {
    if (!isStorm) {
      forward(asked, answer)
      return
    }
    refused += 1
    answer.writeHead(429, { 'retry-after': String(RETRY_AFTER_S), 'content-type': 'application/json' }).end(REFUSAL)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    refused: () => refused,
    storm: (wanted) => {
      isStorm = wanted
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
