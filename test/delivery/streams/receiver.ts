/** A real server over TLS that takes what log streams post, checks signatures by its own words, and misbehaves as told. */

import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

import type { OutboundParts } from '../../../delivery/outbound/call.ts'
import { testCertificate } from '../../../fixtures/engines/certificate.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const URL_OF_RECEIVER = 'https://hooks.acme.dev/logs'
const CERTIFICATE = testCertificate(['hooks.acme.dev'])

export interface ReceivedRecord {
  readonly id: string
  readonly type?: string
  readonly [field: string]: unknown
}

/** How it answers the next request: taken, a status, a redirect, not at all, or nothing that it was asked. */
export type Mood = 'takes' | 'hangs' | 'redirects' | 'does not return the challenge' | number

export class Receiver {
  mood: Mood = 'takes'
  /** Called when a batch has arrived and before it is answered. */
  onBatch: () => void = () => undefined
  readonly ids: string[] = []
  /** Bodies by message ID, as they came. */
  readonly bodies = new Map<string, string[]>()
  records: ReceivedRecord[] = []
  verifications = 0
  readonly faults: string[] = []
  readonly #server: Server
  #port = 0

  private constructor() {
    this.#server = createServer({ key: CERTIFICATE.keyPem, cert: CERTIFICATE.certPem }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks)
        this.#checkSignature(request.headers, body)
        const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body).toString() : body.toString()
        const answer = this.#take(String(request.headers['webhook-id']), text)
        if (answer === null) return
        response.writeHead(answer.status, answer.headers).end(answer.body)
      })
    })
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    receiver.#port = (receiver.#server.address() as AddressInfo).port
    return receiver
  }

  /** The guard as it is, and a network in which its name leads here. */
  outbound(more: Partial<OutboundParts> = {}): OutboundParts {
    return {
      trustedPem: CERTIFICATE.certPem,
      resolve: async () => ['93.184.215.14'],
      dial: () => Object.defineProperty(connect(this.#port, '127.0.0.1'), 'remoteAddress', { value: '93.184.215.14' }),
      ...more,
    }
  }

  /** What a consumer holds that tells records by their IDs. */
  held(): readonly ReceivedRecord[] {
    const seen = new Set<string>()
    return this.records.filter(({ id }) => !seen.has(id) && seen.add(id) !== undefined)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #take(id: string, text: string): { status: number; headers: Record<string, string>; body: string } | null {
    const message = JSON.parse(text) as { type: string; challenge?: string; records?: ReceivedRecord[] }
    if (this.mood === 'hangs') return null
    if (this.mood === 'redirects') return { status: 307, headers: { location: '/elsewhere' }, body: '' }
    if (typeof this.mood === 'number') return { status: this.mood, headers: {}, body: 'refused on purpose' }
    if (message.type === 'verify') {
      this.verifications += 1
      const isReturned = this.mood !== 'does not return the challenge'
      return { status: 200, headers: {}, body: JSON.stringify({ challenge: isReturned ? message.challenge : 'x' }) }
    }
    this.ids.push(id)
    this.bodies.set(id, [...(this.bodies.get(id) ?? []), text])
    this.records.push(...(message.records ?? []))
    this.onBatch()
    return { status: 204, headers: {}, body: '' }
  }

  #checkSignature(headers: NodeJS.Dict<string | string[]>, body: Buffer): void {
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
    const signed = Buffer.concat([
      Buffer.from(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`),
      body,
    ])
    const wanted = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
    if (headers['webhook-signature'] !== wanted) this.faults.push('signature')
  }
}
