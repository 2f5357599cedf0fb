/** An identity provider whose tokens tests forge claim by claim, as a hostile one, or one whose clock is off, would give them. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

import { freePort } from '../../../fixtures/engines/free-port.ts'

export interface Forgery {
  /** In place of what the ID token would say; undefined takes a claim away. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** By which the provider's clock is ahead. */
  readonly clockMs?: number
  /** `none`: no signature; `other`: one of another key. */
  readonly signature?: 'none' | 'other'
}

export interface ForgingProvider {
  readonly issuer: string
  forgery: Forgery
  /** What the browser would be sent back with from this address of the provider. */
  readonly authorize: (url: string) => string
  readonly stop: () => Promise<void>
}

const KEY_ID = 'one'
const TOKEN_S = 3_600

export async function startForgingProvider(clientId: string): Promise<ForgingProvider> {
  const [own, other] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2_048 }))
  if (own === undefined || other === undefined) throw new Error('there are no keys')
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const held: { forgery: Forgery; nonce: string | null } = { forgery: {}, nonce: null }
  const tokens = (): object => {
    const nowS = Math.floor((Date.now() + (held.forgery.clockMs ?? 0)) / 1_000)
    const claims = {
      iss: issuer,
      aud: clientId,
      sub: 'anna',
      iat: nowS,
      exp: nowS + TOKEN_S,
      nonce: held.nonce,
      email: 'anna@acme.dev',
      email_verified: true,
      ...held.forgery.claims,
    }
    const key = held.forgery.signature === 'other' ? other.privateKey : own.privateKey
    const idToken = held.forgery.signature === 'none' ? unsigned(claims) : signed(claims, key)
    return { access_token: 'a', token_type: 'Bearer', expires_in: TOKEN_S, id_token: idToken }
  }
  const answers: Readonly<Record<string, () => object>> = {
    '/.well-known/openid-configuration': () => metadataOf(issuer),
    '/jwks': () => ({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }] }),
    '/token': tokens,
  }
  const server = createServer((req, res) => respond(req, res, answers))
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  return {
    issuer,
    get forgery() {
      return held.forgery
    },
    set forgery(forgery) {
      held.forgery = forgery
    },
    authorize(text) {
      const { searchParams } = new URL(text)
      held.nonce = searchParams.get('nonce')
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.search = String(new URLSearchParams({ code: 'code', state: searchParams.get('state') ?? '', iss: issuer }))
      return back.href
    },
    stop: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

function respond(req: IncomingMessage, res: ServerResponse, answers: Readonly<Record<string, () => object>>): void {
  const answer = answers[req.url ?? '']
  const headers = { 'Content-Type': 'application/json' }
  req.resume().on('end', () => {
    if (answer === undefined) res.writeHead(404).end()
    else res.writeHead(200, headers).end(JSON.stringify(answer()))
  })
}

/** Without userinfo: all that is believed stands in the ID token. */
function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
  }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function signed(claims: object, key: KeyObject): string {
  const text = `${part({ alg: 'RS256', kid: KEY_ID, typ: 'JWT' })}.${part(claims)}`
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

function unsigned(claims: object): string {
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`
}
