/** A real server over TLS that takes what log streams post, checks signatures by its own words, and misbehaves as told. */

import { createHmac } from 'node:crypto'
import { gunzipSync } from 'node:zlib'

import type { OutboundParts } from '../../../delivery/outbound/call.ts'
import { testCertificate } from '../../../fixtures/engines/certificate.ts'
import { TlsServer } from '../support/tls-server.ts'
import { heldOnce } from './bucket-consumer.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
/** What signs as a rule. */
export const KEYS = { secret: SECRET, previous: null, previousUntilMs: null }
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
  /** Larger batches are refused with 413. */
  mostBytes = Infinity
  /** Called when a batch has arrived and before it is answered. */
  onBatch: () => void = () => undefined
  /** Called when a message has arrived, before its signature and its answer are thought of. */
  onMessage: () => void = () => undefined
  readonly ids: string[] = []
  /** Bodies by message ID, as they came. */
  readonly bodies = new Map<string, string[]>()
  /** ID and bytes of every message, also of those that were not taken. */
  readonly messages: string[] = []
  records: ReceivedRecord[] = []
  verifications = 0
  /** Requests of any kind, answered or not. */
  asked = 0
  readonly faults: string[] = []
  readonly #server: TlsServer

  private constructor() {
    this.#server = new TlsServer(CERTIFICATE, (request, body, response) => {
      this.asked += 1
      this.#checkSignature(request.headers, body)
      this.messages.push(`${String(request.headers['webhook-id'])} ${body.toString('base64')}`)
      this.onMessage()
      const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body).toString() : body.toString()
      const answer = this.#take(String(request.headers['webhook-id']), text)
      if (answer === null) return
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  }

  static async open(): Promise<Receiver> {
    const receiver = new Receiver()
    await receiver.#server.listen()
    return receiver
  }

  /** What it proves itself with. */
  static get certPem(): string {
    return CERTIFICATE.certPem
  }

  get port(): number {
    return this.#server.port
  }

  outbound(more?: Partial<OutboundParts>): OutboundParts {
    return this.#server.outbound(more)
  }

  /** What a consumer holds that tells records by their IDs. */
  held(): readonly ReceivedRecord[] {
    return heldOnce(this.records)
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  #take(id: string, text: string): { status: number; headers: Record<string, string>; body: string } | null {
    const message = JSON.parse(text) as { type: string; challenge?: string; records?: ReceivedRecord[] }
    if (this.mood === 'hangs') return null
    if (this.mood === 'redirects') return { status: 307, headers: { location: '/elsewhere' }, body: '' }
    if (typeof this.mood === 'number') return { status: this.mood, headers: {}, body: 'refused on purpose' }
    if (text.length > this.mostBytes) return { status: 413, headers: {}, body: 'too large' }
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
    // One for each secret that is valid; a receiver needs to know one of them.
    if (!String(headers['webhook-signature']).split(' ').includes(wanted)) this.faults.push('signature')
  }
}
