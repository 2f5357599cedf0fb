/** A real server over TLS that takes events, verifies them with the package `standardwebhooks`, and misbehaves as told. */

import { Webhook } from 'standardwebhooks'

import type { WebhookPayload } from '../../../domain/webhooks/payloads.ts'
import type { OutboundParts } from '../../../delivery/outbound/call.ts'
import { testCertificate } from '../../../fixtures/engines/certificate.ts'
import { TlsServer } from '../support/tls-server.ts'

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
export const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const CERTIFICATE = testCertificate(['hooks.acme.dev', 'hooks.other.dev', 'hooks.slack.com'])

/** How it answers: taken, a status, a redirect, or not at all. */
export type Mood = 'takes' | 'hangs' | 'redirects' | number

export interface Received {
  readonly id: string
  readonly host: string
  readonly path: string
  readonly body: string
  readonly payload: WebhookPayload
  readonly signatures: number
  /** Of these secrets, which ones verify it. */
  readonly verifiedBy: readonly string[]
}

export class Receiver {
  /** By host; all others are taken. */
  readonly moods = new Map<string, Mood>()
  /** Everything that came, whatever was answered. */
  readonly received: Received[] = []
  /** Called with each before it is answered. */
  onReceived: (message: Received) => void = () => undefined
  answer = 'thanks'
  headers: Readonly<Record<string, string>> = {}
  readonly #server: TlsServer

  private constructor() {
    this.#server = new TlsServer(CERTIFICATE, (request, body, response) => {
      const { host = '' } = request.headers
      const message = receivedOf(request.headers, request.url ?? '', body.toString())
      this.received.push(message)
      this.onReceived(message)
      const mood = this.moods.get(host) ?? 'takes'
      if (mood === 'hangs') return
      if (mood === 'redirects') response.writeHead(307, { location: 'https://hooks.acme.dev/elsewhere' }).end()
      else response.writeHead(mood === 'takes' ? 204 : mood, this.headers).end(mood === 'takes' ? '' : this.answer)
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

  /** Connections that were opened. */
  get dialled(): number {
    return this.#server.dialled
  }

  outbound(more?: Partial<OutboundParts>): OutboundParts {
    return this.#server.outbound(more)
  }

  close(): Promise<void> {
    return this.#server.close()
  }
}

function receivedOf(headers: NodeJS.Dict<string | string[]>, path: string, body: string): Received {
  const text = (name: string): string => String(headers[name] ?? '')
  const named = {
    'webhook-id': text('webhook-id'),
    'webhook-timestamp': text('webhook-timestamp'),
    'webhook-signature': text('webhook-signature'),
  }
  return {
    id: named['webhook-id'],
    host: text('host'),
    path,
    body,
    payload: JSON.parse(body) as WebhookPayload,
    signatures: named['webhook-signature'].split(' ').length,
    verifiedBy: [SECRET, OTHER_SECRET].filter((secret) => isVerified(secret, body, named)),
  }
}

/** By the package's own check; it takes nothing that is five minutes old, so that tests with another clock compare its signature. */
function isVerified(secret: string, body: string, headers: Record<string, string>): boolean {
  const webhook = new Webhook(secret)
  const atMs = Number(headers['webhook-timestamp']) * 1_000
  if (Math.abs(Date.now() - atMs) > 290_000) {
    const wanted = webhook.sign(headers['webhook-id'] ?? '', new Date(atMs), body)
    return (headers['webhook-signature'] ?? '').split(' ').includes(wanted)
  }
  try {
    webhook.verify(body, headers)
    return true
  } catch {
    return false
  }
}
