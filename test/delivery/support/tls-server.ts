/** A server over TLS on a free loopback port, and a network in which every name leads to it. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { connect, type AddressInfo } from 'node:net'

import type { OutboundParts } from '../../../delivery/outbound/call.ts'
import type { TestCertificate } from '../../../fixtures/engines/certificate.ts'

const PUBLIC_ADDRESS = '93.184.215.14'

export class TlsServer {
  /** Connections that were opened through `outbound`. */
  dialled = 0
  readonly #certificate: TestCertificate
  readonly #server: Server

  /** Gives each request to `take` with its whole body; `take` answers it, or never. */
  constructor(
    certificate: TestCertificate,
    take: (request: IncomingMessage, body: Buffer, response: ServerResponse) => void,
  ) {
    this.#certificate = certificate
    this.#server = createServer({ key: certificate.keyPem, cert: certificate.certPem }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => take(request, Buffer.concat(chunks), response))
    })
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The guard as it is, and a network in which all names lead here. */
  outbound(more: Partial<OutboundParts> = {}): OutboundParts {
    return {
      trustedPem: this.#certificate.certPem,
      resolve: async () => [PUBLIC_ADDRESS],
      dial: () => {
        this.dialled += 1
        return Object.defineProperty(connect(this.port, '127.0.0.1'), 'remoteAddress', { value: PUBLIC_ADDRESS })
      },
      ...more,
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
